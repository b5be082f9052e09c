// Seven-point matrices on boxes, written where they are used: a host would take longer to send them than a device to
// make them.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/csr.hpp"

#include <cstdint>
#include <memory>

namespace petscrrb {

// -div(k grad u), u = 0 on the sides; k = 1 on all faces, or between 0.5 and 1.5 at random.
struct Box {
  index_t n[3];
  bool variable;

  __host__ __device__ index_t points() const { return n[0] * n[1] * n[2]; }
  __host__ __device__ index_t stride(int d) const { return d == 0 ? 1 : d == 1 ? n[0] : n[0] * n[1]; }
  // entries of the rows before p's
  __host__ __device__ index_t start(index_t p) const {
    index_t count = 7 * p;
    for (int d = 0; d < 3; ++d) {
      const index_t s = stride(d), block = s * n[d], rest = p % block;
      count -= 2 * (p / block) * s + (rest < s ? rest : s) + (rest > block - s ? rest - (block - s) : 0);
    }
    return count;
  }
  // k on a face of p; 0, 1, 2: towards larger x, y, z, or 3, 4, 5: towards smaller ones, where there is a side
  __host__ __device__ double face(index_t p, int d) const {
    if (!variable) return 1;
    std::uint64_t x = std::uint64_t(8 * p + d) * 0x9e3779b97f4a7c15u; // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return 0.5 + double((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
  }
  __host__ __device__ void fill_row(index_t p, PetscInt *ia, PetscInt *ja, PetscScalar *a) const {
    index_t e = start(p);
    double diagonal = 0;
    ia[p] = PetscInt(e);
    const auto add = [&](index_t column, double value) { ja[e] = PetscInt(column), a[e++] = value; };
    for (int d = 2; d >= 0; --d) {
      const bool inside = p / stride(d) % n[d] > 0;
      const double k = inside ? face(p - stride(d), d) : face(p, 3 + d);
      diagonal += k;
      if (inside) add(p - stride(d), -k);
    }
    for (int d = 0; d < 3; ++d) diagonal += face(p, d);
    add(p, diagonal);
    for (int d = 0; d < 3; ++d)
      if (p / stride(d) % n[d] < n[d] - 1) add(p + stride(d), -face(p, d));
  }
};

__global__ void fill_box(Box box, PetscInt *ia, PetscInt *ja, PetscScalar *a) {
  const index_t p = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p < box.points()) box.fill_row(p, ia, ja, a);
  if (p == box.points()) ia[p] = PetscInt(box.start(p));
}

class BoxMatrix {
public:
  BoxMatrix(const Box &box, cudaStream_t stream)
      : rows_(PetscInt(box.points())), ia_(rows_ + 1), ja_(box.start(rows_)), a_(ja_.size()) {
    fill_box<<<unsigned(rows_ / 256 + 1), 256, 0, stream>>>(box, ia_.data(), ja_.data(), a_.data());
    cuda::check_launch("fill_box");
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  Csr csr() const { return {rows_, ia_.data(), ja_.data(), a_.data()}; }

  // The same in the host's memory.
  class Copy {
  public:
    explicit Copy(const BoxMatrix &m) : rows_(m.rows_), ia_(fetch(m.ia_)), ja_(fetch(m.ja_)), a_(fetch(m.a_)) {}
    Csr csr() const { return {rows_, ia_.get(), ja_.get(), a_.get()}; }

  private:
    template <class T> static std::unique_ptr<T[]> fetch(const cuda::Buffer<T> &from) {
      std::unique_ptr<T[]> to(new T[from.size()]);
      cuda::check(cudaMemcpy(to.get(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
      return to;
    }
    PetscInt rows_;
    std::unique_ptr<PetscInt[]> ia_, ja_;
    std::unique_ptr<PetscScalar[]> a_;
  };

private:
  PetscInt rows_;
  cuda::Buffer<PetscInt> ia_, ja_;
  cuda::Buffer<PetscScalar> a_;
};

} // namespace petscrrb
