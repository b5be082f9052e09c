// Inverts the dense symmetric matrix on the separators in place: Gauss-Jordan elimination without pivoting on its lower
// tiles of 32 x 32. While the others use a phase's pivot tiles, some thread blocks invert those of the next phase.
#include "dense/cuda/tile.cuh"
#include "dense/cuda/view.hpp"
#include "exec/cuda/cuda.hpp"

#include <cooperative_groups.h>

#include <algorithm>

namespace petscrrb::dense {

namespace {

struct Elimination {
  View s;

  __device__ double *tile(int i, int j) const { return s.inverse + (std::size_t(i) * s.pitch + j) * panel; }
  __device__ double *slot(int k) const { return s.panels + std::size_t(k) * panel * panel; }
  __device__ double *pivot(int k) const { return s.pivots + k * panel * panel; }

  // m -= the sum over the task's pairs
  __device__ void subtract(const Task &task, Part &m, Tiles &t) const {
    for (int q = task.first; q < task.first + task.count; ++q) {
      const Pair pair = s.pairs[q];
      load_tile(t.x, slot(pair.x), panel);
      load_tile(t.y, slot(pair.y), panel);
      load_tile(t.pivot, pivot(pair.pivot), panel);
      __syncthreads();
      subtract_product(m, t);
      __syncthreads();
    }
  }

  __device__ void next_pivot(const Task &task, Tiles &t) const {
    Part m;
    double *a = tile(task.i, task.i), *inverse = pivot(task.copy);
    m.each([&](int i, int j, double &v) { v = a[i * s.pitch + j]; });
    subtract(task, m, t);
    m.put_symmetric(t.y);
    __syncthreads();
    if (invert_tile(t.y, t.w) < panel) s.state->spd = 0;
    m.each([&](int i, int j, double &) {
      const double v = i >= j ? t.y[i * tile_pitch + j] : t.y[j * tile_pitch + i];
      inverse[i * panel + j] = v;
      a[i * s.pitch + j] = -v;
    });
  }

  __device__ void update(const Task &task, Tiles &t) const {
    Part m{};
    if (task.role == Role::update) {
      m.each([&](int i, int j, double &v) { v = tile(task.i, task.j)[i * s.pitch + j]; });
      subtract(task, m, t);
    } else {
      const Pair pair = s.pairs[task.first];
      const double *d = pivot(pair.pivot);
      if (task.role == Role::pivot) {
        m.each([&](int i, int j, double &v) { v = -d[i * panel + j]; });
      } else {
        load_tile(t.x, slot(pair.x), panel);
        load_tile(t.pivot, d, panel);
        __syncthreads();
        const bool transposed = task.role == Role::scale_transposed;
        add_product(m, 1.0, transposed ? t.pivot : t.x, transposed ? t.x : t.pivot);
      }
    }
    if (task.last)
      store_inverse(task, m);
    else
      store(task, m);
  }

  __device__ void store(const Task &task, Part &m) const {
    m.each([&](int i, int j, double v) {
      tile(task.i, task.j)[i * s.pitch + j] = v;
      if (task.copy >= 0) slot(task.copy)[i * panel + j] = v;
      if (task.transposed_copy >= 0) slot(task.transposed_copy)[j * panel + i] = v;
    });
  }
  // both triangles, from the lower one
  __device__ void store_inverse(const Task &task, Part &m) const {
    m.each([&](int i, int j, double v) {
      if (task.i == task.j && j > i) return;
      tile(task.i, task.j)[i * s.pitch + j] = -v;
      tile(task.j, task.i)[j * s.pitch + i] = -v;
    });
  }

  __device__ void phase(int p, Tiles &t) const {
    for (int q = s.phase_start[p] + int(blockIdx.x); q < s.phase_start[p + 1]; q += int(gridDim.x)) {
      const Task task = s.tasks[q];
      __syncthreads();
      if (task.role == Role::next_pivot)
        next_pivot(task, t);
      else
        update(task, t);
    }
  }
};

__global__ void __launch_bounds__(tile_threads) eliminate_all(Elimination e, int phases) {
  __shared__ alignas(16) Tiles t;
  const auto grid = cooperative_groups::this_grid();
  for (int p = 0; p < phases; ++p) {
    if (p) grid.sync();
    e.phase(p, t);
  }
}

__global__ void __launch_bounds__(tile_threads) eliminate_phase(Elimination e, int p) {
  __shared__ alignas(16) Tiles t;
  e.phase(p, t);
}

} // namespace

int resident_blocks() {
  int each = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, eliminate_all, tile_threads, 0), "occupancy");
  return each * cuda::attribute(cudaDevAttrMultiProcessorCount);
}

void invert_separators(const View &s, const std::vector<int> &phase_start, int resident, cudaStream_t stream) {
  if (!s.pitch) return;
  Elimination e{s};
  int phases = int(phase_start.size()) - 1, most = 0;
  for (int p = 0; p < phases; ++p) most = std::max(most, phase_start[p + 1] - phase_start[p]);
  if (resident) {
    void *arguments[] = {&e, &phases};
    cuda::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(eliminate_all), std::min(most, resident),
                                            tile_threads, arguments, 0, stream),
                "inverse on the separators");
    return;
  }
  for (int p = 0; p < phases; ++p) {
    eliminate_phase<<<phase_start[p + 1] - phase_start[p], tile_threads, 0, stream>>>(e, p);
    cuda::check_launch("inverse on the separators");
  }
}

} // namespace petscrrb::dense
