// The values of a series that is on no grid, on a device.
#include "sparse_values.hpp"

#include "grid/rows_cuda.cuh"

namespace petscrrb::neumann {
namespace {

struct DevicePattern {
  cuda::Buffer<PetscInt> ia, ja, here, there;

  explicit DevicePattern(const SparsePattern &p) : ia(p.ia), ja(p.ja), here(p.here), there(p.there) {}
  PatternView view() const { return {ia.data(), ja.data(), here.data(), there.data()}; }
  double bytes() const { return static_cast<double>(ia.bytes() + ja.bytes() + here.bytes() + there.bytes()); }
};

class DeviceValues final : public SparseValues {
public:
  DeviceValues(const Cuda &on, PetscInt rows, const SparsePlan &plan)
      : on_(on), kept_(plan.kept), scaled_(plan.scaled), threshold_(plan.threshold), relaxed_(plan.omega),
        lower_(plan.lower), second_(plan.second), identity_(static_cast<std::size_t>(rows)) {
    if (kept_ != Kept::triangles) triangle_.resize(static_cast<std::size_t>(plan.lower.entries()));
  }

  CouplingFindings refresh(const Csr &A, double *s, double *lower, double *second) override {
    const cudaStream_t stream = on_.stream;
    double *const triangle = lower ? lower : triangle_.data();
    found_.clear(stream);
    ignored_.clear(stream);
    at_rows(A.n, ReadDiagonal{A, relaxed_, s, identity_.data()}, found_, stream);
    at_rows(A.n, FillTriangle{A.a, lower_.view(), relaxed_, s, identity_.data(), triangle}, found_, stream);
    if (kept_ == Kept::triangles)
      at_rows(A.n, FillTriangle{A.a, second_.view(), relaxed_, s, identity_.data(), second}, ignored_, stream);
    else
      at_rows(A.n, FillProduct{lower_.view(), second_.view(), triangle, s, kept_, scaled_, threshold_, second},
              ignored_, stream);
    return read(found_, stream);
  }

  double bytes() const override {
    return lower_.bytes() + second_.bytes() + static_cast<double>(triangle_.bytes() + identity_.bytes());
  }

private:
  const Cuda &on_;
  const Kept kept_;
  const bool scaled_;
  const double threshold_;
  const Relaxation relaxed_;
  const DevicePattern lower_, second_;
  cuda::Buffer<unsigned char> identity_;
  cuda::Buffer<double> triangle_;
  cuda::Report<DeviceFindings> found_, ignored_;
};

} // namespace

std::unique_ptr<SparseValues> make_sparse_values(const Cuda &on, PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<DeviceValues>(on, rows, plan);
}

} // namespace petscrrb::neumann
