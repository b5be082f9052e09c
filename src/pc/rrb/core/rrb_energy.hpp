// The energy y^T B y (rrb.hpp), which the sweeps up add while they have y and its solution at hand.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

struct TimesEntry {
  const double *x, *y;

  PETSCRRB_HD double operator()(index_t i, index_t) const { return x[i] * y[i]; }
};

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::reserve_energy() {
  using Sum = PartialSum<Backend>;
  index_t parts = Sum::parts({0, block_.size(), 0, 1});
  for (const auto &d : dense_) parts += Sweeps<Backend, T>::parts(d.layout());
  for (int q = 0; q < tail_.grids(); ++q)
    for (Class c : {r1, r2, b1}) parts += Sum::parts(tail_.grid(q).nodes_of(c));
  if (amli_) parts += amli_->energy_parts();
  energy_.reserve(parts);
}

// The next sweep up reads the solution from which it begins; it adds y.z there as well if y is in the same layout.
template <class Backend, class Int, class T> bool Rrb<Backend, Int, T>::sweep_adds_start(int from, int to) const {
  return from > to && (from == grids() ? in_place() : !amli_in_tail());
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::start_energy(int from, int to, double *z) {
  energy_.start();
  if (sweep_adds_start(from, to)) return;
  if (from == grids())
    energy_.add(on_, {0, block_.size(), 0, 1}, TimesEntry{coarse_r(), coarse_z_.data()});
  else if (amli_in_tail())
    amli_->add_energy(on_, amli_tail(z).get(Inner{}), energy_);
  else
    amli_->add_energy(on_, amli_->solution(), energy_);
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::add_tail_energy(int q) {
  const auto y = tail_.field(tail_.vector(), q).get(Inner{});
  const auto f = tail_.factor(q).get(Inner{});
  const auto add = [&](Class c) {
    using Term = RedEnergy<std::decay_t<decltype(y[c])>, std::decay_t<decltype(f.dinv[c])>>;
    energy_.add(on_, tail_.grid(q).nodes_of(c), Term{y[c], f.dinv[c]});
  };
  add(r1), add(r2);
  if (tail_.even(q)) add(b1);
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::backward_dense_with_energy(int g, int from) {
  NextGrid kept = right_hand_side(g + 1);
  if (from < grids()) kept.split = amli_->kept();
  const bool start = g + 1 == from && sweep_adds_start(from, g);
  sweeps_.backward(on_, dense_[g], solution(g + 1), EnergyShare<Backend>{energy_, start ? &kept : nullptr});
}

} // namespace petscrrb::rrb
