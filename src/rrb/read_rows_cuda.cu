// See read_rows_cuda.hpp.
#include "rrb/read_rows_cuda.hpp"

#include "backend/cuda.cuh"
#include "grid/reach_cuda.cuh"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace petscrrb::cuda {
namespace {

struct MarkIdentity {
  RankRows rows;
  unsigned char *identity;

  PETSCRRB_HD void operator()(index_t p, index_t) const { identity[p] = rows.is_identity(PetscInt(p)); }
};

struct ReadOnDevice {
  rrb::ReadRow read;
  Geometry grid;

  __device__ rrb::RowFacts operator()(PetscInt p) const {
    return read(p, Neighbours<directions>(grid, read.A.places(p)));
  }
};

// All that write *useless write the same.
struct TakeVector {
  const unsigned char *identity;
  const double *x;
  double *v;
  int *useless;

  PETSCRRB_HD void operator()(index_t p, index_t) const {
    v[p] = identity[p] ? 1.0 : x[p];
    if (v[p] == 0.0 || v[p] * 0.0 != 0.0) *useless = 1; // NaN if v is not finite
  }
};

struct AddFacts {
  PETSCRRB_HD rrb::RowFacts operator()(rrb::RowFacts a, const rrb::RowFacts &b) const {
    a.add(b);
    return a;
  }
};

// scratch NULL: how many bytes it takes
std::size_t sum_facts(void *scratch, std::size_t bytes, const ReadOnDevice &read, rrb::RowFacts *to,
                      cudaStream_t stream) {
  check(cub::DeviceReduce::TransformReduce(scratch, bytes, thrust::counting_iterator<PetscInt>(0), to, read.read.A.n,
                                           AddFacts(), read, rrb::RowFacts(), stream),
        "reading rows");
  return bytes;
}

} // namespace

RankReader::RankReader(const Cuda &on, PetscInt own, const std::vector<PetscInt> &ghosts, PetscInt other_entries,
                       const Grid &g)
    : on_(on), grid_(g), ghost_places_(ghosts), transposed_(std::size_t(other_entries)),
      identity_(std::size_t(own) + ghosts.size()) {
  ReadOnDevice none{{}, Geometry(g)};
  none.read.A.n = own;
  scratch_.resize(sum_facts(nullptr, 0, none, nullptr, nullptr));
}

void RankReader::set(const RankRows &rows) {
  rows_ = rows;
  rows_.ghost_places = ghost_places_.data();
  on_.for_each({0, rows_.n, 0, 1}, MarkIdentity{rows_, identity_.data()});
}

bool RankReader::take_vector(const double *x, double *v) const {
  useless_.clear(on_.stream);
  on_.for_each({0, rows_.n, 0, 1}, TakeVector{identity_.data(), x, v, useless_.device()});
  return !useless_.read(on_.stream);
}

rrb::RowFacts RankReader::read(const double *v, double rounding, Positive positive,
                               const rrb::PreparedStencil &to) const {
  if (!rows_.n) return {};
  const ReadOnDevice read{{rows_, transposed_.data(), identity_.data(), v, grid_.n[0] * (grid_.n[1] - 1), grid_.points,
                           rounding, positive, to},
                          Geometry(grid_)};
  (void)sum_facts(scratch_.data(), scratch_.size(), read, facts_.device(), on_.stream);
  return facts_.read(on_.stream);
}

std::size_t RankReader::bytes() const {
  return ghost_places_.bytes() + transposed_.bytes() + identity_.bytes() + scratch_.bytes();
}

} // namespace petscrrb::cuda
