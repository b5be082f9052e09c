// What all inverses of symmetric matrices on the host need: connected components, and products with dense ones.
#pragma once

#include <petscsystypes.h>

#include <cstddef>
#include <vector>

namespace petscrrb::dense {

// Of a sparse matrix. In an M-matrix a component has one null direction at most, and its row sums tell of it.
class Components {
public:
  enum class Kind : char {
    regular,  // there are positive row sums and no negative ones
    singular, // all are 0: the null vector is constant
    unknown   // there are negative ones: the factorization decides
  };

  void resize(PetscInt n) { of_.assign(n, 0), stack_.assign(n, 0), kind_.assign(n, Kind::regular); }
  // By the couplings that are not 0. excess: row sums, exact where they are 0.
  template <class Int> void find(const Int *ia, const Int *ja, const double *a, const double *excess) {
    count_ = 0;
    of_.assign(of_.size(), -1);
    for (PetscInt seed = 0; seed < PetscInt(of_.size()); ++seed) {
      if (of_[seed] >= 0) continue;
      PetscInt top = 0;
      Kind kind = Kind::singular;
      const auto add = [&](PetscInt i) {
        of_[i] = count_, stack_[top++] = i;
        if (excess[i] > 0 && kind == Kind::singular) kind = Kind::regular;
        if (excess[i] < 0) kind = Kind::unknown;
      };
      for (add(seed); top;) {
        const PetscInt i = stack_[--top];
        for (Int p = ia[i]; p < ia[i + 1]; ++p)
          if (a[p] != 0.0 && of_[ja[p]] < 0) add(ja[p]);
      }
      kind_[count_++] = kind;
    }
  }

  PetscInt count() const { return count_; }
  PetscInt of(PetscInt unknown) const { return of_[unknown]; }
  Kind kind(PetscInt component) const { return kind_[component]; }
  std::size_t bytes() const { return (of_.size() + stack_.size()) * sizeof(PetscInt) + kind_.size(); }

private:
  std::vector<PetscInt> of_, stack_;
  std::vector<Kind> kind_;
  PetscInt count_ = 0;
};

// The mean of a and its transpose, n x n.
inline void make_symmetric(double *a, PetscInt n) {
#pragma omp parallel for schedule(dynamic, 16)
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i < j; ++i) {
      double &lower = a[std::size_t(j) * n + i], &upper = a[std::size_t(i) * n + j];
      lower = upper = 0.5 * (lower + upper);
    }
}

// put(i, (a x)_i). Four sums a row, in this order: the same bits from any compiler.
template <class Put> void multiply(const double *a, PetscInt n, const double *x, const Put &put) {
  constexpr PetscInt serial_below = 256;
#pragma omp parallel for schedule(static) if (n > serial_below)
  for (PetscInt i = 0; i < n; ++i) {
    const double *row = a + std::size_t(i) * n;
    double sum[4] = {};
    PetscInt j = 0;
    for (; j + 4 <= n; j += 4)
      for (int k = 0; k < 4; ++k) sum[k] += row[j + k] * x[j + k];
    for (; j < n; ++j) sum[0] += row[j] * x[j];
    put(i, sum[0] + sum[1] + sum[2] + sum[3]);
  }
}

} // namespace petscrrb::dense
