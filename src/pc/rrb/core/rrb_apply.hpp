// The application z = M^-1 r and its two halves: the sweeps of all levels in order.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

// At every node of a class of a grid in natural order: op(Inner{}) where all neighbours exist, op(Edge{}) on the rim.
template <class Backend, class Op> void at_nodes(const Backend &on, Class c, const Extent &x, const Op &op) {
  on.for_each(x.nodes_of(c), x.interior_of(c, 1), op(Inner{}), op(Edge{}));
}

template <class Backend, class Int, class T> NextGrid Rrb<Backend, Int, T>::right_hand_side(int g) const {
  if (g < options_.storage_grids) return {dense_[g].right_hand_side(), {}, true, dense_[g].extent};
  return {{}, tail_.above(tail_.vector()), false, tail_.base()};
}

template <class Backend, class Int, class T> NextGrid Rrb<Backend, Int, T>::solution(int g) const {
  if (g < options_.storage_grids) return {dense_[g].solution(), {}, true, dense_[g].extent};
  return {{}, tail_.above(in_place() ? coarse_z_.data() : tail_.vector()), false, tail_.base()};
}

template <class Backend, class Int, class T> BlackLevel Rrb<Backend, Int, T>::black_level() const {
  const DenseGrid<Backend, T> &d = dense_.front();
  BlackLevel level{d.extent, d.layout(), nullptr, nullptr, right_hand_side(1), solution(1)};
  if constexpr (std::is_same_v<T, float>)
    level.in_single = &d.factor;
  else
    level.in_double = &d.factor;
  return level;
}

// What of the finest grid's vectors a part of the application uses: V stands at its outer ends.
template <class Backend, class Int, class T>
NaturalVectors Rrb<Backend, Int, T>::natural(const double *r, double *z, Part part) const {
  return {r, z, part != Part::right ? v_ : nullptr, part != Part::left ? v_ : nullptr};
}

// From r (first grid) or the grid's own vector: b1 after the sweep, b2 to the next grid.
template <class Backend, class Int, class T>
void Rrb<Backend, Int, T>::forward_dense(int g, const double *r, Part part) {
  const NaturalVectors vectors = g == 0 ? natural(r, nullptr, part) : NaturalVectors{};
  choose(part != Part::right, [&](auto coupled) {
    sweeps_.template forward<decltype(coupled)::value>(on_, dense_[g], right_hand_side(g + 1), vectors);
  });
}

// From the next grid's solution and what the forward sweep left: z (first grid) or the grid's own vector.
template <class Backend, class Int, class T>
void Rrb<Backend, Int, T>::backward_dense(int g, const double *r, double *z, Part part) {
  const NaturalVectors vectors = g == 0 ? natural(r, z, part) : NaturalVectors{};
  const Scaling scaling = part == Part::whole ? Scaling::full : Scaling::root;
  choose(part != Part::left, [&](auto coupled) {
    sweeps_.template backward<decltype(coupled)::value>(on_, dense_[g], solution(g + 1), vectors, scaling);
  });
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::forward_tail(int q, double *x) {
  const auto f = tail_.factor(q);
  const auto in = tail_.field(x, q);
  const auto out = in.get(Inner{});
  at_nodes(on_, b1, tail_.grid(q), [&](auto w) { return ForwardB1{f.get(w), in.get(w), out[b1]}; });
  at_nodes(on_, b2, tail_.grid(q), [&](auto w) {
    return ForwardB2{f.get(w), in.get(w), in.get(w)[b1], out[b2], tail_.even(q)};
  });
}

template <class Backend, class Int, class T>
void Rrb<Backend, Int, T>::backward_tail(int q, double *x, bool couple, Scaling scaling) {
  const Extent &e = tail_.grid(q);
  const auto in = tail_.field(x, q);
  const auto out = in.get(Inner{});
  choose(couple, [&](auto coupled) {
    const auto f = [&](auto w) { return with_couplings<decltype(coupled)::value>(tail_.factor(q).get(w)); };
    const auto at = [&](auto w, Class c) { return in.get(w)[c]; };
    if (tail_.even(q))
      at_nodes(on_, b1, e, [&](auto w) { return BackwardB1{f(w), at(w, b1), at(w, b2), out[b1], scaling}; });
    at_nodes(on_, r1, e, [&](auto w) { return BackwardR1{f(w), at(w, r1), at(w, b1), at(w, b2), out[r1], scaling}; });
    at_nodes(on_, r2, e, [&](auto w) { return BackwardR2{f(w), at(w, r2), at(w, b1), at(w, b2), out[r2], scaling}; });
  });
}

struct Scale {
  double *x;
  const double *v;

  PETSCRRB_HD void operator()(index_t i, index_t) const { x[i] *= v[i]; }
};
template <bool to_tail> struct CoarseCopy {
  double *coarse, *tail;
  const index_t *at;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    if (to_tail)
      tail[at[i]] = coarse[i];
    else
      coarse[i] = tail[at[i]];
  }
};

template <class Backend, class Int, class T>
void Rrb<Backend, Int, T>::down(int from, int to, const double *r, double *z, Part part) {
  const int dense = options_.storage_grids;
  const Range2 nodes{0, extent_.nodes(), 0, 1}, unknowns{0, block_.size(), 0, 1};
  double *x = dense ? tail_.vector() : z;
  if (from == 0 && !dense) {
    on_.copy(z, r, extent_.nodes());
    if (natural(r, z, part).v_r) on_.for_each(nodes, Scale{z, v_});
  }
  for (int g = from; g < std::min(to, dense); ++g) forward_dense(g, r, part);
  for (int g = std::max(from, dense); g < to && part != Part::right; ++g) forward_tail(g - dense, x);
  if (to == grids() && !in_place()) on_.for_each(unknowns, CoarseCopy<false>{coarse_r_.data(), x, at_.data()});
}

template <class Backend, class Int, class T>
void Rrb<Backend, Int, T>::up(int from, int to, const double *r, double *z, Part part, Energy energy) {
  const int dense = options_.storage_grids;
  const Range2 nodes{0, extent_.nodes(), 0, 1}, unknowns{0, block_.size(), 0, 1};
  double *x = dense ? tail_.vector() : z;
  if (energy == Energy::yes) start_energy(from, to, z);
  if (from == grids() && !in_place()) on_.for_each(unknowns, CoarseCopy<true>{coarse_z_.data(), x, at_.data()});
  for (int g = from - 1; g >= std::max(to, dense); --g) {
    if (energy == Energy::yes) add_tail_energy(g - dense);
    backward_tail(g - dense, x, part != Part::left, part == Part::whole ? Scaling::full : Scaling::root);
  }
  for (int g = std::min(from, dense) - 1; g >= to; --g)
    if (energy == Energy::yes)
      backward_dense_with_energy(g, from);
    else
      backward_dense(g, r, z, part);
  if (to == 0 && !dense && natural(r, z, part).v_z) on_.for_each(nodes, Scale{z, v_});
}

} // namespace petscrrb::rrb
