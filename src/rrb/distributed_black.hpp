// What DistributedRrb does for conjugate gradients on the finest grid's black nodes: exchanges, sums, the energy of a cycle.
#pragma once

#include "rrb/distributed.hpp"
#include "rrb/rrb_energy.hpp"

namespace petscrrb::rrb {

// At i: the sum over ranks of their i-th number; the first one goes to `first`, unless that is NULL.
struct AddRanks {
  const double *of_ranks;
  int ranks, n;
  double *first, *numbers;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    double sum = 0.0;
    for (int rank = 0; rank < ranks; ++rank) sum += of_ranks[rank * n + i];
    if (!first)
      numbers[i] = sum;
    else if (i == 0)
      *first = sum;
    else
      numbers[i - 1] = sum;
  }
};

template <class Backend, class Int, class T> NextGrid DistributedRrb<Backend, Int, T>::solution(int g) const {
  if (g < 1 || g > gathered_) return {};
  return {{}, grids_[g - 1]->next_solution(), false, next_box(g - 1)};
}

template <class Backend, class Int, class T> BlackLevel DistributedRrb<Backend, Int, T>::black_level() const {
  if (grids_.empty()) return {};
  BlackLevel level{extent_, grids_[0]->layout(), nullptr, nullptr, right_hand_side(1), solution(1), BlackRanks::around};
  if constexpr (std::is_same_v<T, float>)
    level.in_single = &grids_[0]->factor();
  else
    level.in_double = &grids_[0]->factor();
  return level;
}

template <class Backend, class Int, class T>
StencilOut<Split> DistributedRrb<Backend, Int, T>::rows(const PreparedStencil &s) {
  take_matrix(s);
  grids_[0]->bring_rows(ranks_);
  return grids_[0]->matrix();
}

template <class Backend, class Int, class T>
Quad<Dense> DistributedRrb<Backend, Int, T>::residual(const double *r, const double *v) {
  sweeps_.take(on_, grids_[0]->box(), {r, nullptr, v, nullptr});
  grids_[0]->bring_right_hand_side(ranks_);
  return grids_[0]->vector().q;
}

template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::bring_solution() {
  if (gathered_ == 1)
    take_gathered(0);
  else
    grids_[0]->exchange(ranks_, wide_b2_);
}

// A plan is for the four classes of a field, whose third one is b1.
template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::bring_b1(const Dense &a) {
  const DenseLayout &layout = grids_[0]->layout();
  ranks_.exchange(wide_b1_, a.p - layout.place(0, 0) - b1 * layout.size());
}

template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::add_up(double *numbers, int n) {
  ranks_.gather(numbers, std::vector<index_t>(ranks_.count(), n), shares_.data());
  on_.for_each({0, n, 0, 1}, AddRanks{shares_.data(), ranks_.count(), n, nullptr, numbers});
}

template <class Backend, class Int, class T> Terms DistributedRrb<Backend, Int, T>::collect(const double *number) {
  ranks_.gather(number, std::vector<index_t>(ranks_.count(), 1), shares_.data());
  return {shares_.data(), ranks_.count()};
}

template <class Backend, class Int, class T>
void DistributedRrb<Backend, Int, T>::add_up_below(double *numbers, int n) {
  numbers_ = numbers;
  count_ = n;
  energy_.start();
}

// What a rank has of the sums: the energy of its red nodes, and the numbers.
template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::put_shares() {
  double *to = gather_.mine() + gather_.own().nodes();
  energy_.put(on_, to);
  on_.copy(to + 1, numbers_, count_);
}

template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::add_shares() {
  total_.start();
  const int n = 1 + count_;
  on_.for_each({0, n, 0, 1}, AddRanks{shares_.data(), ranks_.count(), n, total_.take(1), numbers_});
  count_ = 0;
}

// What the red nodes of distributed grids have not: from AMLI's grid, or the gathered one.
template <class Backend, class Int, class T> void DistributedRrb<Backend, Int, T>::add_rest_of_energy() {
  const auto by_classes = [](const Strided<1> &z, const Extent &x) {
    const NaturalField<2> of_box{z.p, 0, 0, z.row, 1, x}; // z.p: of the point (0, 0), in the box or not
    return of_box.get(Inner{});
  };
  const int g = options_.amli_grid;
  if (amli_above()) {
    above_->add_energy(on_, by_classes(grids_[g - 1]->next_solution(), next_box(g - 1)), energy_);
    put_shares();
    ranks_.gather(gather_.mine() + gather_.own().nodes(), std::vector<index_t>(ranks_.count(), 1 + count_),
                  shares_.data());
    add_shares();
  } else if (amli_ && amli_->report().used) {
    amli_->add_energy(on_, by_classes(natural_order(z_.data(), gather_.all()), gather_.all()), total_);
  } else
    total_.add(on_, {0, gather_.all().nodes(), 0, 1}, TimesEntry{r_.data(), z_.data()});
}

} // namespace petscrrb::rrb
