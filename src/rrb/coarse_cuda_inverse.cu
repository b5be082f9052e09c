// Inverts the dense symmetric matrix on the separators in place: Gauss-Jordan elimination without pivoting by panels of
// 32 columns, on its lower tiles of 32 x 32. While the others use a panel, one thread block inverts the next pivot tile.
#include "backend/cuda.hpp"
#include "rrb/coarse_cuda_device.cuh"
#include "rrb/coarse_cuda_view.hpp"

#include <cooperative_groups.h>

#include <algorithm>

namespace petscrrb::rrb::coarse {

namespace {

constexpr int warps = 4, threads = 32 * warps;
constexpr int pitch = panel + 4; // loads of 4 rows x 4 columns hit all banks

struct Tiles {
  double x[panel * pitch], y[panel * pitch], pivot[panel * pitch], w[panel * pitch];
};

// Values (row(i), column(j)) of a 32 x 32 tile that a thread holds: a warp has a quarter, in the layout of the tensor
// cores' accumulators.
struct Part {
  double v[2][4];

  __device__ static int first_row() { return int(threadIdx.x) / 64 * 16 + int(threadIdx.x) % 32 / 4; }
  __device__ static int first_column() { return int(threadIdx.x) / 32 % 2 * 16; }
  __device__ static int row(int i) { return first_row() + 8 * i; }
  __device__ static int column(int j) { return first_column() + 8 * (j / 2) + 2 * (int(threadIdx.x) % 4) + j % 2; }

  template <class F> __device__ void each(const F &f) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) f(row(i), column(j), v[i][j]);
  }
};

// m += sign X Y^T
__device__ void add_product(Part &m, double sign, const double *x, const double *y) {
#if __CUDA_ARCH__ >= 800
  const int lane = threadIdx.x % 32;
  const double *a = x + m.first_row() * pitch + lane % 4, *b = y + (m.first_column() + lane / 4) * pitch + lane % 4;
  #pragma unroll
  for (int k = 0; k < panel; k += 4) {
    const double a0 = sign * a[k], a1 = sign * a[8 * pitch + k], b0 = b[k], b1 = b[8 * pitch + k];
    const auto multiply_add = [](double p, double q, double &c, double &d) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(c), "+d"(d)
          : "d"(p), "d"(q));
    };
    multiply_add(a0, b0, m.v[0][0], m.v[0][1]);
    multiply_add(a0, b1, m.v[0][2], m.v[0][3]);
    multiply_add(a1, b0, m.v[1][0], m.v[1][1]);
    multiply_add(a1, b1, m.v[1][2], m.v[1][3]);
  }
#else
  #pragma unroll 8
  for (int k = 0; k < panel; ++k)
    m.each([&](int i, int j, double &v) { v = fma(sign * x[i * pitch + k], y[j * pitch + k], v); });
#endif
}

// 32 x 32 values between global memory (rows of `length`) and shared memory
__device__ void load(double *to, const double *from, int length) {
  for (int i = threadIdx.x; i < panel * panel / 2; i += threads) {
    const int row = i / (panel / 2), column = i % (panel / 2) * 2;
    *reinterpret_cast<double2 *>(to + row * pitch + column) =
        *reinterpret_cast<const double2 *>(from + std::size_t(row) * length + column);
  }
}

// Every lane of a warp holds eight values of one column of a 32 x 32 tile in shared memory, which becomes its inverse.
// line: 2 x 34 values. As in coarse_cuda_blocks.cu the next pivot is known one barrier early.
__device__ bool invert_tile(double *t, double *line) {
  constexpr int rows = panel / warps;
  const int lane = threadIdx.x % 32, first = int(threadIdx.x) / 32 * rows;
  double a[rows], next = t[0];
  bool good = true;
#pragma unroll
  for (int i = 0; i < rows; ++i) a[i] = t[(first + i) * pitch + lane];
#pragma unroll 1
  for (int kw = 0; kw < warps; ++kw)
#pragma unroll
    for (int kr = 0; kr < rows; ++kr) {
      const int k = kw * rows + kr;
      double *row = line + (k & 1) * pitch;
      if (first == kw * rows) row[lane] = a[kr];
      if (lane == k + 1) {
        if (kr + 1 < rows && first == kw * rows) row[panel] = a[(kr + 1) % rows];
        if (kr + 1 == rows && first == (kw + 1) * rows) row[panel] = a[0];
      }
      const double d = next, inverse = reciprocal(d);
      good = good && good_pivot(d, inverse);
      __syncthreads();
      const double mine = row[lane] * inverse, column = lane == k ? -inverse : mine;
      if (k + 1 < panel) next = fma(-(row[k + 1] * inverse), row[k + 1], row[panel]);
#pragma unroll
      for (int i = 0; i < rows; ++i) a[i] = fma(-row[first + i], column, lane == k ? 0.0 : a[i]);
      if (first == kw * rows) a[kr] = column;
    }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < rows; ++i) t[(first + i) * pitch + lane] = -a[i];
  __syncthreads();
  return good;
}

struct Elimination {
  View s;

  __device__ int tiles() const { return s.pitch / panel; }
  __device__ double *tile(int i, int j) const { return s.inverse + (std::size_t(i) * s.pitch + j) * panel; }
  __device__ double *at(int k) const { return s.panels + std::size_t(k & 1) * s.pitch * panel; }
  __device__ double *column(int k, int i) const { return at(k) + i * panel * panel; }  // tile (i, k) before step k
  __device__ double *pivot(int k) const { return s.pivots + (k & 1) * panel * panel; } // inverse of pivot tile k

