// Conjugate gradients around PCGRIDMG's multigrid as an iteration, on the host or on a device.
#pragma once

#include "ksp/rrb/core/iteration.hpp"
#include "pc/gridmg/core/gridmg.hpp"

#include <memory>

namespace petscrrb::rrbsolver {

class GridIteration : public Iteration {
public:
  virtual void refresh() = 0;                // the matrix is that of the multigrid
  virtual RowFacts refresh(const Csr &) = 0; // another one on its grid; waits
};

// black: on the black points alone, where the multigrid is red_black(). It must outlive what is made, and so must `on`.
std::unique_ptr<GridIteration> make_grid_iteration(gridmg::GridMG &, bool black);
std::unique_ptr<GridIteration> make_grid_iteration(Cuda &on, gridmg::GridMG &, bool black);

// On: IterationOnHost or IterationOnDevice.
template <class On> class OnGrids final : public On {
public:
  using On::On;
  void refresh() override { On::cg_.refresh(); }
  RowFacts refresh(const Csr &A) override { return On::cg_.refresh(A); }
};

} // namespace petscrrb::rrbsolver
