// What conjugate gradients on the black nodes of the finest grid (ksp/rrb/) ask of the ranks that share it: what is around
// each box, and sums (docs/design_ranks.md, "The solver").
#pragma once

#include "pc/rrb/core/dense_grid.hpp"

namespace petscrrb::rrb {

class BlackRanks {
public:
  static constexpr index_t around = 2; // steps from the box: how far vectors on black nodes are kept

  virtual ~BlackRanks() = default;

  // A matrix by its weights and excesses (prepare.hpp) in r1/r2/b1/b2 storage, with four steps around: until the next call
  // or refresh.
  virtual StencilOut<Split> rows(const PreparedStencil &) = 0;
  // A vector of the box in natural order, times v, if that is not NULL: with the red nodes one step around; until the next
  // use of the hierarchy.
  virtual Quad<Dense> residual(const double *r, const double *v) = 0;
  // BlackLevel's solution, three steps around.
  virtual void exchange_solution() = 0;
  // b1 two steps around, of an array in BlackLevel's layout that has two more before it; and sums, if there are any.
  virtual void exchange_b1(const Dense &, const Sums &) = 0;

  // Sums of all ranks' terms, in the backend's memory.
  virtual void add_up(const Sums &) = 0;
  // The same, of Sums::most - 1 at most, on the way of an application from grid 1 on, with energy, which begins with it.
  virtual void add_up_below(const Sums &) = 0;
};

} // namespace petscrrb::rrb
