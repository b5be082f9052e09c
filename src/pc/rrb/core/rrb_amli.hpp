// AMLI within the hierarchy: on which grid its steps (amli.hpp) are. Where that is in the tail, which works in place,
// vectors are copied to and fro.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::make_amli() {
  const int g = options_.amli_grid;
  if (!g) return;
  if (amli_in_tail()) {
    const Extent &x = tail_.grid(g - options_.storage_grids);
    amli_ = std::make_unique<Amli<Backend>>(x, DenseLayout(x, options_.block));
  } else
    amli_ = std::make_unique<Amli<Backend>>(dense_[g].extent, dense_[g].layout(), dense_[g].right_hand_side(),
                                            dense_[g].solution());
  if (dense_.empty()) work_.resize(extent_.nodes());
}

// Its grid's vector in the tail. z: the one handed to naive storage.
template <class Backend, class Int, class T> NaturalField<0> Rrb<Backend, Int, T>::amli_tail(double *z) const {
  const int dense = options_.storage_grids;
  return tail_.field(dense ? tail_.vector() : z, options_.amli_grid - dense);
}

// Before its elimination.
template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::keep_matrix(int g) {
  if (!amli_ || g != options_.amli_grid) return;
  if (amli_in_tail())
    amli_->keep_matrix(on_, tail_.whole_matrix(g - options_.storage_grids));
  else
    amli_->keep_matrix(on_, dense_[g].matrix_out());
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::keep_right_hand_side(double *z) {
  if (amli_in_tail()) amli_->copy(on_, amli_tail(z).all(), Split{amli_->right_hand_side()});
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::second_right_hand_side(double *z) {
  if (amli_in_tail()) amli_->copy(on_, amli_tail(z).all(), Split{amli_->solution()});
  amli_->second_right_hand_side(on_);
  if (amli_in_tail()) amli_->copy(on_, Split{amli_->right_hand_side()}, amli_tail(z).all());
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::start_estimate() { amli_->start_estimate(on_); }

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::put_residual() {
  if (amli_in_tail()) amli_->copy(on_, Split{amli_->right_hand_side()}, amli_tail(work()).all());
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::estimate_step(int j) {
  if (amli_in_tail()) amli_->copy(on_, amli_tail(work()).all(), Split{amli_->solution()});
  amli_->step(on_, j);
}

template <class Backend, class Int, class T> void Rrb<Backend, Int, T>::finish_estimate() {
  amli_->finish_estimate(on_);
}

} // namespace petscrrb::rrb
