// See read_rows_cuda.hpp.
#include "rrb/read_rows_cuda.hpp"

#include "backend/cuda.cuh"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace petscrrb::cuda {
namespace {

struct MarkIdentity {
  Csr rows;
  unsigned char *identity;

  PETSCRRB_HD void operator()(index_t p, index_t) const { identity[p] = is_identity(rows, PetscInt(p)); }
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
std::size_t sum_facts(void *scratch, std::size_t bytes, const rrb::ReadRow &read, rrb::RowFacts *to,
                      cudaStream_t stream) {
  check(cub::DeviceReduce::TransformReduce(scratch, bytes, thrust::counting_iterator<PetscInt>(0), to, read.A.n,
                                           AddFacts(), read, rrb::RowFacts(), stream),
        "reading rows");
  return bytes;
}

} // namespace

RankRows::RankRows(const Cuda &on, const std::vector<PetscInt> &ia, const std::vector<PetscInt> &ja, PetscInt own,
                   PetscInt behind, const rrb::RowPlaces &places, const std::vector<PetscInt> &order, const Grid &g)
    : on_(on), own_(own), all_(own + behind), nx_(g.n[0]), ny_(g.n[1]), points_(g.points), ia_(ia), ja_(ja),
      transposed_(places.transposed), order_(order), direction_(places.direction), a_(ja.size()), identity_(all_) {
  rrb::ReadRow none{};
  none.A.n = own;
  scratch_.resize(sum_facts(nullptr, 0, none, nullptr, nullptr));
}

void RankRows::mark_identity() const { on_.for_each({0, all_, 0, 1}, MarkIdentity{rows(), identity_.data()}); }

bool RankRows::take_vector(const double *x, double *v) const {
  useless_.clear(on_.stream);
  on_.for_each({0, own_, 0, 1}, TakeVector{identity_.data(), x, v, useless_.device()});
  return !useless_.read(on_.stream);
}

rrb::RowFacts RankRows::read(const double *v, double rounding, Positive positive,
                             const rrb::PreparedStencil &to) const {
  if (!own_) return {};
  (void)sum_facts(scratch_.data(), scratch_.size(),
                  {rows(), direction_.data(), transposed_.data(), order_.data(), identity_.data(), v, nx_, ny_, points_,
                   rounding, positive, to},
                  facts_.device(), on_.stream);
  return facts_.read(on_.stream);
}

std::size_t RankRows::bytes() const {
  return ia_.bytes() + ja_.bytes() + transposed_.bytes() + order_.bytes() + direction_.bytes() + a_.bytes() +
         identity_.bytes() + scratch_.bytes();
}

} // namespace petscrrb::cuda
