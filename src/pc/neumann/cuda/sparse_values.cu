// The values of a series that is on no grid, on a device.
#include "pc/neumann/core/sparse_values.hpp"

#include "stencil/cuda/rows.cuh"

namespace petscrrb::neumann {
namespace {

struct DevicePattern {
  cuda::Buffer<PetscInt> ia, ja, here, there;

  explicit DevicePattern(const SparsePattern &p) : ia(p.ia), ja(p.ja), here(p.here), there(p.there) {}
  PatternView view() const {
    return ia.size() > 1 ? PatternView{ia.data(), ja.data(), here.data(), there.data()} : PatternView{};
  }
  double bytes() const { return static_cast<double>(ia.bytes() + ja.bytes() + here.bytes() + there.bytes()); }
};

struct SplitPattern {
  DevicePattern own, ghost;

  explicit SplitPattern(const SparsePattern p[2]) : own(p[0]), ghost(p[1]) {}
  double bytes() const { return own.bytes() + ghost.bytes(); }
};

class DeviceValues final : public SparseValues {
public:
  DeviceValues(const Cuda &on, PetscInt rows, const SparsePlan &plan)
      : on_(on), kept_(plan.kept), scaled_(plan.scaled), threshold_(plan.threshold), ghosts_(plan.ghosts),
        relaxed_(plan.omega), lower_(plan.lower), second_(plan.second), all_(plan.triangle),
        identity_(static_cast<std::size_t>(rows + plan.ghosts)),
        triangle_(static_cast<std::size_t>(plan.triangle.entries())) {
    if (ghosts_) s_.resize(identity_.size());
  }

  RowFacts refresh(const Csr &A, double *s, SparseArrays lower, SparseArrays second) override {
    const cudaStream_t stream = on_.stream;
    double *const scale = ghosts_ ? s_.data() : s;
    const ReadDiagonal diagonal{A, relaxed_, scale, identity_.data()};
    found_.clear(stream);
    ignored_.clear(stream);
    at_rows(A.n, diagonal, found_, stream);
    at_rows(ghosts_, RowsFrom<ReadDiagonal>{diagonal, A.n}, ignored_, stream);
    if (kept_ == Kept::triangles) {
      at_rows(A.n, fill(A, lower_.own.view(), lower_.ghost.view(), scale, lower, true), found_, stream);
      at_rows(A.n, fill(A, second_.own.view(), second_.ghost.view(), scale, second, false), found_, stream);
    } else {
      at_rows(A.n + ghosts_, fill(A, all_.view(), {}, scale, {triangle_.data(), nullptr}, true), found_, stream);
      at_rows(A.n,
              FillProduct{all_.view(),
                          {second_.own.view(), second_.ghost.view()},
                          triangle_.data(),
                          scale,
                          kept_,
                          scaled_,
                          threshold_,
                          {second.own, second.ghost}},
              ignored_, stream);
    }
    if (ghosts_) on_.copy(s, scale, static_cast<std::size_t>(A.n));
    return read(found_, stream);
  }

  double bytes() const override {
    return lower_.bytes() + second_.bytes() + all_.bytes() +
           static_cast<double>(triangle_.bytes() + s_.bytes() + identity_.bytes());
  }

private:
  FillTriangle fill(const Csr &A, const PatternView &own, const PatternView &ghost, const double *s, SparseArrays to,
                    bool sums) const {
    return {A.a, {own, ghost}, relaxed_, s, identity_.data(), {to.own, to.ghost}, sums};
  }

  const Cuda &on_;
  const Kept kept_;
  const bool scaled_;
  const double threshold_;
  const PetscInt ghosts_;
  const Relaxation relaxed_;
  const SplitPattern lower_, second_;
  const DevicePattern all_;
  cuda::Buffer<unsigned char> identity_;
  cuda::Buffer<double> triangle_, s_; // s_: with that of ghosts
  cuda::Report<SharedFacts> found_, ignored_;
};

} // namespace

std::unique_ptr<SparseValues> make_sparse_values(const Cuda &on, PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<DeviceValues>(on, rows, plan);
}

} // namespace petscrrb::neumann
