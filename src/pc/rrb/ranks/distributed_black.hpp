// What DistributedRrb does for conjugate gradients on the finest grid's black nodes: exchanges, sums, the energy of a cycle.
#pragma once

#include "pc/rrb/ranks/distributed_amli.hpp"
#include "pc/rrb/core/rrb_apply.hpp"

namespace petscrrb::rrb {

template <class Backend, class T, class First> NextGrid DistributedRrb<Backend, T, First>::solution(int g) const {
  if (g < 1 || g > gathered_) return {};
  return {{}, grid_at(g - 1).next_solution(), false, next_box(g - 1)};
}

template <class Backend, class T, class First> BlackLevel DistributedRrb<Backend, T, First>::black_level() const {
  if (!gathered_) return {};
  BlackLevel level{extent_, finest_->layout(), nullptr, nullptr, right_hand_side(1), solution(1), BlackRanks::around};
  level.set(finest_->factor());
  return level;
}

template <class Backend, class T, class First>
StencilOut<Split> DistributedRrb<Backend, T, First>::rows(const PreparedStencil &s) {
  take_matrix(s);
  finest_->exchange_rows(ranks_);
  return finest_->matrix();
}

template <class Backend, class T, class First>
Quad<Dense> DistributedRrb<Backend, T, First>::residual(const double *r, const double *v) {
  sweeps_.take(on_, extent_, finest_->vector().q, r, v);
  finest_->exchange_right_hand_side(ranks_);
  return finest_->vector().q;
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::exchange_solution() {
  if (gathered_ == 1)
    take_gathered(0);
  else
    finest_->exchange_solution(ranks_, wide_b2_);
}

// A plan is for the four classes of a field, whose third one is b1.
template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::exchange_b1(const Dense &a, const Sums &sums) {
  const DenseLayout &layout = finest_->layout();
  double *array = a.p - layout.place(0, 0) - b1 * layout.size();
  exchange(wide_b1_, array, sums);
}

// sums: those that are added meanwhile, or none
template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::exchange(const Plan &plan, double *array, const Sums &sums) {
  if (sums.count && ranks_.exchange_and_add(plan, array, sums)) return;
  if (sums.count) add_up(sums);
  ranks_.exchange(plan, array);
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::add_up_below(const Sums &sums) {
  sums_ = sums;
  energy_.start();
}

// Those and the energy of own red nodes.
template <class Backend, class T, class First> Sums DistributedRrb<Backend, T, First>::take_sums() {
  Sums sums = std::exchange(sums_, {});
  total_.start();
  sums.add(energy_.terms(), total_.take(1));
  return sums;
}

// What the red nodes of distributed grids have not, where AMLI is not above: from the gathered grid.
template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::add_rest_of_energy() {
  for (const auto &step : amli_)
    if (!step->above() && step->amli().used) return step->add_energy();
  total_.add(on_, {0, gather_.all().nodes(), 0, 1}, TimesEntry{r_.data(), z_.data()});
}

} // namespace petscrrb::rrb
