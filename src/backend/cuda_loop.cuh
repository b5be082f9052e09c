// Work of a device that repeats itself until a kernel of it says otherwise: as a graph with a conditional node where there
// are such nodes, which is from CUDA 12.4 on, else as a graph that is launched several times.
#pragma once

#include "backend/cuda_graph.hpp"

#if CUDART_VERSION >= 12040
  #define PETSCRRB_CONDITIONAL_NODES 1
#else
  #define PETSCRRB_CONDITIONAL_NODES 0
#endif

namespace petscrrb::cuda {

// For a kernel of the work to say whether it is repeated.
class Condition {
public:
#if PETSCRRB_CONDITIONAL_NODES
  Condition() = default;
  explicit Condition(cudaGraphConditionalHandle handle) : handle_(handle), there_(true) {}
  __device__ void set(bool repeat) const {
    if (there_) cudaGraphSetConditional(handle_, repeat);
  }

private:
  cudaGraphConditionalHandle handle_ = 0;
  bool there_ = false;
#else
  __device__ void set(bool) const {}
#endif
};

class Loop {
public:
  Loop() = default;
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;
  ~Loop() { reset(); }

  bool empty() const { return !repeated_ && once_.empty(); }
  bool repeats() const { return repeated_; } // by itself
  void reset() {
    if (repeated_) (void)cudaGraphExecDestroy(repeated_);
    repeated_ = nullptr;
    once_.reset();
  }

  // What work(condition) launches on `on`, which may neither wait nor allocate; see Graph. may_repeat: by itself, if the
  // device can.
  template <class Work> void capture(Cuda &on, bool may_repeat, const Work &work) {
    reset();
    if (may_repeat && has_conditional_nodes())
      capture_repeated(on, work);
    else
      once_.capture(on, [&] { work(Condition()); });
  }

  // Until the condition says so, or at least `times` where the loop cannot repeat itself.
  void launch(const Cuda &on, int times) const {
    if (repeated_)
      check(cudaGraphLaunch(repeated_, on.stream), "cudaGraphLaunch");
    else
      for (int i = 0; i < times; ++i) once_.launch(on);
  }

private:
  static bool has_conditional_nodes() {
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return PETSCRRB_CONDITIONAL_NODES && driver >= 12040;
  }

#if PETSCRRB_CONDITIONAL_NODES
  template <class Work> void capture_repeated(Cuda &on, const Work &work) {
    cudaGraph_t graph;
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    cudaError_t error = cudaSuccess;
    try {
      cudaGraphConditionalHandle handle;
      const cudaGraph_t body = add_while(graph, &handle);
      capture_to(on, body, [&] { work(Condition(handle)); });
      error = cudaGraphInstantiate(&repeated_, graph, 0);
    } catch (const Error &e) {
      error = e.code();
    }
    (void)cudaGraphDestroy(graph);
    check(error, "capturing a loop");
  }

  static cudaGraph_t add_while(cudaGraph_t graph, cudaGraphConditionalHandle *handle) {
    check(cudaGraphConditionalHandleCreate(handle, graph, 1, cudaGraphCondAssignDefault), "a conditional node");
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = *handle;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t added;
  #if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &node), "a conditional node");
  #else
    check(cudaGraphAddNode(&added, graph, nullptr, 0, &node), "a conditional node");
  #endif
    return node.conditional.phGraph_out[0];
  }

  template <class Work> static void capture_to(Cuda &on, cudaGraph_t graph, const Work &work) {
    const cudaStream_t theirs = on.stream;
    cudaStream_t ours;
    cudaGraph_t captured;
    check(cudaStreamCreateWithFlags(&ours, cudaStreamNonBlocking), "cudaStreamCreate");
    on.stream = ours;
    cudaError_t error =
        cudaStreamBeginCaptureToGraph(ours, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal);
    try {
      if (error == cudaSuccess) work();
    } catch (const Error &e) {
      error = e.code();
    }
    on.stream = theirs;
    const cudaError_t ended = cudaStreamEndCapture(ours, &captured);
    (void)cudaStreamDestroy(ours);
    check(error == cudaSuccess ? ended : error, "capturing a loop");
  }
#else
  template <class Work> void capture_repeated(Cuda &, const Work &) {}
#endif

  cudaGraphExec_t repeated_ = nullptr;
  Graph once_; // or
};

} // namespace petscrrb::cuda
