// Work of a device captured once and launched as a whole.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cuda.hpp"

#include <memory>
#include <type_traits>

namespace petscrrb::cuda {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using OwnedGraphExec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

inline OwnedGraphExec instantiate(cudaGraph_t graph) {
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, graph, cudaGraphInstantiateFlagUseNodePriority), "cudaGraphInstantiate");
  return OwnedGraphExec(made);
}

// A stream of our own in the place of another one, whose work is captured: PETSc's default one cannot be. Whatever is thrown,
// the capture ends and the other stream is back.
class Capture : NotCopied {
public:
  // urgent: than what branches off
  explicit Capture(Cuda &on, bool urgent = false) : on_(on), theirs_(on.stream), ours_(urgent) {
    on_.stream = ours_.get();
  }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    if (begun_ && cudaStreamEndCapture(ours_.get(), &graph) != cudaSuccess) (void)cudaGetLastError();
    if (graph && graph != into_) (void)cudaGraphDestroy(graph);
    on_.stream = theirs_;
  }

  void begin() {
    check(cudaStreamBeginCapture(ours_.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    begun_ = true;
  }
#if CUDART_VERSION >= 12030
  // into: a graph that has an owner
  void begin(cudaGraph_t into) {
    check(cudaStreamBeginCaptureToGraph(ours_.get(), into, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCaptureToGraph");
    begun_ = true, into_ = into;
  }
#endif
  // The graph is the caller's, unless it has an owner.
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    begun_ = false;
    check(cudaStreamEndCapture(ours_.get(), &graph), "cudaStreamEndCapture");
    return graph;
  }

private:
  Cuda &on_;
  const cudaStream_t theirs_;
  const Stream ours_;
  cudaGraph_t into_ = nullptr;
  bool begun_ = false;
};

class Graph {
public:
  bool empty() const { return !graph_; }
  void reset() { graph_.reset(); }

  // What work() launches on `on`, which may neither wait nor allocate. It returns 0, or an error that ends the work: then this
  // returns it, and there is no graph, as where something is thrown. urgent: as of a Capture.
  template <class Work> auto capture(Cuda &on, const Work &work, bool urgent = false) {
    reset();
    Capture capture(on, urgent);
    capture.begin();
    const auto error = work();
    if (error) return error;
    const OwnedGraph graph(capture.end());
    graph_ = instantiate(graph.get());
    return error;
  }

  void launch(const Cuda &on) const { check(cudaGraphLaunch(graph_.get(), on.stream), "cudaGraphLaunch"); }

private:
  OwnedGraphExec graph_;
};

} // namespace petscrrb::cuda
