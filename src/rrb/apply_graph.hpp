// An application of RRB on a device as three launches: the finest grid's sweep down, all between as a CUDA graph, and
// its sweep up. PETSc's arrays, which change from call to call, stay out of the graph.
#pragma once

#include "backend/cuda.hpp"
#include "rrb/cycle.hpp"

namespace petscrrb::rrb {

class ApplyGraph {
public:
  ApplyGraph() = default;
  ApplyGraph(const ApplyGraph &) = delete;
  ApplyGraph &operator=(const ApplyGraph &) = delete;
  ~ApplyGraph() { reset(); }

  // inverse: the last block is solved by kernels alone
  template <class Core> static bool usable(const Core &core, Part part, bool inverse) {
    return part == Part::whole && inverse && core.options().storage_grids > 1;
  }

  template <class Core, class Solve>
  void apply(Cuda &on, Core &core, const double *r, double *z, const Solve &solve) {
    if (!graph_ || amli_ != core.amli().used) capture(on, core, solve);
    core.down(0, 1, r, z, Part::whole);
    cuda::check(cudaGraphLaunch(graph_, on.stream), "cudaGraphLaunch");
    core.up(1, 0, r, z, Part::whole);
  }

  void reset() {
    if (graph_) (void)cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

private:
  // On a stream of its own: the one that PETSc uses by default cannot be captured.
  template <class Core, class Solve> void capture(Cuda &on, Core &core, const Solve &solve) {
    const cudaStream_t theirs = on.stream;
    cudaStream_t ours;
    cudaGraph_t graph = nullptr;
    reset();
    amli_ = core.amli().used;
    cuda::check(cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking), "cudaStreamCreate");
    on.stream = ours;
    cudaError_t error = cudaStreamBeginCapture(ours, cudaStreamCaptureModeThreadLocal);
    try {
      if (error == cudaSuccess) (void)Cycle(core).apply_below(1, solve);
    } catch (const cuda::Error &e) {
      error = e.code();
    }
    on.stream = theirs;
    const cudaError_t ended = cudaStreamEndCapture(ours, &graph);
    if (error == cudaSuccess) error = ended;
    if (error == cudaSuccess) error = cudaGraphInstantiate(&graph_, graph, 0);
    if (graph) (void)cudaGraphDestroy(graph);
    (void)cudaStreamDestroy(ours);
    cuda::check(error, "capturing an application");
  }

  cudaGraphExec_t graph_ = nullptr;
  bool amli_ = false; // the cycle that was captured
};

} // namespace petscrrb::rrb
