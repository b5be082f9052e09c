// The application z = M^-1 r and its two halves: the sweeps of all levels in order.
#pragma once

#include "rrb/rrb.hpp"

namespace petscrrb::rrb {

// Couplings of zero: a sweep with them only moves values, which is what one half of the application does.
template <bool Couple, class V> auto with_couplings(const FactorViews<V> &f) {
  if constexpr (Couple)
    return f;
  else
    return FactorViews<V, Zero>{{}, f.dinv};
}

// At every node of a class: op(Inner{}) where all neighbours exist, op(Edge{}) on the rim. Grids whose arrays all
// have a border have no rim.
template <class Backend, class Op> void at_nodes(Class c, const Extent &x, bool rim, const Op &op) {
  Backend::for_each(x.nodes_of(c), rim ? x.interior_of(c, 1) : x.nodes_of(c), op(Inner{}), op(Edge{}));
}

template <class Op> void choose(bool couple, const Op &op) {
  if (couple)
    op(std::true_type{});
  else
    op(std::false_type{});
}

template <class Backend, class Int> NextRows Rrb<Backend, Int>::next_rows(int g) const {
  if (g + 1 < options_.storage_grids) return {dense_[g + 1].vector(), {}, true, dense_[g + 1].extent.x};
  return {{}, tail_.above(tail_.vector()), false, tail_.base().x};
}

// What of the finest grid's vectors a part of the application uses: V stands at its outer ends.
template <class Backend, class Int>
NaturalVectors Rrb<Backend, Int>::natural(const double *r, double *z, Part part) const {
  return {r, z, part != Part::right ? v_ : nullptr, part != Part::left ? v_ : nullptr};
}

// From r (first grid) or the grid's own vector: b1 in place, b2 to the next grid.
template <class Backend, class Int> void Rrb<Backend, Int>::forward_dense(int g, const double *r, Part part) {
  const DenseGrid<Backend> &d = dense_[g];
  if (g > 0)
    for (Class c : {r1, r2}) d.halo.exchange(c, d.vector()[c]);
  const HostRows rows(d, next_rows(g), scratch_, g == 0 ? natural(r, nullptr, part) : NaturalVectors{});
  choose(part != Part::right, [&](auto coupled) { rows.template forward<decltype(coupled)::value>(); });
}

// From the next grid's solution and what the forward sweep left: z (first grid) or the grid's own vector.
template <class Backend, class Int>
void Rrb<Backend, Int>::backward_dense(int g, const double *r, double *z, Part part) {
  const HostRows rows(dense_[g], next_rows(g), scratch_, g == 0 ? natural(r, z, part) : NaturalVectors{});
  const Scaling scaling = part == Part::whole ? Scaling::full : Scaling::root;
  choose(part != Part::left, [&](auto coupled) { rows.template backward<decltype(coupled)::value>(scaling); });
}

template <class Backend, class Int> void Rrb<Backend, Int>::forward_tail(double *x) {
  for (int q = 0; q < tail_.grids(); ++q) {
    const auto f = tail_.factor(q);
    const auto in = tail_.field(x, q);
    const auto out = in.get(Inner{});
    at_nodes<Backend>(b1, tail_.grid(q), true, [&](auto w) { return ForwardB1{f.get(w), in.get(w), out[b1]}; });
    at_nodes<Backend>(b2, tail_.grid(q), true, [&](auto w) {
      return ForwardB2{f.get(w), in.get(w), in.get(w)[b1], out[b2], tail_.even(q)};
    });
  }
}

template <class Backend, class Int> void Rrb<Backend, Int>::backward_tail(double *x, bool couple, Scaling scaling) {
  for (int q = tail_.grids() - 1; q >= 0; --q) {
    const Extent &e = tail_.grid(q);
    const auto in = tail_.field(x, q);
    const auto out = in.get(Inner{});
    choose(couple, [&](auto coupled) {
      const auto f = [&](auto w) { return with_couplings<decltype(coupled)::value>(tail_.factor(q).get(w)); };
      const auto at = [&](auto w, Class c) { return in.get(w)[c]; };
      if (tail_.even(q))
        at_nodes<Backend>(b1, e, true, [&](auto w) {
          return BackwardB1{f(w), at(w, b1), at(w, b2), out[b1], scaling};
        });
      at_nodes<Backend>(r1, e, true,
                        [&](auto w) { return BackwardR1{f(w), at(w, r1), at(w, b1), at(w, b2), out[r1], scaling}; });
      at_nodes<Backend>(r2, e, true,
                        [&](auto w) { return BackwardR2{f(w), at(w, r2), at(w, b1), at(w, b2), out[r2], scaling}; });
    });
  }
}

template <class Backend, class Int> void Rrb<Backend, Int>::down(const double *r, double *z, Part part) {
  double *x = dense_.empty() ? z : tail_.vector();
  if (dense_.empty()) {
    std::copy_n(r, extent_.nodes(), z);
    if (natural(r, z, part).v_r) scale_row(z, v_, extent_.nodes());
  }
  for (int g = 0; g < options_.storage_grids; ++g) forward_dense(g, r, part);
  if (part != Part::right) forward_tail(x);
  for (Int i = 0; i < block_.size(); ++i) coarse_r_[i] = x[block_.at[i]];
}

template <class Backend, class Int> void Rrb<Backend, Int>::up(const double *r, double *z, Part part) {
  double *x = dense_.empty() ? z : tail_.vector();
  for (Int i = 0; i < block_.size(); ++i) x[block_.at[i]] = coarse_z_[i];
  backward_tail(x, part != Part::left, part == Part::whole ? Scaling::full : Scaling::root);
  for (int g = options_.storage_grids - 1; g >= 0; --g) backward_dense(g, r, z, part);
  if (dense_.empty() && natural(r, z, part).v_z) scale_row(z, v_, extent_.nodes());
}

} // namespace petscrrb::rrb