  // The pivot tile of step k + 1, from the panel of step k.
  __device__ void next_pivot(int k, Tiles &t) const {
    const int next = k + 1;
    if (next == tiles()) return;
    Part m;
    if (k >= 0) {
      load(t.x, column(k, next), panel);
      load(t.pivot, pivot(k), panel);
    }
    m.each([&](int i, int j, double &v) { v = tile(next, next)[i * s.pitch + j]; });
    __syncthreads();
    if (k >= 0) {
      multiply(t);
      add_product(m, -1.0, t.w, t.x);
    }
    // a diagonal tile is what stands below its diagonal
    m.each([&](int i, int j, double v) {
      if (j <= i) t.y[i * pitch + j] = t.y[j * pitch + i] = v;
    });
    __syncthreads();
    if (!invert_tile(t.y, t.w)) s.state->status.spd = 0;
    m.each([&](int i, int j, double &) {
      const double v = i >= j ? t.y[i * pitch + j] : t.y[j * pitch + i];
      pivot(next)[i * panel + j] = v;
      tile(next, next)[i * s.pitch + j] = -v;
    });
  }

  // Tile (i, j), j <= i, at step k; k = -1 only copies the first panel.
  __device__ void update(int k, int i, int j, Tiles &t) const {
    if (k < 0) {
      if (j == 0 && i > 0) copy_first(i);
      return;
    }
    const bool last = k + 1 == tiles(), in_panel = i == k || j == k;
    if (i == j && (i == k + 1 || (i == k && !last))) return; // pivot tiles are next_pivot's
    Part m;
    m.each([](int, int, double &v) { v = 0.0; });
    if (i == k && j == k) {
      m.each([&](int p, int q, double &v) { v = -pivot(k)[p * panel + q]; });
    } else if (in_panel) {
      load(t.x, column(k, i == k ? j : i), panel);
      load(t.pivot, pivot(k), panel);
      __syncthreads();
      if (i == k)
        add_product(m, 1.0, t.pivot, t.x); // transposed
      else
        add_product(m, 1.0, t.x, t.pivot);
    } else {
      load(t.x, column(k, i), panel);
      load(t.y, column(k, j), panel);
      load(t.pivot, pivot(k), panel);
      m.each([&](int p, int q, double &v) { v = tile(i, j)[p * s.pitch + q]; });
      __syncthreads();
      multiply(t);
      add_product(m, -1.0, t.w, t.y);
    }
    if (last)
      store_inverse(i, j, m);
    else
      store(k, i, j, m);
  }

  // w = x pivot
  __device__ static void multiply(Tiles &t) {
    Part m;
    m.each([](int, int, double &v) { v = 0.0; });
    add_product(m, 1.0, t.x, t.pivot);
    m.each([&](int i, int j, double v) { t.w[i * pitch + j] = v; });
    __syncthreads();
  }
  __device__ void copy_first(int i) const {
    for (int p = threadIdx.x; p < panel * panel; p += threads)
      column(0, i)[p] = tile(i, 0)[p / panel * s.pitch + p % panel];
  }
  // and as part of the next panel
  __device__ void store(int k, int i, int j, Part &m) const {
    m.each([&](int p, int q, double v) {
      tile(i, j)[p * s.pitch + q] = v;
      if (j == k + 1) column(k + 1, i)[p * panel + q] = v;
      if (i == k + 1) column(k + 1, j)[q * panel + p] = v;
    });
  }
  // what was eliminated stands there with its sign turned; both triangles, from the lower one
  __device__ void store_inverse(int i, int j, Part &m) const {
    m.each([&](int p, int q, double v) {
      if (i == j && q > p) return;
      tile(i, j)[p * s.pitch + q] = -v;
      tile(j, i)[q * s.pitch + p] = -v;
    });
  }

  // All that thread block `block` of `blocks` does at step k.
  __device__ void step(int k, int block, int blocks, Tiles &t) const {
    if (!block) next_pivot(k, t);
    const int count = tiles() * (tiles() + 1) / 2, others = max(blocks - 1, 1);
    if (!block && blocks > 1) return;
    for (int q = blocks > 1 ? block - 1 : 0; q < count; q += others) {
      int i = int((sqrtf(8.0f * float(q) + 1.0f) - 1.0f) / 2.0f);
      while (i * (i + 1) / 2 > q) --i;
      while ((i + 1) * (i + 2) / 2 <= q) ++i;
      __syncthreads();
      update(k, i, q - i * (i + 1) / 2, t);
    }
  }
};

__global__ void __launch_bounds__(threads) eliminate_all(Elimination e) {
  __shared__ alignas(16) Tiles t;
  const auto grid = cooperative_groups::this_grid();
  for (int k = -1; k < e.tiles(); ++k) {
    e.step(k, blockIdx.x, gridDim.x, t);
    grid.sync();
  }
}

__global__ void __launch_bounds__(threads) eliminate_panel(Elimination e, int k) {
  __shared__ alignas(16) Tiles t;
  e.step(k, blockIdx.x, gridDim.x, t);
}

} // namespace

int resident_blocks(int device) {
  int each = 0, processors = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, eliminate_all, threads, 0), "occupancy");
  cuda::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return each * processors;
}

void invert_separators(const View &s, bool cooperative, int resident, cudaStream_t stream) {
  if (!s.separators) return;
  Elimination e{s};
  const int tiles = s.pitch / panel, items = 1 + tiles * (tiles + 1) / 2;
  if (cooperative) {
    void *arguments[] = {&e};
    cuda::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(eliminate_all), std::min(items, resident),
                                            threads, arguments, 0, stream),
                "inverse on the separators");
    return;
  }
  for (int k = -1; k < tiles; ++k) {
    eliminate_panel<<<items, threads, 0, stream>>>(e, k);
    cuda::check_launch("inverse on the separators");
  }
}

} // namespace petscrrb::rrb::coarse
