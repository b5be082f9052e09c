// The threads of a block that marches through a column, and what passes between them.
#pragma once

#include "pc/mic/cuda/column.cuh"

namespace petscrrb::mic::device {

// Steps of the unrolled loop; groups of steps in which values come from other tiles, which some warps of a block wait for by
// turns: a look into the device's cache takes as long as several steps, and one goes by between two groups of a warp.
constexpr int unrolled = 8, group = 4, receivers = 4;
static_assert(receivers * group % unrolled == 0, "turns of the loop have their receivers by turns");

// The threads of a block: those that compute, a point of the tile each; then warps that receive groups of steps, by turns: one
// for what other tiles hand on and for the factor, one for layers of a right-hand side; and one that sends.
template <class Work, int tp, int tq> struct Crew {
  static constexpr int points = tp * tq, team = Work::reads_natural ? 2 : 1,
                       count = points + 32 * receivers * team + 32;
  static constexpr int at_step = points + 32, at_group = at_step + 32 * team; // that meet at barriers
};

// The values that pass between the points of a tile, of this step and of the next one; and those from other tiles, of some
// steps: along i for each j, then along j for each i.
template <int tp, int tq> struct Exchange {
  static constexpr bool flat = tq == 1;
  static constexpr int kept = 2 * receivers * group;
  double p[2][tq][tp], q[flat ? 1 : 2][flat ? 1 : tq][tp], halo[kept][32];

  static constexpr int p_step = sizeof(double) * tq * tp, q_step = flat ? 0 : p_step;
};

} // namespace petscrrb::mic::device
