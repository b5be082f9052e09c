// Seven-point matrices on patches of cells, u = 0 outside, written where they are used, as box_matrix.cuh's are.
#pragma once

#include "exec/cuda/sort.hpp"
#include "pc/blockrelax/core/patches.hpp"
#include "grid/csr.hpp"

#include <cstdint>

namespace petscrrb {

// 6 and -1, or with coefficients of the faces at random between 0.5 and 1.5. box: so many equal patches along x, y and z are
// coupled with their neighbours; zero: none are.
struct Faces {
  bool variable;
  int box[3];

  static __host__ __device__ double uniform(std::uint64_t x) { // splitmix64
    x *= 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return double((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
  }
  // side: 0, 1, 2: the lower ones along x, y, z; 3, 4, 5: the upper ones
  __host__ __device__ double coefficient(PetscInt row, PetscInt other, int side) const {
    if (!variable) return 1;
    return 0.5 + uniform(16 * std::uint64_t(other < 0 || row < other ? row : other) +
                         std::uint64_t(other < 0 ? 8 + side : side % 3));
  }
  // The cell on the other side, or -1.
  __device__ PetscInt beyond(const blockrelax::Patch *patches, int patch, const PetscInt at[3], int side) const {
    const int d = side % 3, step = side < 3 ? -1 : 1;
    PetscInt to[3] = {at[0], at[1], at[2]};
    const blockrelax::Patch *p = patches + patch;
    to[d] += step;
    if (to[d] < 0 || to[d] >= p->n[d]) {
      if (!box[0]) return -1;
      int place[3] = {patch % box[0], patch / box[0] % box[1], patch / box[0] / box[1]};
      place[d] += step;
      if (place[d] < 0 || place[d] >= box[d]) return -1;
      p = patches + place[0] + box[0] * (place[1] + box[1] * place[2]);
      to[d] = side < 3 ? p->n[d] - 1 : 0;
    }
    return p->first + (to[2] * p->n[1] + to[1]) * p->n[0] + to[0];
  }
  // use(column, value), in no order
  template <class Use>
  __device__ void row(const blockrelax::Patch *patches, int count, PetscInt row, const Use &use) const {
    int patch = 0, after = count;
    while (after - patch > 1) {
      const int middle = (patch + after) / 2;
      (patches[middle].first <= row ? patch : after) = middle;
    }
    const blockrelax::Patch &p = patches[patch];
    const PetscInt q = row - p.first, at[3] = {q % p.n[0], q / p.n[0] % p.n[1], q / p.n[0] / p.n[1]};
    double diagonal = 0;
    for (int side = 0; side < 6; ++side) {
      const PetscInt other = beyond(patches, patch, at, side);
      const double k = coefficient(row, other, side);
      diagonal += k;
      if (other >= 0) use(other, -k);
    }
    use(row, diagonal);
  }
};

__global__ void count_entries(Faces faces, const blockrelax::Patch *patches, int count, PetscInt rows,
                              PetscInt *entries) {
  const PetscInt row = PetscInt(blockIdx.x * blockDim.x + threadIdx.x);
  if (row > rows) return;
  PetscInt n = 0;
  if (row < rows) faces.row(patches, count, row, [&](PetscInt, double) { ++n; });
  entries[row] = n;
}

// columns in order
__global__ void fill_entries(Faces faces, const blockrelax::Patch *patches, int count, PetscInt rows,
                             const PetscInt *ia, PetscInt *ja, PetscScalar *a) {
  const PetscInt row = PetscInt(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  PetscInt end = ia[row];
  faces.row(patches, count, row, [&](PetscInt column, double value) {
    PetscInt e = end++;
    for (; e > ia[row] && ja[e - 1] > column; --e) ja[e] = ja[e - 1], a[e] = a[e - 1];
    ja[e] = column, a[e] = value;
  });
}

class PatchMatrix {
public:
  PatchMatrix(const Faces &faces, const std::vector<blockrelax::Patch> &patches, cudaStream_t stream)
      : rows_(patches.back().first + patches.back().n[0] * patches.back().n[1] * patches.back().n[2]),
        ia_(std::size_t(rows_) + 1) {
    const cuda::Buffer<blockrelax::Patch> on_device(patches);
    const int count = int(patches.size());
    const unsigned blocks = unsigned(rows_ / 256 + 1);
    cuda::Scratch scratch(stream, std::size_t(1) << 20);
    PetscInt entries;
    count_entries<<<blocks, 256, 0, stream>>>(faces, on_device.data(), count, rows_, ia_.data());
    cuda::check_launch("count_entries");
    cuda::find_offsets(scratch, ia_.data(), ia_.data(), rows_ + 1);
    cuda::check(cudaMemcpyAsync(&entries, ia_.data() + rows_, sizeof entries, cudaMemcpyDeviceToHost, stream),
                "a copy");
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    ja_.resize(std::size_t(entries)), a_.resize(std::size_t(entries));
    fill_entries<<<blocks, 256, 0, stream>>>(faces, on_device.data(), count, rows_, ia_.data(), ja_.data(), a_.data());
    cuda::check_launch("fill_entries");
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  Csr csr() const { return {rows_, ia_.data(), ja_.data(), a_.data()}; }

private:
  PetscInt rows_;
  cuda::Buffer<PetscInt> ia_, ja_;
  cuda::Buffer<PetscScalar> a_;
};

} // namespace petscrrb
