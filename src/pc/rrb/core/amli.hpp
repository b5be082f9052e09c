// AMLI's step at one coarse grid (docs/numerics.md): in place of the V-cycle B from there on, p(B S) B with a polynomial
// p of degree 1 and S the grid's matrix. The order of its calls is in cycle.hpp.
#pragma once

#include "pc/rrb/core/amli_polynomial.hpp"
#include "pc/rrb/core/grid_product.hpp"

namespace petscrrb::rrb {

// The right-hand side of the second V-cycle, c0 r - c1 S B r, in place of r, which is kept for the energy.
template <class V> struct SecondRightHandSide {
  Quad<V> r;
  Quad<Dense> kept;
  const double *c0, *c1;

  PETSCRRB_HD double load(Class c, index_t h, index_t k) const { return r[c](h, k); }
  PETSCRRB_HD void store(Class c, index_t h, index_t k, double before, double product) const {
    kept[c].at(h, k) = before;
    r[c].at(h, k) = *c0 * before - *c1 * product;
  }
};

template <class U, class V> struct TimesNode {
  U u;
  V v;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return u(h, k) * v(h, k); }
};

template <class From, class To> struct CopyNode {
  From from;
  To to;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { to.at(a, b) = from(a, b); }
};
template <class From, class To> CopyNode(From, To) -> CopyNode<From, To>;

// f(class, a, b) at each of the four nodes of a slot (h, k) that is one of x; the class is a constant.
template <Class c, class F> PETSCRRB_HD inline void at_node(const Extent &x, index_t h, index_t k, const F &f) {
  const index_t a = 2 * h + parity_x(c), b = 2 * k + parity_y(c);
  if (a >= x.x.lo && a < x.x.hi && b >= x.y.lo && b < x.y.hi) f(std::integral_constant<Class, c>(), a, b);
}
template <class F> PETSCRRB_HD inline void at_slot(const Extent &x, index_t h, index_t k, const F &f) {
  at_node<b2>(x, h, k, f), at_node<r1>(x, h, k, f), at_node<r2>(x, h, k, f), at_node<b1>(x, h, k, f);
}
template <class From, class To> struct CopyAtSlot {
  From from;
  To to;
  Extent x;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    at_slot(x, h, k, [&](Class, index_t a, index_t b) { to.at(a, b) = from(a, b); });
  }
};
template <class V> struct CopyMatrixAtSlot {
  StencilOut<V> from;
  StencilOut<Split> to;
  Extent x;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    at_slot(x, h, k, [&](Class, index_t a, index_t b) {
      to.X.at(a, b) = from.X(a, b), to.E.at(a, b) = from.E(a, b), to.N.at(a, b) = from.N(a, b);
      to.NE.at(a, b) = from.NE(a, b), to.NW.at(a, b) = from.NW(a, b);
    });
  }
};
template <class V> struct TimesAtSlot {
  Quad<Dense> y;
  Quad<V> z;
  Extent x;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    double sum = 0.0;
    at_slot(x, h, k, [&](Class c, index_t, index_t) { sum += y[c](h, k) * z[c](h, k); });
    return sum;
  }
};

PETSCRRB_HD inline double hashed(index_t a, index_t b) {
  unsigned hash = unsigned(a) * 2654435761u ^ unsigned(b) * 2246822519u;
  hash = (hash ^ hash >> 15) * 3266489917u;
  return (hash >> 8) * 0x1p-23 - 1.0;
}

// x = u d^-1/2, d the diagonal, u in [-1, 1) by a hash of the node: every part of the matrix gets the same share of
// energy, however far its coefficients jump. Signs alone do not do: what B lacks may be one coupling, and x the same at
// both its ends. 0 at nodes without couplings, where B is exact.
struct StartVector {
  StencilQuads<Quad<Dense>> s;
  Quad<Dense> to;
  Extent x;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    at_slot(x, h, k, [&](auto at, index_t a, index_t b) {
      constexpr Class c = decltype(at)::value;
      const double weights = near<c, 0, 0>(s.E, h, k) + near<c, -1, 0>(s.E, h, k) + near<c, 0, 0>(s.N, h, k) +
                             near<c, 0, -1>(s.N, h, k) + near<c, 0, 0>(s.NE, h, k) + near<c, -1, -1>(s.NE, h, k) +
                             near<c, 0, 0>(s.NW, h, k) + near<c, 1, -1>(s.NW, h, k);
      const double d = weights > 0.0 ? s.X[c](h, k) + weights : 0.0, size = d > 0.0 ? 1.0 / std::sqrt(d) : 0.0;
      to[c].at(h, k) = hashed(a, b) * size;
    });
  }
};

// Like the sums it goes over all four classes, whose arrays are zero where a class has no node.
struct TimesNodes {
  Quad<Dense> u, v;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    return (u[r1](h, k) * v[r1](h, k) + u[r2](h, k) * v[r2](h, k)) +
           (u[b1](h, k) * v[b1](h, k) + u[b2](h, k) * v[b2](h, k));
  }
};

// q = s + beta q, r -= alpha q, s = S z
struct NextResidual {
  Quad<Dense> s, q, r;
  EstimateStep step;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    for (Class c : {r1, r2, b1, b2}) {
      const double value = step.next(s[c](h, k), q[c](h, k));
      q[c].at(h, k) = value;
      r[c].at(h, k) -= step.alpha() * value;
    }
  }
};

// What came of AMLI at the last refresh.
struct AmliReport {
  index_t nx = 0, ny = 0; // the grid of its step; 0: there is none
  double lambda_max = 0;  // what the polynomial is made for
  bool used = false;
};

