// The application on several ranks, and AMLI's steps where its grid is the gathered one or above it.
#pragma once

#include "pc/rrb/ranks/distributed_black.hpp"

namespace petscrrb::rrb {

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::start_down(const double *r, Part part) {
  const double *v = part != Part::right ? v_ : nullptr;
  if (!gathered_)
    copy_nodes(on_, natural_order(r, extent_), natural_order(gather_.mine(), extent_), extent_, v);
  else
    sweeps_.take(on_, finest_->box(), {r, nullptr, v, nullptr});
  sums_ = {};
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::gather_down() {
  gather_.to_all(1, r_.data(), !sums_.count || amli_above() ? Sums() : take_sums());
}

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::down(int from, int to, const double *r, double *z, Part part) {
  if (from == 0) start_down(r, part);
  for (int g = from; g < std::min(to, gathered_); ++g) {
    const NextGrid next = next_grid(g);
    PartialSum<Backend> *energy = sums_.count && !(amli_above() && g >= options_.amli_grid) ? &energy_ : nullptr;
    grid_at(g).exchange_right_hand_side(ranks_);
    choose(part != Part::right, [&](auto coupled) {
      with_grid(
          g, [&](const auto &grid) { sweeps_.template down<decltype(coupled)::value>(on_, grid.box(), next, energy); });
    });
  }
  if (to >= gathered_ && (from < gathered_ || from == 0 || sums_.count)) gather_down();
  if (to > gathered_ || to == grids())
    tail_->down(std::max(from - gathered_, 0), to - gathered_, r_.data(), tail_place(z), part);
}

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::up(int from, int to, const double *, double *z, Part part, Energy energy) {
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
      exchange(grid_at(g).solutions(), grid_at(g).solution_memory(), std::exchange(sums, {}));
    const BoxSolution to = g > 0 ? BoxSolution{grid_at(g - 1).next_solution()}
                                 : BoxSolution{natural_order(z, extent_), v ? natural_order(v, extent_) : Strided<1>{}};
    if (sums_at_kept && g + 1 == options_.amli_grid) {
      with_grid(g, [&](const auto &grid) { sweeps_.up(on_, grid.box(), to, Split{above_->kept()}, energy_); });
      sums = take_sums();
    } else
      choose(part != Part::left, [&](auto coupled) {
        with_grid(
            g, [&](const auto &grid) { sweeps_.template up<decltype(coupled)::value>(on_, grid.box(), to, scaling); });
      });
  }
  if (sums.count) add_up(sums);
  if (to == 0 && !gathered_)
    copy_nodes(on_, natural_order(z_.data(), gather_.all()), natural_order(z, extent_), extent_, v);
}

// op(amli, right-hand side, solution): the arrays of its grid where the hierarchy has them, by coordinates.
template <class Backend, class T, class First>
template <class Op>
void DistributedRrb<Backend, T, First>::with_amli_vector(const Op &op) {
  if (above_)
    op(*above_, grid_at(options_.amli_grid).vector(), grid_at(options_.amli_grid - 1).next_solution());
  else
    op(*amli_, natural_order(r_.data(), gather_.all()), natural_order(z_.data(), gather_.all()));
}

template <class Backend, class T, class First> AmliReport DistributedRrb<Backend, T, First>::amli() const {
  if (!options_.amli_grid) return {};
  AmliReport report = amli_below() ? tail_->amli() : above_ ? above_->report() : amli_->report();
  report.nx = boxes_.all(options_.amli_grid).x.n, report.ny = boxes_.all(options_.amli_grid).y.n;
  return report;
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::keep_right_hand_side(double *z) {
  if (amli_below()) return tail_->keep_right_hand_side(tail_place(z));
  if (above_ && !amli_in_place())
    above_->copy(on_, grid_at(options_.amli_grid).vector(), Split{above_->right_hand_side()});
}

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::second_right_hand_side(double *z) {
  if (amli_below()) return tail_->second_right_hand_side(tail_place(z));
  if (!above_) {
    const Extent &x = gather_.all();
    return amli_->second_right_hand_side(on_, whole_classes(z_.data(), x), by_classes(natural_order(r_.data(), x)));
  }
  const DistributedArrays<Backend> &above = grid_at(options_.amli_grid - 1);
  const Split r = grid_at(options_.amli_grid).vector();
  if (amli_in_place()) {
    above.exchange_solution(ranks_, above.solutions());
    return above_->second_right_hand_side(on_, solution_above_amli(), r.q);
  }
  above_->copy(on_, above.next_solution(), Split{above_->solution()});
  above_->second_right_hand_side(on_);
  above_->copy(on_, Split{above_->right_hand_side()}, r);
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::start_estimate() {
  if (amli_below()) return tail_->start_estimate();
  with_amli_vector([&](auto &amli, const auto &, const auto &) { amli.start_estimate(on_); });
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::put_residual() {
  if (amli_below()) return tail_->put_residual();
  with_amli_vector([&](auto &amli, const auto &r, const auto &) { amli.copy(on_, Split{amli.right_hand_side()}, r); });
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::estimate_step(int j) {
  if (amli_below()) return tail_->estimate_step(j);
  with_amli_vector([&](auto &amli, const auto &, const auto &solution) {
    amli.copy(on_, solution, Split{amli.solution()});
    amli.step(on_, j);
  });
}

template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::finish_estimate() {
  if (amli_below()) return tail_->finish_estimate();
  with_amli_vector([&](auto &amli, const auto &, const auto &) { amli.finish_estimate(on_); });
}

} // namespace petscrrb::rrb
