// AMLI within the hierarchy: which arrays its steps (amli.hpp) work on.
#pragma once

#include "rrb/rrb.hpp"

namespace petscrrb::rrb {

// Before its elimination.
template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::keep_matrix(int g) {
  if (!amli_ || g != options_.amli_grid) return;
  if (g < options_.storage_grids)
    amli_->keep_matrix(on_, dense_[g].matrix_out());
  else
    amli_->keep_matrix(on_, tail_.whole_matrix(g - options_.storage_grids));
}

// op(x): the vector of AMLI's grid, by the coordinates of its nodes. z: the one handed to naive storage.
template <class Backend, class Int, class T>
template <class Op>
void Rrb<Backend, Int, T>::on_amli_vector(double *z, const Op &op) const {
  const int dense = options_.storage_grids, g = options_.amli_grid;
  if (g < dense)
    op(Split{dense_[g].vector()});
  else
    op(tail_.field(dense ? tail_.vector() : z, g - dense).all());
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::keep_right_hand_side(double *z) {
  on_amli_vector(z, [&](const auto &x) { amli_->keep_right_hand_side(on_, x); });
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::second_right_hand_side(double *z) {
  on_amli_vector(z, [&](const auto &x) { amli_->second_right_hand_side(on_, x); });
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::start_estimate() { amli_->start_estimate(on_); }

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::put_residual() {
  on_amli_vector(work(), [&](const auto &x) { amli_->put_residual(on_, x); });
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::estimate_step(int j) {
  on_amli_vector(work(), [&](const auto &x) { amli_->step(on_, j, x); });
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::finish_estimate() {
  amli_->finish_estimate(on_);
}

} // namespace petscrrb::rrb
