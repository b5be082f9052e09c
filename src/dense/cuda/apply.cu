// The coarse matrix's (pseudo-)inverse applied by the whole device, in three short kernels. Each reads its matrices
// before it waits for the kernel before it.
#include "exec/cuda/overlap.cuh"
#include "dense/cuda/apply.cuh"

namespace petscrrb::dense {

namespace {

constexpr int block_threads = 512; // of a block between separators
constexpr int row_threads = 256;
constexpr int dot_blocks = 8;

// Refreshing, only the pinned matrix is applied, and only if there is something to find out with it.
enum class Use {
  solve,
  refresh
};
__device__ bool idle(const View &s, Use use) { return use == Use::refresh && !s.state->handled; }

// A block's share of the solution, and of the right-hand side of its ring: four groups of threads, one a column.
__device__ void condense(const View &s, const Block &b, const double *r, Use use) {
  constexpr int columns = 128, groups = block_threads / columns, rows = largest_interior / groups;
  __shared__ double right[largest_interior], part[block_threads];
  const int size = b.interior + b.ring, column = int(threadIdx.x) % columns, group = int(threadIdx.x) / columns;
  const double *factor = s.factors + b.factor + column;
  double value[rows], even = 0.0, odd = 0.0;
#pragma unroll
  for (int i = 0; i < rows; ++i)
    value[i] = column < size && group + groups * i < b.interior ? factor[(group + groups * i) * size] : 0.0;
  const bool inside = int(threadIdx.x) < b.interior;
  const int node = inside ? s.nodes[b.nodes + threadIdx.x] : 0;
  if (use == Use::solve) cuda::await_previous();
  if (threadIdx.x < largest_interior) right[threadIdx.x] = inside ? r[node] : 0.0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rows; i += 2) {
    even = fma(value[i], right[group + groups * i], even);
    odd = fma(value[i + 1], right[group + groups * (i + 1)], odd);
  }
  part[threadIdx.x] = even + odd;
  __syncthreads();
  if (int(threadIdx.x) >= size) return;
  double sum = part[column];
#pragma unroll
  for (int g = 1; g < groups; ++g) sum += part[g * columns + column];
  s.condensed[b.condensed + column] = sum;
}

__global__ void __launch_bounds__(block_threads) condense_all(View s, const double *r, Use use) {
  cuda::start_next();
  const int b = blockIdx.x;
  if (idle(s, use)) return;
  if (b < s.blocks)
    condense(s, s.block[b], r, use);
  else if (use == Use::solve) {
    cuda::await_previous();
    for (int c = b - s.blocks; c < s.state->handled; c += dot_blocks) component_dots(s, c, r);
  }
}

__global__ void __launch_bounds__(row_threads) solve_separators(View s, const double *r, Use use) {
  extern __shared__ double y[];
  cuda::start_next();
  if (idle(s, use)) return cuda::await_previous();
  const int p = (int(blockIdx.x) * row_threads + int(threadIdx.x)) / 32;
  const RowProduct<14> row(s, p); // the pitch is a multiple of the rows of a block
  Gather<4> right(s);
  cuda::await_previous();
  right.put(r, y);
  const double value = row.times(y);
  if (threadIdx.x % 32 == 0) s.solution[p] = value;
}

// z in a block: eight groups of threads, one an unknown
__device__ void expand(const View &s, const Block &b, double *z, bool correct) {
  constexpr int groups = block_threads / largest_interior, most = tile * largest_tiles, ahead = 8;
  __shared__ double ring[most], part[block_threads];
  const int i = int(threadIdx.x) % largest_interior, group = int(threadIdx.x) / largest_interior;
  const double *transposed = s.transposed + b.transposed + i;
  const int *nodes = s.nodes + b.nodes;
  double value[ahead], sum = 0.0;
#pragma unroll
  for (int k = 0; k < ahead; ++k) {
    const int q = group + groups * k;
    value[k] = i < b.interior && q < b.ring ? transposed[q * b.interior] : 0.0;
  }
  const int node = int(threadIdx.x) < b.interior ? nodes[threadIdx.x] : 0;
  const int separator = int(threadIdx.x) < b.ring ? nodes[b.interior + threadIdx.x] : 0;
  cuda::await_previous();
  const double own = int(threadIdx.x) < b.interior ? s.condensed[b.condensed + threadIdx.x] : 0.0;
  if (threadIdx.x < most) ring[threadIdx.x] = int(threadIdx.x) < b.ring ? s.solution[separator] : 0.0;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < ahead; ++k) sum = fma(value[k], ring[group + groups * k], sum);
  if (i < b.interior)
    for (int q = group + groups * ahead; q < b.ring; q += groups) sum = fma(transposed[q * b.interior], ring[q], sum);
  part[threadIdx.x] = sum;
  __syncthreads();
  if (int(threadIdx.x) >= b.interior) return;
#pragma unroll
  for (int g = 1; g < groups; ++g) sum += part[g * largest_interior + i];
  z[node] = correct ? corrected(s, node, own - sum) : own - sum;
}

__global__ void __launch_bounds__(block_threads) expand_all(View s, double *z, Use use) {
  cuda::start_next();
  if (idle(s, use)) return cuda::await_previous();
  const bool correct = use == Use::solve && s.state->any;
  const int b = blockIdx.x, p = (b - s.blocks) * block_threads + int(threadIdx.x);
  if (b < s.blocks) {
    expand(s, s.block[b], z, correct);
    return;
  }
  cuda::await_previous();
  const int node = p < s.pitch ? s.separator[p] : -1;
  if (node < 0) return;
  z[node] = correct ? corrected(s, node, s.solution[p]) : s.solution[p];
}

void apply(const View &s, const double *r, double *z, Use use, cudaStream_t stream) {
  const char *what = "application of the coarse matrix";
  const int rows = row_threads / 32;
  // where the host has waited for the refresh, it may read the factors before
  cuda::launch(what, condense_all, s.overlap && use == Use::solve, s.blocks + dot_blocks, block_threads, 0, stream, s,
               r, use);
  if (s.pitch)
    cuda::launch(what, solve_separators, s.overlap, s.pitch / rows, row_threads, s.pitch * sizeof(double), stream, s, r,
                 use);
  cuda::launch(what, expand_all, s.overlap, s.blocks + (s.pitch + block_threads - 1) / block_threads, block_threads, 0,
               stream, s, z, use);
}

} // namespace

bool may_overlap() { return cuda::may_overlap(condense_all); }

void apply(const View &s, const double *r, double *z, cudaStream_t stream) { apply(s, r, z, Use::solve, stream); }
void apply_pinned(const View &s, const double *r, double *z, cudaStream_t stream) {
  apply(s, r, z, Use::refresh, stream);
}

} // namespace petscrrb::dense
