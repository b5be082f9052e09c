// The values of a series that is on no grid, as PCNeumann uses it: on the host and on a CUDA device.
#pragma once

#include "pc/neumann/core/sparse.hpp"
#include "stencil/facts.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

class SparseValues {
public:
  virtual ~SparseValues() = default;

  // From a matrix of the same pattern, which lies where this does, as s (of own rows) and the values do: those of own columns and
  // of ghosts', null where there are none. lower: of the first triangle, none where only the product is kept. Allocates nothing.
  virtual RowFacts refresh(const Csr &, double *s, double *const lower[2], double *const second[2]) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &);
std::unique_ptr<SparseValues> make_sparse_values(const Cuda &, PetscInt rows, const SparsePlan &);

template <class Backend> class SparseValuesOn final : public SparseValues {
public:
  SparseValuesOn(const Backend &on, PetscInt rows, const SparsePlan &plan)
      : on_(on), choice_(plan), lower_{plan.lower[0], plan.lower[1]}, second_{plan.second[0], plan.second[1]},
        all_(plan.triangle), found_(on), ignored_(on) {
    const std::size_t n = static_cast<std::size_t>(rows + choice_.ghosts);
    identity_.resize(n);
    triangle_.resize(static_cast<std::size_t>(plan.triangle.entries()));
    if (choice_.ghosts) s_.resize(n);
  }

  RowFacts refresh(const Csr &A, double *s, double *const lower[2], double *const second[2]) override {
    const PetscInt ghosts = choice_.ghosts;
    const Relaxation relaxed(choice_.omega);
    double *const scale = ghosts ? s_.data() : s;
    const ReadDiagonal diagonal{A, relaxed, scale, identity_.data()};
    const auto triangle = [&](const PatternView &own, const PatternView &ghost, bool sums) {
      return FillTriangle{A.a, {own, ghost}, relaxed, scale, identity_.data(), sums};
    };
    const PatternView own = second_[0].view(second[0]), ghost = second_[1].view(second[1]);
    found_.clear();
    ignored_.clear();
    found_.at_rows(A.n, diagonal);
    ignored_.at_rows(ghosts, RowsFrom<ReadDiagonal>{diagonal, A.n});
    if (choice_.kept == Kept::triangles) {
      found_.at_rows(A.n, triangle(lower_[0].view(lower[0]), lower_[1].view(lower[1]), true));
      found_.at_rows(A.n, triangle(own, ghost, false));
    } else {
      const PatternView all = all_.view(triangle_.data());
      found_.at_rows(A.n + ghosts, triangle(all, {}, true));
      ignored_.at_rows(A.n, FillProduct{all, {own, ghost}, scale, choice_});
    }
    if (ghosts) on_.copy(s, scale, static_cast<std::size_t>(A.n));
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
    Pattern(const SparsePattern &p) {
      Backend::assign(ia_, p.ia);
      Backend::assign(ja_, p.ja);
      Backend::assign(here_, p.here);
      Backend::assign(there_, p.there);
    }
    PatternView view(double *value) const {
      return ia_.size() > 1 ? PatternView{ia_.data(), ja_.data(), here_.data(), there_.data(), value} : PatternView{};
    }
    double bytes() const { return static_cast<double>(ia_.bytes() + ja_.bytes() + here_.bytes() + there_.bytes()); }

  private:
    Array<PetscInt> ia_, ja_, here_, there_;
  };

  const Backend &on_;
  const SparseChoice choice_;
  const Pattern lower_[2], second_[2], all_;
  Array<unsigned char> identity_;
  Array<double> triangle_, s_; // s_: with that of ghosts
  RowLoops<Backend> found_, ignored_;
};

} // namespace petscrrb::neumann
