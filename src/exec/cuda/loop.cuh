// Work of a device that repeats itself until a kernel of it says otherwise: as a graph with a conditional node where there
// are such nodes, which is from CUDA 12.4 on, else as a graph that is launched several times.
#pragma once

#include "exec/cuda/graph.hpp"

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
  bool empty() const { return !repeated_ && step_.empty(); }
  bool repeats() const { return repeated_ != nullptr; } // by itself
  bool has_step() const { return !step_.empty(); }
  void reset() {
    repeated_.reset();
    step_.reset();
  }

  // What work(condition) launches on `on`, as for a Graph: the same errors, and nothing is kept then. It must launch a kernel
  // that sets the condition, or the loop would never end. may_repeat: by itself, if the device can.
  template <class Work> auto capture(Cuda &on, bool may_repeat, const Work &work) {
    reset();
    if (may_repeat && has_conditional_nodes()) return capture_repeated(on, work);
    return capture_step(on, work);
  }
  // The same work for a loop that repeats itself, to be launched before it: a conditional node takes some microseconds
  // between two rounds.
  template <class Work> auto capture_step(Cuda &on, const Work &work) {
    return step_.capture(on, [&] { return work(Condition()); });
  }

  // so many times
  void launch_steps(const Cuda &on, int times) const {
    for (int i = 0; i < times; ++i) step_.launch(on);
  }
  // until the condition says so
  void launch(const Cuda &on) const { check(cudaGraphLaunch(repeated_.get(), on.stream), "cudaGraphLaunch"); }

private:
  static bool has_conditional_nodes() {
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return PETSCRRB_CONDITIONAL_NODES && driver >= 12040;
  }

#if PETSCRRB_CONDITIONAL_NODES
  template <class Work> auto capture_repeated(Cuda &on, const Work &work) {
    cudaGraph_t made = nullptr;
    check(cudaGraphCreate(&made, 0), "cudaGraphCreate");
    const OwnedGraph graph(made);
    cudaGraphConditionalHandle handle;
    const cudaGraph_t body = add_while(graph.get(), &handle);
    Capture capture(on);
    capture.begin(body);
    const auto error = work(Condition(handle));
    if (error) return error;
    (void)capture.end();
    check_not_empty(body);
    repeated_ = instantiate(graph.get());
    return error;
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

  static void check_not_empty(cudaGraph_t body) {
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(body, nullptr, &nodes), "cudaGraphGetNodes");
    if (!nodes) throw std::logic_error("a loop on the device without work would never end");
  }
#else
  template <class Work> auto capture_repeated(Cuda &, const Work &work) { return decltype(work(Condition()))(0); }
#endif

  OwnedGraphExec repeated_;
  Graph step_;
};

} // namespace petscrrb::cuda
