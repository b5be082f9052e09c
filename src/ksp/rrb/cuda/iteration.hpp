// The RRB-solver's iteration on a device: enqueued step by step, or many steps as a graph that the host does not watch.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "pc/rrb/ranks/black_ranks.hpp"
#include "pc/rrb/core/rrb.hpp"
#include "ksp/rrb/core/iteration.hpp"

#include <petscsystypes.h>

#include <functional>

namespace petscrrb::rrbsolver {

class DeviceIteration {
public:
  using Core = Factorization;
  using Solve = std::function<int(Part)>; // with the last block: 0, or an error that ends the work

  // How a run repeats its step: in a graph's conditional node, or by launching the step's graph so many times that no step
  // waits for the host, where there are no such nodes.
  enum class Loop {
    automatic,
    launches
  };
  static constexpr int most_steps = 1 << 12; // of a run

  virtual ~DeviceIteration() = default;
  virtual void refresh(const PreparedStencil &) = 0;
  virtual bool positive() const = 0; // waits
  virtual int start(const double *r0, Norm, const Solve &) = 0;
  virtual Numbers started(Norm) const = 0; // waits
  // Takes steps until the limits say so, and sets what came of them; waits. captured: the steps are a graph, for which
  // solve() may only launch kernels, the same ones as long as the factorization's arrays are.
  virtual int run(Norm, const Limits &, bool captured, const Solve &, std::vector<Numbers> &) = 0;
  virtual int resume(const Solve &) = 0; // others have used the levels' vectors since
  virtual void settle() = 0;             // the black nodes' correction is 0
  virtual void drop_step() = 0;
  virtual void solution(const double *r0, double *x, bool add) const = 0;
  virtual std::size_t bytes() const = 0;
};

// full: on all nodes. `on` and the factorization must outlive what is made.
std::unique_ptr<DeviceIteration> make_device_iteration(Cuda &on, DeviceIteration::Core &, bool full,
                                                       DeviceIteration::Loop = DeviceIteration::Loop::automatic);

// On several ranks.
std::unique_ptr<DeviceIteration> make_device_iteration(Cuda &on, DeviceIteration::Core &, BlackRanks &,
                                                       DeviceIteration::Loop);

} // namespace petscrrb::rrbsolver
