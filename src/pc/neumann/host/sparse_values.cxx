// The values of a series that is on no grid, on the host.
#include "pc/neumann/core/sparse_values.hpp"

#include "stencil/host/rows.hpp"

#include <algorithm>

namespace petscrrb::neumann {
namespace {

PatternView view(const SparsePattern &p) {
  return p.ia.size() > 1 ? PatternView{p.ia.data(), p.ja.data(), p.here.data(), p.there.data()} : PatternView{};
}

class HostValues final : public SparseValues {
public:
  HostValues(PetscInt rows, const SparsePlan &plan)
      : plan_(plan), identity_(static_cast<std::size_t>(rows + plan.ghosts)),
        triangle_(static_cast<std::size_t>(plan.triangle.entries())) {
    if (plan.ghosts) s_.resize(identity_.size());
  }

  RowFacts refresh(const Csr &A, double *s, SparseArrays lower, SparseArrays second) override {
    RowFacts all, ignored;
    const Relaxation relaxed(plan_.omega);
    double *const scale = plan_.ghosts ? s_.data() : s;
    const ReadDiagonal diagonal{A, relaxed, scale, identity_.data()};
    at_rows(A.n, diagonal, all);
    at_rows(plan_.ghosts, RowsFrom<ReadDiagonal>{diagonal, A.n}, ignored);
    if (plan_.kept == Kept::triangles) {
      at_rows(A.n, triangle(A, plan_.lower[0], plan_.lower[1], scale, lower, true), all);
      at_rows(A.n, triangle(A, plan_.second[0], plan_.second[1], scale, second, false), all);
    } else {
      at_rows(A.n + plan_.ghosts, triangle(A, plan_.triangle, {}, scale, {triangle_.data(), nullptr}, true), all);
      at_rows(A.n,
              FillProduct{view(plan_.triangle),
                          {view(plan_.second[0]), view(plan_.second[1])},
                          triangle_.data(),
                          scale,
                          plan_.kept,
                          plan_.scaled,
                          plan_.threshold,
                          {second.own, second.ghost}},
              ignored);
    }
    if (plan_.ghosts) std::copy_n(scale, A.n, s);
    return all;
  }

  double bytes() const override {
    double entries = double(plan_.triangle.ja.size());
    for (int part = 0; part < 2; ++part) entries += double(plan_.lower[part].ja.size() + plan_.second[part].ja.size());
    return 3 * sizeof(PetscInt) * entries + 8.0 * double(triangle_.size() + s_.size()) + double(identity_.size());
  }

private:
  FillTriangle triangle(const Csr &A, const SparsePattern &own, const SparsePattern &ghost, const double *s,
                        SparseArrays to, bool sums) const {
    return {A.a, {view(own), view(ghost)}, Relaxation(plan_.omega), s, identity_.data(), {to.own, to.ghost}, sums};
  }

  const SparsePlan plan_;
  std::vector<unsigned char> identity_;
  std::vector<double> triangle_, s_; // s_: with that of ghosts
};

} // namespace

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<HostValues>(rows, plan);
}

} // namespace petscrrb::neumann
