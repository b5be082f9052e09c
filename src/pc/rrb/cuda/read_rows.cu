// See read_rows.hpp.
#include "pc/rrb/cuda/read_rows.hpp"

#include "exec/cuda/cuda.cuh"
#include "exec/cuda/shape.cuh"
#include "stencil/cuda/facts.cuh"

#include <algorithm>

namespace petscrrb::cuda {
namespace {

constexpr int threads = 256;

unsigned blocks_for(PetscInt rows) { return unsigned((index_t(rows) + threads - 1) / threads); }
__device__ index_t this_thread() { return index_t(blockIdx.x) * threads + threadIdx.x; }

__global__ void __launch_bounds__(threads) mark_identity(RankRows rows, unsigned char *identity) {
  const index_t p = this_thread();
  if (p < rows.n) identity[p] = rows.is_identity(PetscInt(p));
}

// All that write *useless write the same.
struct TakeVector {
  const unsigned char *identity;
  const double *x;
  double *v;
  int *useless;

  PETSCRRB_HD void operator()(index_t p, index_t) const {
    v[p] = scaling(x[p], identity[p]);
    if (!is_useful(v[p])) *useless = 1;
  }
};

// own: the OwnGrid, on which row p is point first + p
__global__ void __launch_bounds__(threads)
    read_rows(rrb::ReadRow read, Geometry own, PetscInt first, Geometry whole, RowFacts *of_blocks) {
  RowFacts mine;
  for (index_t p = this_thread(); p < read.A.n; p += index_t(gridDim.x) * threads) {
    const PetscInt row = PetscInt(p);
    mine.add(read(row, Neighbours<directions>(own, first + row),
                  [&] { return Neighbours<directions>(whole, read.A.places(row)); }));
  }
  add_up_block<threads>(mine, of_blocks + blockIdx.x);
}

} // namespace

RankReader::RankReader(const Cuda &on, PetscInt own, const std::vector<PetscInt> &ghosts, PetscInt other_entries,
                       const Grid &g)
    : on_(on), grid_(g), ghost_places_(ghosts), transposed_(std::size_t(other_entries)),
      identity_(std::size_t(own) + ghosts.size()),
      of_blocks_(std::min(blocks_for(own), unsigned(resident_blocks(read_rows, threads)))) {
  if (!other_entries) return;
  check(cudaMemset(transposed_.data(), 0xff, transposed_.bytes()), "cudaMemset"); // no numbers
}

void RankReader::set(const RankRows &rows) {
  rows_ = rows;
  rows_.ghost_places = ghost_places_.data();
  if (!rows_.n) return;
  cuda::mark_identity<<<blocks_for(rows_.n), threads, 0, on_.stream>>>(rows_, identity_.data());
  check_launch("mark_identity");
}

bool RankReader::take_vector(const double *x, double *v) const {
  useless_.clear(on_.stream);
  on_.for_each({0, rows_.n, 0, 1}, TakeVector{identity_.data(), x, v, useless_.device()});
  return !useless_.read(on_.stream);
}

RowFacts RankReader::read(const double *v, double rounding, Positive positive, const rrb::PreparedStencil &to) const {
  if (!rows_.n) return {};
  const OwnGrid own(grid_, rows_.places, rows_.n);
  const rrb::ReadRow read = rrb::reading(rows_, transposed_.data(), identity_.data(), v, grid_, rounding, positive, to);
  const unsigned blocks = unsigned(of_blocks_.size());
  read_rows<<<blocks, threads, 0, on_.stream>>>(read, Geometry(own.grid), own.first, Geometry(grid_),
                                                of_blocks_.data());
  check_launch("read_rows");
  return sum_of_blocks(of_blocks_.data(), blocks, facts_, on_.stream, [] {});
}

std::size_t RankReader::bytes() const {
  return ghost_places_.bytes() + transposed_.bytes() + identity_.bytes() + of_blocks_.bytes();
}

} // namespace petscrrb::cuda