// One rank: what is around is around a ring, and sums are complete. (Several: BordersOnRanks.)
template <class Backend> struct RingBorders {
  Extent x;

  void fill(const Backend &on, const Quad<Dense> &v) const { fill_ring_borders(on, x, {v}); }
  void add_up(const Backend &, const Scalars<Backend> &, std::size_t) const {}
};

// The grid's matrix before its elimination, which overwrites it and lumps what crosses odd seams, and a few vectors: all
// in the layout of r1/r2/b1/b2 storage, with what is around the box in the borders.
template <class Backend, class Borders = RingBorders<Backend>> class Amli {
public:
  const Borders &borders() const { return borders_; }

  // r, z: right-hand side and solution in the hierarchy
  Amli(const Extent &x, const DenseLayout &layout, const Quad<Dense> &r, const Quad<Dense> &z)
      : Amli(x, layout, {x}, 7) {
    r_ = r, z_ = z;
  }
  // The hierarchy works in place: both are here, to be copied.
  Amli(const Extent &x, const DenseLayout &layout) : Amli(x, layout, Borders{x}) {}
  Amli(const Extent &x, const DenseLayout &layout, Borders borders) : Amli(x, layout, std::move(borders), 9) {
    r_ = array(7), z_ = array(8);
  }

  const Quad<Dense> &right_hand_side() const { return r_; }
  const Quad<Dense> &solution() const { return z_; }

  template <class V> void keep_matrix(const Backend &on, const StencilOut<V> &from) const {
    const auto to = matrix();
    on.for_each(box_, CopyMatrixAtSlot<V>{from, {{to.X}, {to.E}, {to.N}, {to.NE}, {to.NW}}, x_});
    fill_ring_borders(on, x_, {to.X, to.E, to.N, to.NE, to.NW});
  }
  double *matrix_place() const { return memory_.data(); } // for who has its borders, too: X, E, N, NE, NW
  // by the coordinates of its nodes
  template <class V, class W> void copy(const Backend &on, const V &from, const W &to) const {
    on.for_each(box_, CopyAtSlot<V, W>{from, to, x_});
  }

  // The polynomial: z = B r is there; then r is what B is applied to for the result.
  void second_right_hand_side(const Backend &on) const {
    borders_.fill(on, z_);
    second_right_hand_side(on, z_, r_);
  }
  // z: with what is around
  template <class Z, class V> void second_right_hand_side(const Backend &on, const Quad<Z> &z, const Quad<V> &r) const {
    product_(on, x_, layout_, matrix(), z, SecondRightHandSide<V>{r, kept(), polynomial_.c0(), polynomial_.c1()});
  }
  // The right-hand side of the step, until the next one.
  Quad<Dense> kept() const { return array(q); }
  // Its product with the solution z.
  template <class V> void add_energy(const Backend &on, const Quad<V> &z, PartialSum<Backend> &energy) const {
    energy.add(on, box_, TimesAtSlot<V>{kept(), z, x_});
  }
  index_t energy_parts() const { return PartialSum<Backend>::parts(box_); }

  // Conjugate gradients for S x = r = S x_0, of which only the Lanczos matrix is wanted. The right-hand side is
  // consistent by construction where S is singular.
  void start_estimate(const Backend &on) const {
    on.for_each(box_, StartVector{matrix(), array(q), x_}); // which the first step writes over, what is around, too
    multiply(on, array(q), StoreProduct{r_});
  }
  // z = B r is there.
  void step(const Backend &on, int j) const {
    multiply(on, z_, StoreProduct{array(s)});
    const auto add_up = [&](int i) { borders_.add_up(on, polynomial_.scalars(), i); };
    const EstimateStep step = polynomial_.step(on, j, box_, TimesNodes{r_, z_}, TimesNodes{z_, array(s)}, add_up);
    on.for_each(box_, NextResidual{array(s), array(q), r_, step});
  }
  bool finish_estimate(const Backend &on, int steps) { return polynomial_.finish(on, steps); }

  AmliReport report() const {
    return {x_.x.hi - x_.x.lo, x_.y.hi - x_.y.lo, polynomial_.lambda_max(), polynomial_.used()};
  }
  std::size_t bytes() const { return memory_.bytes() + polynomial_.bytes(); }

private:
  Amli(const Extent &x, const DenseLayout &layout, Borders borders, int arrays)
      : x_(x), layout_(layout),
        borders_(std::move(borders)), box_{layout.h0, layout.h0 + layout.columns, layout.k0, layout.k0 + layout.rows},
        memory_(layout.size() * 4 * arrays), polynomial_(layout.rows) {}

  static constexpr int s = 5, q = 6; // arrays of the grid; the first five are the matrix

  Quad<Dense> array(int i) const {
    const auto view = [&](Class c) { return layout_.view(memory_.data() + (4 * i + c) * layout_.size()); };
    return {{view(r1), view(r2), view(b1), view(b2)}};
  }
  StencilQuads<Quad<Dense>> matrix() const { return {array(0), array(1), array(2), array(3), array(4)}; }

  template <class Then> void multiply(const Backend &on, const Quad<Dense> &x, const Then &then) const {
    borders_.fill(on, x);
    product_(on, x_, layout_, matrix(), x, then);
  }

  Extent x_;
  DenseLayout layout_;
  Borders borders_;
  Range2 box_; // h and k of all classes
  typename Backend::template Array<double> memory_;
  ProductLoop<Backend> product_;
  AmliPolynomial<Backend> polynomial_;
  Quad<Dense> r_, z_;
};

} // namespace petscrrb::rrb
