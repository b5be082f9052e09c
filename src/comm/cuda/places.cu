#include "comm/cuda/places.hpp"

namespace petscrrb::rrb {

namespace {

constexpr int block = 128;

struct Run {
  index_t first, step, before; // places of runs before it
};

template <class Int> __global__ void list(const Run *run, int runs, index_t n, Int *to) {
  const index_t i = index_t(blockIdx.x) * block + threadIdx.x;
  if (i >= n) return;
  int first = 0, end = runs; // the last run that begins at i or before it is in between
  while (end - first > 1) {
    const int middle = (first + end) / 2;
    (run[middle].before <= i ? first : end) = middle;
  }
  to[i] = Int(run[first].first + (i - run[first].before) * run[first].step);
}

template <class Int> void list_all(const Places &places, cuda::Buffer<Int> *to) {
  const index_t n = index_t(places.size());
  if (!n) return;
  const cudaStream_t stream = cuda::Pool::of_thread() ? cuda::Pool::of_thread()->stream() : nullptr;
  std::vector<Run> runs;
  runs.reserve(places.runs().size());
  index_t before = 0;
  for (const Places::Run &run : places.runs()) runs.push_back({run.first, run.step, before}), before += run.count;
  const cuda::Buffer<Run> there(runs);
  to->resize(std::size_t(n));
  list<<<unsigned((n + block - 1) / block), block, 0, stream>>>(there.data(), int(runs.size()), n, to->data());
  cuda::check_launch("list_places");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

} // namespace

void list_places(const Places &places, cuda::Buffer<std::int32_t> *to) { list_all(places, to); }
void list_places(const Places &places, cuda::Buffer<std::int64_t> *to) { list_all(places, to); }

} // namespace petscrrb::rrb
