// Matrices on grids of any size for tests of what reads them on a device, and their copies there.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/csr.hpp"
#include "grid/grid.hpp"
#include "../unit/small_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace read_support {

struct OnDevice : testing::Test {
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "there is no CUDA device";
    petscrrb::cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  void TearDown() override {
    if (!stream) return;
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  cudaStream_t stream = nullptr;
};

class DeviceRows {
public:
  explicit DeviceRows(const petscrrb::Csr &A)
      : n(A.n), ia(std::vector<PetscInt>(A.ia, A.ia + A.n + 1)), ja(std::vector<PetscInt>(A.ja, A.ja + A.ia[A.n])),
        a(std::vector<PetscScalar>(A.a, A.a + A.ia[A.n])) {}
  petscrrb::Csr csr() const { return {n, ia.data(), ja.data(), a.data()}; }

private:
  PetscInt n;
  petscrrb::cuda::Buffer<PetscInt> ia, ja;
  petscrrb::cuda::Buffer<PetscScalar> a;
};

inline std::uint64_t hash(std::uint64_t a, std::uint64_t b, std::uint64_t seed) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15u + a * 0xbf58476d1ce4e5b9u + b;
  for (int k = 0; k < 2; ++k) h = (h ^ h >> 29) * 0x94d049bb133111ebu;
  return h ^ h >> 32;
}

// What may be odd about a matrix.
struct Traits {
  unsigned seed = 1;
  bool rough = false;   // identity and zero rows, stored zeros, positive and slightly nonsymmetric couplings, gaps
  bool columns = false; // of identity rows stay with their neighbours
  bool shuffled = false;
};

// Entry by entry from hashes, so that it takes time for the entries only.
class GridMatrix {
public:
  GridMatrix(const Shape &shape, const Traits &traits) : s(shape), t(traits), ia(1, 0) {
    for (int j = 0; j < s.ny; ++j)
      for (int i = 0; i < s.nx; ++i) add_row(i, j);
  }

  petscrrb::Csr csr() const { return {static_cast<PetscInt>(s.size()), ia.data(), ja.data(), a.data()}; }

  double &at(int p, int q) {
    for (PetscInt e = ia[p]; e < ia[p + 1]; ++e)
      if (ja[e] == q) return a[e];
    throw std::out_of_range("no such entry");
  }
  // Instead of the first entry of the row that is not on its diagonal.
  void redirect(int p, int q, double value) {
    for (PetscInt e = ia[p]; e < ia[p + 1]; ++e)
      if (ja[e] != p) {
        ja[e] = q;
        a[e] = value;
        return;
      }
    throw std::out_of_range("a row without couplings");
  }
  bool identity(int p) const { return t.rough && hash(p, p, t.seed) % 6 == 0; }

private:
  // nothing but equal couplings is symmetric beside it
  bool zero_diagonal(int p) const {
    const std::uint64_t h = hash(p, p, t.seed), kind = h / 64 % 32;
    return t.rough && (kind == 0 || (kind == 11 && h % 2)); // or there is none
  }
  void add_row(int i, int j) {
    const int p = s.row(i, j);
    std::vector<int> columns;
    for (int dj = -1; dj <= 1; ++dj)
      for (int di = -1; di <= 1; ++di) {
        const int q = neighbour(s, i, j, 0, di, dj, 0);
        if (q >= 0 && (s.points == 9 || di == 0 || dj == 0)) columns.push_back(q);
      }
    std::sort(columns.begin(), columns.end());
    if (t.shuffled) std::shuffle(columns.begin(), columns.end(), std::minstd_rand(p + 1));
    for (const int q : columns) add_entry(p, q);
    ia.push_back(static_cast<PetscInt>(ja.size()));
  }

  void add_entry(int p, int q) {
    const std::uint64_t h = hash(std::min(p, q), std::max(p, q), t.seed), kind = t.rough ? h / 64 % 32 : 31;
    double value = -1 - double(h % 1000003) / 1000003;
    if (p == q)
      value = identity(p) ? double(h % 3) : zero_diagonal(p) ? 0 : 30 + p % 3;
    else if (identity(p) ? kind > 2 : identity(q) && !t.columns)
      return;
    else if (identity(p) || kind < 3)
      value = 0;
    else if (kind < 7)
      value = 0.25;
    else if (kind < 11 && p < q && !zero_diagonal(p) && !zero_diagonal(q))
      value += 1e-9;
    if (kind == 11 && (p != q || h % 2)) return;
    ja.push_back(q);
    a.push_back(value);
  }

  Shape s;
  Traits t;
  std::vector<PetscInt> ia, ja;
  std::vector<PetscScalar> a;
};

// Sides of 1 to 5 points, and around the width of a warp's strip.
inline std::vector<Shape> shapes(const std::vector<int> &xs, const std::vector<int> &ys) {
  std::vector<Shape> all;
  for (int points : {5, 9})
    for (int nx : xs)
      for (int ny : ys)
        for (int periodic = 0; periodic < 4; ++periodic) {
          const Shape s{nx, ny, 1, (periodic & 1) != 0, (periodic & 2) != 0, false, points};
          if ((s.px && nx < 3) || (s.py && ny < 3)) continue;
          all.push_back(s);
        }
  return all;
}

inline std::string name(const Shape &s) {
  return std::to_string(s.nx) + " x " + std::to_string(s.ny) + (s.px ? " px" : "") + (s.py ? " py" : "") + " " +
         std::to_string(s.points);
}

} // namespace read_support
