// Work of a device captured once and launched as a whole.
#pragma once

#include "backend/cuda.hpp"

#include <exception>

namespace petscrrb::cuda {

class Graph {
public:
  Graph() = default;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph() { reset(); }

  bool empty() const { return !graph_; }
  void reset() {
    if (graph_) (void)cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

  // What work() launches on `on`, which may neither wait nor allocate. It is captured on a stream of its own: the one that
  // PETSc uses by default cannot be.
  template <class Work> void capture(Cuda &on, const Work &work) {
    const cudaStream_t theirs = on.stream;
    cudaStream_t ours;
    cudaGraph_t graph = nullptr;
    reset();
    check(cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking), "cudaStreamCreate");
    on.stream = ours;
    cudaError_t error = cudaStreamBeginCapture(ours, cudaStreamCaptureModeThreadLocal);
    std::exception_ptr thrown;
    try {
      if (error == cudaSuccess) work();
    } catch (...) {
      thrown = std::current_exception();
    }
    on.stream = theirs;
    const cudaError_t ended = cudaStreamEndCapture(ours, &graph);
    if (error == cudaSuccess) error = ended;
    if (error == cudaSuccess && !thrown) error = cudaGraphInstantiate(&graph_, graph, 0);
    if (graph) (void)cudaGraphDestroy(graph);
    (void)cudaStreamDestroy(ours);
    if (thrown) std::rethrow_exception(thrown);
    check(error, "capturing a graph");
  }

  void launch(const Cuda &on) const { check(cudaGraphLaunch(graph_, on.stream), "cudaGraphLaunch"); }

private:
  cudaGraphExec_t graph_ = nullptr;
};

} // namespace petscrrb::cuda
