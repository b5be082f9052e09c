// The values of a series that is on no grid, on the host.
#include "sparse_values.hpp"

#include "grid/rows_host.hpp"

namespace petscrrb::neumann {
namespace {

PatternView view(const SparsePattern &p) { return {p.ia.data(), p.ja.data(), p.here.data(), p.there.data()}; }

class HostValues final : public SparseValues {
public:
  HostValues(PetscInt rows, const SparsePlan &plan) : plan_(plan), identity_(static_cast<std::size_t>(rows)) {
    if (plan.kept != Kept::triangles) triangle_.resize(static_cast<std::size_t>(plan.lower.entries()));
  }

  CouplingFindings refresh(const Csr &A, double *s, double *lower, double *second) override {
    CouplingFindings all;
    const Relaxation relaxed(plan_.omega);
    double *const triangle = lower ? lower : triangle_.data();
    at_rows(A.n, ReadDiagonal{A, relaxed, s, identity_.data()}, all);
    at_rows(A.n, FillTriangle{A.a, view(plan_.lower), relaxed, s, identity_.data(), triangle}, all);
    CouplingFindings ignored; // of the other triangle
    if (plan_.kept == Kept::triangles)
      at_rows(A.n, FillTriangle{A.a, view(plan_.second), relaxed, s, identity_.data(), second}, ignored);
    else
      at_rows(A.n,
              FillProduct{view(plan_.lower), view(plan_.second), triangle, s, plan_.kept, plan_.scaled, plan_.threshold,
                          second},
              ignored);
    return all;
  }

  double bytes() const override {
    const double entries = double(plan_.lower.ja.size() + plan_.second.ja.size());
    return 3 * sizeof(PetscInt) * entries + 8.0 * double(triangle_.size()) + double(identity_.size());
  }

private:
  const SparsePlan plan_;
  std::vector<unsigned char> identity_;
  std::vector<double> triangle_;
};

} // namespace

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<HostValues>(rows, plan);
}

} // namespace petscrrb::neumann
