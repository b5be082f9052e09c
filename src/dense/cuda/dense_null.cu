// Singular components of a dense matrix on a device: found in the graph of its nonzeros, pinned, and projected out.
#include "dense/cuda/dense.hpp"

#include "exec/cuda/rows.cuh"
#include "exec/cuda/sums.cuh"

namespace petscrrb::dense {

namespace {

constexpr int threads = 1024, sum_threads = 256;
constexpr int most_near = 8192; // roots in shared memory

// f(i) for the unknowns of this thread, of one thread block
template <class F> __device__ void each_mine(int n, const F &f) {
  for (int i = threadIdx.x; i < n; i += threads) f(i);
}

// Every unknown's root: the smallest unknown of its component. Roots only fall, so races are harmless. root: in shared memory, if there is
// room.
__device__ void find_roots(const SparseView &e, int *root) {
  const volatile int *const now = root;
  int changed;
  each_mine(e.n, [&](int i) { root[i] = i; });
  __syncthreads();
  do {
    changed = 0;
    each_mine(e.n, [&](int i) {
      const int mine = now[i];
      int least = mine;
      for (int p = e.ia[i]; p < e.ia[i + 1]; ++p)
        if (e.a[p] != 0.0) least = min(least, now[e.ja[p]]);
      if (least == mine) return;
      atomicMin(root + mine, least);
      atomicMin(root + i, least);
      changed = 1;
    });
    changed = __syncthreads_or(changed);
    each_mine(e.n, [&](int i) {
      int above = now[i];
      while (now[above] < above) above = now[above];
      *const_cast<volatile int *>(root + i) = above;
    });
    __syncthreads();
  } while (changed);
}

__device__ unsigned long long size_of(double diagonal) { return cuda::ordered_bits(diagonal > 0.0 ? diagonal : 0.0); }

// What atomic operations wrote is read past the first-level cache, which knows nothing of them.
__global__ void __launch_bounds__(threads) components(SparseView e, NullView s) {
  constexpr int regular = -1;
  __shared__ int near[most_near];
  if (e.n > most_near) {
    find_roots(e, s.root);
  } else {
    find_roots(e, near);
    each_mine(e.n, [&](int i) { s.root[i] = near[i]; });
  }
  if (!threadIdx.x) *s.components = 0;
  each_mine(e.n, [&](int i) { s.size[i] = 0, s.most[i] = 0, s.place[i] = e.n, s.pin[i] = 0.0; });
  __syncthreads();
  const auto root = [&](int i) { return __ldcg(s.root + i); };
  each_mine(e.n, [&](int i) {
    if (e.excess[i] != 0.0) s.place[root(i)] = regular;
  });
  __syncthreads();
  each_mine(e.n, [&](int i) {
    if (s.place[root(i)] == regular) return;
    atomicAdd(s.size + root(i), 1);
    atomicMax(s.most + root(i), size_of(e.diagonal(i)));
  });
  __syncthreads();
  each_mine(e.n, [&](int i) {
    if (__ldcg(s.size + root(i)) && __ldcg(s.most + root(i)) == size_of(e.diagonal(i))) atomicMin(s.place + root(i), i);
  });
  __syncthreads();
  each_mine(e.n, [&](int i) {
    if (!__ldcg(s.size + root(i))) return;
    const double d = e.diagonal(i);
    if (__ldcg(s.place + root(i)) == i) s.pin[i] = d > 0.0 ? d : 1.0;
    if (root(i) == i) atomicAdd(s.components, 1);
  });
}

// f(root, size, sum_of) by a thread block for each singular component; sum_of(g) is the sum of g(i) over it
template <class F> __device__ void for_component(const NullView &s, const F &f) {
  const int root = int(blockIdx.x);
  if (s.root[root] != root || !s.size[root]) return;
  f(root, s.size[root], [&](const auto &g) {
    double sum = 0.0;
    for (int i = root + int(threadIdx.x); i < s.n; i += sum_threads)
      if (s.root[i] == root) sum += g(i);
    return cuda::sum_of_block<sum_threads>(sum);
  });
}

__global__ void __launch_bounds__(sum_threads) subtract_means(NullView s, double *c) {
  for_component(s, [&](int root, int size, const auto &sum_of) {
    const double mean = sum_of([&](int i) { return c[i]; }) / size;
    for (int i = root + int(threadIdx.x); i < s.n; i += sum_threads)
      if (s.root[i] == root) c[i] -= mean;
  });
}

__device__ double null_value(const NullView &s, int i) { return 1.0 / sqrt(double(s.size[s.root[i]])); }

// u = G v, v the null vector of the row's component; a row a warp
__global__ void __launch_bounds__(sum_threads) multiply_null(NullView s, const double *G, std::size_t pitch) {
  const int i = (int(blockIdx.x) * sum_threads + int(threadIdx.x)) / 32, lane = int(threadIdx.x) % 32;
  if (i >= s.n || !s.is_singular(i)) return;
  double sum = 0.0;
  for (int j = lane; j < s.n; j += 32)
    if (s.root[j] == s.root[i]) sum += G[i * pitch + j];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (!lane) s.u[i] = sum * null_value(s, i);
}

// gamma = v.u + null_inverse, at the component's root
__global__ void __launch_bounds__(sum_threads) find_gamma(NullView s, double null_inverse) {
  for_component(s, [&](int root, int, const auto &sum_of) {
    const double sum = sum_of([&](int i) { return s.u[i]; });
    if (!threadIdx.x) s.gamma[root] = sum * null_value(s, root) + null_inverse;
  });
}

// G - v u^T - u v^T + gamma v v^T; a row a warp
__global__ void __launch_bounds__(sum_threads) subtract_null(NullView s, double *G, std::size_t pitch) {
  const int i = (int(blockIdx.x) * sum_threads + int(threadIdx.x)) / 32, lane = int(threadIdx.x) % 32;
  if (i >= s.n || !s.is_singular(i)) return;
  const double v = null_value(s, i), both = s.gamma[s.root[i]] * v * v;
  for (int j = lane; j < s.n; j += 32)
    if (s.root[j] == s.root[i]) G[i * pitch + j] = (G[i * pitch + j] - v * (s.u[i] + s.u[j])) + both;
}

unsigned blocks_of_warps(int n) { return unsigned(n - 1) / (sum_threads / 32) + 1; }

} // namespace

void find_null_components(const SparseView &e, const NullView &s, cudaStream_t stream) {
  components<<<1, threads, 0, stream>>>(e, s);
  cuda::check_launch("components of E");
}

void project(const NullView &s, double *c, cudaStream_t stream) {
  subtract_means<<<s.n, sum_threads, 0, stream>>>(s, c);
  cuda::check_launch("projection of E's null space");
}

void project_inverse(const NullView &s, double null_inverse, double *inverse, std::size_t pitch, cudaStream_t stream) {
  multiply_null<<<blocks_of_warps(s.n), sum_threads, 0, stream>>>(s, inverse, pitch);
  cuda::check_launch("projection of E's inverse");
  find_gamma<<<s.n, sum_threads, 0, stream>>>(s, null_inverse);
  cuda::check_launch("projection of E's inverse");
  subtract_null<<<blocks_of_warps(s.n), sum_threads, 0, stream>>>(s, inverse, pitch);
  cuda::check_launch("projection of E's inverse");
}

} // namespace petscrrb::dense
