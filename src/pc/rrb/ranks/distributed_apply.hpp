// The application on several ranks.
#pragma once

#include "pc/rrb/ranks/distributed_amli.hpp"
#include "pc/rrb/core/rrb_apply.hpp"

namespace petscrrb::rrb {

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::down(int from, int to, const double *r, double *z, Part part) {
  const Step *const above = amli_above();
  if (from == 0) {
    const double *v = part != Part::right ? v_ : nullptr;
    if (!gathered_)
      copy_nodes(on_, natural_order(r, extent_), natural_order(gather_.mine(), extent_), extent_, v);
    else
      sweeps_.take(on_, extent_, grids_.finest().right_hand_side(), r, v);
    sums_ = {};
  }
  for (int g = from; g < std::min(to, gathered_); ++g) {
    const NextGrid next = next_grid(g);
    PartialSum<Backend> *energy = sums_.count && !(above && g >= above->grid()) ? &energy_ : nullptr;
    grids_[g].exchange_right_hand_side(ranks_);
    choose(part != Part::right, [&](auto coupled) {
      grids_.with(g,
                  [&](const auto &grid) { sweeps_.template down<decltype(coupled)::value>(on_, grid, next, energy); });
    });
  }
  if (to >= gathered_ && (from < gathered_ || from == 0 || (sums_.count && !above)))
    gather_.to_all(1, r_.data(), !sums_.count || above ? Sums() : take_sums());
  if (to > gathered_ || to == grids())
    tail_->down(std::max(from - gathered_, 0), to - gathered_, r_.data(), tail_place(z), part);
}

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::up(int from, int to, const double *, double *z, Part part, Energy energy) {
  if (from > gathered_ || from == grids())
    tail_->up(from - gathered_, std::max(to - gathered_, 0), r_.data(), tail_place(z), part, Energy::no);
  const Step *const kept =
      energy == Energy::yes ? amli_above() : nullptr; // where sums are; else they have gone with the gather
  if (energy == Energy::yes && !kept) add_rest_of_energy();
  Sums sums;
  if (kept && kept->grid() == to) { // no sweep follows
    kept->add_energy();
    sums = take_sums();
  }
  const Scaling scaling = part == Part::whole ? Scaling::full : Scaling::root;
  const double *v = part != Part::left ? v_ : nullptr;
  for (int g = std::min(from, gathered_) - 1; g >= to; --g) {
    if (g + 1 == gathered_)
      take_gathered(g);
    else if (part != Part::left)
      exchange(grids_[g].solutions(), grids_[g].solution_memory(), std::exchange(sums, {}));
    const BoxSolution to = g > 0 ? BoxSolution{grids_[g - 1].next_solution()}
                                 : BoxSolution{natural_order(z, extent_), v ? natural_order(v, extent_) : Strided<1>{}};
    if (kept && g + 1 == kept->grid()) {
      grids_.with(g, [&](const auto &grid) { sweeps_.up(on_, grid, to, Split{kept->kept()}, energy_); });
      sums = take_sums();
    } else
      choose(part != Part::left, [&](auto coupled) {
        grids_.with(g,
                    [&](const auto &grid) { sweeps_.template up<decltype(coupled)::value>(on_, grid, to, scaling); });
      });
  }
  if (sums.count) add_up(sums);
  if (to == 0 && !gathered_)
    copy_nodes(on_, natural_order(z_.data(), gather_.all()), natural_order(z, extent_), extent_, v);
}

// What the red nodes of distributed grids have not, where AMLI is not above: from the gathered grid.
template <class Backend, class T, class First> void DistributedRrb<Backend, T, First>::add_rest_of_energy() {
  for (const auto &step : amli_)
    if (!step->above() && step->amli().used) return step->add_energy();
  total_.add(on_, {0, gather_.all().nodes(), 0, 1}, TimesEntry{r_.data(), z_.data()});
}

} // namespace petscrrb::rrb
