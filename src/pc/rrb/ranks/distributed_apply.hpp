// The application on several ranks, and AMLI's steps where its grid is the gathered one or above it.
#pragma once

#include "pc/rrb/ranks/distributed_black.hpp"

namespace petscrrb::rrb {

template <class Backend, class T> void DistributedRrb<Backend, T>::start_down(const double *r, Part part) {
  const double *v = part != Part::right ? v_ : nullptr;
  if (grids_.empty())
    copy_nodes(on_, natural_order(r, extent_), natural_order(gather_.mine(), extent_), extent_, v);
  else
    sweeps_.take(on_, grids_[0]->box(), {r, nullptr, v, nullptr});
  sums_ = {};
}

template <class Backend, class T> void DistributedRrb<Backend, T>::gather_down() {
  gather_.to_all(1, r_.data(), !sums_.count || amli_above() ? Sums() : take_sums());
}

template <class Backend, class T>
void DistributedRrb<Backend, T>::down(int from, int to, const double *r, double *z, Part part) {
  if (from == 0) start_down(r, part);
  for (int g = from; g < std::min(to, gathered_); ++g) {
    const NextGrid next = next_grid(g);
    PartialSum<Backend> *energy = sums_.count && !(amli_above() && g >= options_.amli_grid) ? &energy_ : nullptr;
    grids_[g]->exchange_right_hand_side(ranks_);
    choose(part != Part::right,
           [&](auto coupled) { sweeps_.template down<decltype(coupled)::value>(on_, grids_[g]->box(), next, energy); });
  }
  if (to >= gathered_ && (from < gathered_ || from == 0 || sums_.count)) gather_down();
  if (to > gathered_ || to == grids())
    tail_->down(std::max(from - gathered_, 0), to - gathered_, r_.data(), tail_place(z), part);
}

template <class Backend, class T>
void DistributedRrb<Backend, T>::up(int from, int to, const double *, double *z, Part part, Energy energy) {
  if (from > gathered_ || from == grids())
    tail_->up(from - gathered_, std::max(to - gathered_, 0), r_.data(), tail_place(z), part, Energy::no);
  const bool sums_at_kept = energy == Energy::yes && amli_above(); // else they have gone with the gather
  if (energy == Energy::yes && !sums_at_kept) add_rest_of_energy();
  Sums sums;
  if (sums_at_kept && options_.amli_grid == to) { // no sweep follows
    above_->add_energy(on_, solution_above_amli(), energy_);
    sums = take_sums();
  }
  const Scaling scaling = part == Part::whole ? Scaling::full : Scaling::root;
  const double *v = part != Part::left ? v_ : nullptr;
  for (int g = std::min(from, gathered_) - 1; g >= to; --g) {
    if (g + 1 == gathered_)
      take_gathered(g);
    else if (part != Part::left)
      exchange(grids_[g]->solutions(), grids_[g]->solution_memory(), std::exchange(sums, {}));
    const BoxGrid<T> grid = grids_[g]->box();
    const BoxSolution to = g > 0 ? BoxSolution{grids_[g - 1]->next_solution()}
                                 : BoxSolution{natural_order(z, extent_), v ? natural_order(v, extent_) : Strided<1>{}};
    if (sums_at_kept && g + 1 == options_.amli_grid) {
      sweeps_.up(on_, grid, to, Split{above_->kept()}, energy_);
      sums = take_sums();
    } else
      choose(part != Part::left,
             [&](auto coupled) { sweeps_.template up<decltype(coupled)::value>(on_, grid, to, scaling); });
  }
  if (sums.count) add_up(sums);
  if (to == 0 && grids_.empty())
    copy_nodes(on_, natural_order(z_.data(), gather_.all()), natural_order(z, extent_), extent_, v);
}

// op(amli, right-hand side, solution): the arrays of its grid where the hierarchy has them, by coordinates.
template <class Backend, class T> template <class Op> void DistributedRrb<Backend, T>::with_amli_vector(const Op &op) {
  if (above_)
    op(*above_, grids_[options_.amli_grid]->vector(), grids_[options_.amli_grid - 1]->next_solution());
  else
    op(*amli_, natural_order(r_.data(), gather_.all()), natural_order(z_.data(), gather_.all()));
}

template <class Backend, class T> AmliReport DistributedRrb<Backend, T>::amli() const {
  if (!options_.amli_grid) return {};
  AmliReport report = amli_below() ? tail_->amli() : above_ ? above_->report() : amli_->report();
  report.nx = boxes_.all(options_.amli_grid).x.n, report.ny = boxes_.all(options_.amli_grid).y.n;
  return report;
}

template <class Backend, class T> void DistributedRrb<Backend, T>::keep_right_hand_side(double *z) {
  if (amli_below()) return tail_->keep_right_hand_side(tail_place(z));
  if (above_ && !amli_in_place())
    above_->copy(on_, grids_[options_.amli_grid]->vector(), Split{above_->right_hand_side()});
}

template <class Backend, class T> void DistributedRrb<Backend, T>::second_right_hand_side(double *z) {
  if (amli_below()) return tail_->second_right_hand_side(tail_place(z));
  if (!above_) {
    const Extent &x = gather_.all();
    return amli_->second_right_hand_side(on_, whole_classes(z_.data(), x), by_classes(natural_order(r_.data(), x)));
  }
  const Grid &above = *grids_[options_.amli_grid - 1];
  const Split r = grids_[options_.amli_grid]->vector();
  if (amli_in_place()) {
    above.exchange_solution(ranks_, above.solutions());
    return above_->second_right_hand_side(on_, solution_above_amli(), r.q);
  }
  above_->copy(on_, above.next_solution(), Split{above_->solution()});
  above_->second_right_hand_side(on_);
  above_->copy(on_, Split{above_->right_hand_side()}, r);
}

template <class Backend, class T> void DistributedRrb<Backend, T>::start_estimate() {
  if (amli_below()) return tail_->start_estimate();
  with_amli_vector([&](auto &amli, const auto &, const auto &) { amli.start_estimate(on_); });
}

template <class Backend, class T> void DistributedRrb<Backend, T>::put_residual() {
  if (amli_below()) return tail_->put_residual();
  with_amli_vector([&](auto &amli, const auto &r, const auto &) { amli.copy(on_, Split{amli.right_hand_side()}, r); });
}

template <class Backend, class T> void DistributedRrb<Backend, T>::estimate_step(int j) {
  if (amli_below()) return tail_->estimate_step(j);
  with_amli_vector([&](auto &amli, const auto &, const auto &solution) {
    amli.copy(on_, solution, Split{amli.solution()});
    amli.step(on_, j);
  });
}

template <class Backend, class T> void DistributedRrb<Backend, T>::finish_estimate() {
  if (amli_below()) return tail_->finish_estimate();
  with_amli_vector([&](auto &amli, const auto &, const auto &) { amli.finish_estimate(on_); });
}

} // namespace petscrrb::rrb
