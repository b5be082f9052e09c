// The values of a series that is on no grid, as PCNeumann uses it: on the host and on a CUDA device.
#pragma once

#include "pc/neumann/core/sparse.hpp"
#include "stencil/facts.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

// The values of a pattern in two parts; null where there are none.
struct SparseArrays {
  double *own = nullptr, *ghost = nullptr;
};

class SparseValues {
public:
  virtual ~SparseValues() = default;

  // From a matrix of the same pattern, which lies where this does, as s (of own rows) and the values do. lower: those of
  // the first triangle, none where only the product is kept. Allocates nothing.
  virtual RowFacts refresh(const Csr &, double *s, SparseArrays lower, SparseArrays second) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &);
std::unique_ptr<SparseValues> make_sparse_values(const Cuda &, PetscInt rows, const SparsePlan &);

template <class Backend> class SparseValuesOn final : public SparseValues {
public:
  SparseValuesOn(const Backend &on, PetscInt rows, const SparsePlan &plan)
      : on_(on), kept_(plan.kept), scaled_(plan.scaled), threshold_(plan.threshold), ghosts_(plan.ghosts),
        relaxed_(plan.omega), lower_{Pattern(plan.lower[0]), Pattern(plan.lower[1])}, second_{Pattern(plan.second[0]),
                                                                                              Pattern(plan.second[1])},
        all_(plan.triangle), found_(on), ignored_(on) {
    const std::size_t n = static_cast<std::size_t>(rows + ghosts_);
    identity_.resize(n);
    triangle_.resize(static_cast<std::size_t>(plan.triangle.entries()));
    if (ghosts_) s_.resize(n);
  }

  RowFacts refresh(const Csr &A, double *s, SparseArrays lower, SparseArrays second) override {
    double *const scale = ghosts_ ? s_.data() : s;
    const ReadDiagonal diagonal{A, relaxed_, scale, identity_.data()};
    const auto fill = [&](const PatternView &own, const PatternView &ghost, SparseArrays to, bool sums) {
      return FillTriangle{A.a, {own, ghost}, relaxed_, scale, identity_.data(), {to.own, to.ghost}, sums};
    };
    found_.clear();
    ignored_.clear();
    found_.at_rows(A.n, diagonal);
    ignored_.at_rows(ghosts_, RowsFrom<ReadDiagonal>{diagonal, A.n});
    if (kept_ == Kept::triangles) {
      found_.at_rows(A.n, fill(lower_[0].view(), lower_[1].view(), lower, true));
      found_.at_rows(A.n, fill(second_[0].view(), second_[1].view(), second, false));
    } else {
      found_.at_rows(A.n + ghosts_, fill(all_.view(), {}, {triangle_.data(), nullptr}, true));
      ignored_.at_rows(A.n, FillProduct{all_.view(),
                                        {second_[0].view(), second_[1].view()},
                                        triangle_.data(),
                                        scale,
                                        kept_,
                                        scaled_,
                                        threshold_,
                                        {second.own, second.ghost}});
    }
    if (ghosts_) on_.copy(s, scale, static_cast<std::size_t>(A.n));
    return found_.read();
  }

  double bytes() const override {
    double sum = all_.bytes() + static_cast<double>(triangle_.bytes() + s_.bytes() + identity_.bytes());
    for (int part = 0; part < 2; ++part) sum += lower_[part].bytes() + second_[part].bytes();
    return sum;
  }

private:
  template <class T> using Array = typename Backend::template Array<T>;

  class Pattern {
  public:
    explicit Pattern(const SparsePattern &p) {
      Backend::assign(ia_, p.ia);
      Backend::assign(ja_, p.ja);
      Backend::assign(here_, p.here);
      Backend::assign(there_, p.there);
    }
    PatternView view() const {
      return ia_.size() > 1 ? PatternView{ia_.data(), ja_.data(), here_.data(), there_.data()} : PatternView{};
    }
    double bytes() const { return static_cast<double>(ia_.bytes() + ja_.bytes() + here_.bytes() + there_.bytes()); }

  private:
    Array<PetscInt> ia_, ja_, here_, there_;
  };

  const Backend &on_;
  const Kept kept_;
  const bool scaled_;
  const double threshold_;
  const PetscInt ghosts_;
  const Relaxation relaxed_;
  const Pattern lower_[2], second_[2], all_;
  Array<unsigned char> identity_;
  Array<double> triangle_, s_; // s_: with that of ghosts
  RowLoops<Backend> found_, ignored_;
};

} // namespace petscrrb::neumann
