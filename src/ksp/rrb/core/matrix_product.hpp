// Conjugate gradients with the rows of a matrix: the product is by its diagonals, where it is symmetric and has few, as on grids, else by
// its rows as PETSc stores them.
#pragma once

#include "exec/row_kinds.hpp"
#include "exec/sums.hpp"
#include "grid/csr.hpp"
#include "ksp/rrb/core/full_cg.hpp"
#include "stencil/facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace petscrrb::rrbsolver {

// --- by rows ---

// q = A p; returns p q
struct RowTimes {
  Couplings<PetscScalar, PetscInt> couplings;
  const double *p;
  double *q;

  PETSCRRB_HD double own(index_t) const { return 0.0; }
  PETSCRRB_HD double term(index_t, double weight, PetscInt column) const { return weight * p[column]; }
  PETSCRRB_HD double take(index_t i, double product) const {
    q[i] = product;
    return p[i] * product;
  }
};

// --- by diagonals: the main one, and so many pairs above and below it, of which the upper ones are kept ---

template <int pairs> struct Diagonals {
  index_t n;
  double *main, *upper[pairs]; // a_ii, and a_ij at i
  index_t offset[pairs];       // j - i

  // which pair this offset is of; `pairs`: of none
  PETSCRRB_HD int find(index_t of) const {
    int found = pairs;
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k)
      if (offset[k] == of) found = k;
    return found;
  }

  // as rows with kinds: main, then above and below of each pair; 0 for what lies outside of the matrix
  static constexpr int count = 2 * pairs + 1;
  PETSCRRB_HD index_t size() const { return n; }
  PETSCRRB_HD double value(int k, index_t i) const {
    if (!k) return main[i];
    const int pair = (k - 1) / 2;
    if (k % 2) return upper[pair][i];
    return i < offset[pair] ? 0.0 : upper[pair][i - offset[pair]];
  }
};

// Puts a row's entries on and above the main diagonal where they belong.
template <int pairs> struct ReadUpper {
  Csr A;
  Diagonals<pairs> to;

  PETSCRRB_HD RowFacts operator()(index_t i) const {
    RowFacts found;
    double main = 0.0, value[pairs] = {}, check = 0.0;
    for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
      const index_t offset = A.ja[e] - i;
      const double a = A.a[e];
      check += not_finite(a);
      if (offset == 0) main = a;
      const int at = to.find(offset < 0 ? -offset : offset);
      found.foreign |= offset != 0 && at == pairs;
      PETSCRRB_UNROLL
      for (int k = 0; k < pairs; ++k)
        if (offset > 0 && k == at) value[k] = a;
    }
    to.main[i] = main;
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k) to.upper[k][i] = value[k];
    found.not_finite = check != 0.0;
    return found;
  }
};
// Whether those below are the same but for rounding. A pass of its own: partners in other rows would be read from all over memory.
template <int pairs> struct CompareLower {
  Csr A;
  Diagonals<pairs> with;

  PETSCRRB_HD RowFacts operator()(index_t i) const {
    constexpr double rounding = 1e-15;
    RowFacts found;
    double value[pairs] = {};
    for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
      const int at = with.find(i - A.ja[e]);
      PETSCRRB_UNROLL
      for (int k = 0; k < pairs; ++k)
        if (k == at) value[k] = A.a[e];
    }
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k)
      if (i >= with.offset[k]) {
        const double above = with.upper[k][i - with.offset[k]];
        if (!(fabs(above - value[k]) <= rounding * fabs(above))) found.asymmetry = 1.0;
      }
    return found;
  }
};

// q = A p; returns p q. inner: of rows that have all diagonals
template <int pairs, bool inner> struct DiagonalsTimes {
  Diagonals<pairs> a;
  const double *p;
  double *q;

  PETSCRRB_HD double operator()(index_t i) const {
    double sum = a.main[i] * p[i];
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k) {
      const index_t offset = a.offset[k];
      if (inner || i + offset < a.n) sum += a.upper[k][i] * p[i + offset];
      if (inner || i >= offset) sum += a.upper[k][i - offset] * p[i - offset];
    }
    q[i] = sum;
    return p[i] * sum;
  }
  PETSCRRB_HD double operator()(index_t h, index_t k) const { return (*this)(ListAsBox::entry(h, k)); }
};

// q = A p by the kinds of its rows; returns p q, with the bits of the product by diagonals. In two parts, as the next row may be read before q is
// stored. Numbers are of 32 bits: most of the time goes into instructions.
template <int pairs> struct KindsTimes {
  int n, most; // the largest offset
  int offset[pairs];
  const std::uint8_t *kind;
  const double *values; // as in Diagonals, of each kind
  const double *p;
  double *q;

  struct Product {
    double p, q;
  };

  KindsTimes(const Diagonals<pairs> &a, const std::uint8_t *kind_of, const double *of_kinds, const double *from,
             double *to)
      : n(int(a.n)), most(0), kind(kind_of), values(of_kinds), p(from), q(to) {
    for (int k = 0; k < pairs; ++k) offset[k] = int(a.offset[k]), most = std::max(most, offset[k]);
  }
  PETSCRRB_HD Product compute(int i) const { return i >= most && i < n - most ? product<true>(i) : product<false>(i); }
  PETSCRRB_HD double put(int i, const Product &x) const {
    q[i] = x.q;
    return x.p * x.q;
  }

private:
  // inner: there are rows at all offsets
  template <bool inner> PETSCRRB_HD Product product(int i) const {
    const double *const value = values + kind[i] * Diagonals<pairs>::count;
    const double here = p[i];
    double sum = value[0] * here;
    PETSCRRB_UNROLL
    for (int k = 0; k < pairs; ++k) {
      if (inner || i < n - offset[k]) sum += value[2 * k + 1] * p[i + offset[k]];
      if (inner || i >= offset[k]) sum += value[2 * k + 2] * p[i - offset[k]];
    }
    return {here, sum};
  }
};

// On a device, where there are few kinds of rows, these are read. A host, whose vector loops would look up each value by itself, gains nothing.
template <class Backend> class MatrixProduct {
public:
  explicit MatrixProduct(const Backend &on) : on_(on), loops_(on) {}

  index_t rows(index_t n) const { return Backend::on_device ? 0 : ListAsBox::rows(n); }
  static index_t most_terms(index_t n) { return CouplingSums<Backend>::most_terms(n); }
  long version() const { return version_; }
  // that there are of the matrix; 0: its own rows are read
  int diagonals() const { return pairs_ ? 2 * pairs_ + 1 : 0; }
  bool by_kinds() const { return by_kinds_; } // of rows
  std::size_t bytes() const { return diagonals_.bytes() + kinds_.bytes(); }

  // same_pattern: as at the last time. Waits.
  void refresh(const Csr &A, bool same_pattern) {
    version_ += !same_pattern || A.ia != A_.ia || A.ja != A_.ja || A.a != A_.a;
    A_ = A;
    if (!same_pattern) look();
    if (!pairs_) return;
    bool read = false;
    with_diagonals([&](const auto &to) { read = read_values(to); });
    if (read) return;
    pairs_ = 0, by_kinds_ = false;
    resize();
    ++version_;
  }

  void multiply(const Backend &on, double *p, double *q, const Scalars<Backend> &scalars,
                PartialSum<Backend> &partial) const {
    if (!pairs_) {
      const RowTimes times{{A_.ia, A_.ia + 1, A_.ja, A_.a}, p, q};
      const Terms curvature = CouplingSums<Backend>::terms(on, A_.n, on_average_, times, partial);
      return partial.put_then(on, curvature, scalars.data() + curvature_b1, AfterProduct{scalars.data()});
    }
    with_diagonals([&](const auto &a) {
      constexpr int pairs = std::extent<decltype(a.offset)>::value;
      const DiagonalsTimes<pairs, false> at_rim{a, p, q};
      if constexpr (Backend::on_device) {
        const Terms curvature =
            by_kinds_ ? partial.terms_of_list(on, a.n, KindsTimes<pairs>(a, kinds_.kind(), kinds_.values(), p, q))
                      : partial.terms_of_list(on, a.n, at_rim);
        partial.put_then(on, curvature, scalars.data() + curvature_b1, AfterProduct{scalars.data()});
      } else {
        scalars.sum(on, curvature_b1, ListAsBox::box(a.n), inner(a), DiagonalsTimes<pairs, true>{a, p, q},
                    AtEntry<DiagonalsTimes<pairs, false>>{at_rim, a.n});
        on.for_each({0, 1, 0, 1}, AfterProduct{scalars.data()});
      }
    });
  }

private:
  static constexpr int most_pairs = 13; // of 27 points

  // whose rows, of ListAsBox's, have all diagonals
  template <int pairs> static Range2 inner(const Diagonals<pairs> &a) {
    const index_t most = *std::max_element(a.offset, a.offset + pairs);
    return {0, ListAsBox::width, ListAsBox::rows(most), std::max<index_t>(a.n - most, 0) / ListAsBox::width};
  }

  // f(diagonals), with their number as a constant
  template <class F> void with_diagonals(const F &f) const {
    const auto of = [&](auto number) {
      constexpr int pairs = decltype(number)::value;
      Diagonals<pairs> d{A_.n, diagonals_.data(), {}, {}};
      for (int k = 0; k < pairs; ++k) d.upper[k] = d.main + (k + 1) * index_t(A_.n), d.offset[k] = offset_[k];
      f(d);
    };
    if (pairs_ == 1) return of(std::integral_constant<int, 1>());
    if (pairs_ == 2) return of(std::integral_constant<int, 2>());
    if (pairs_ == 3) return of(std::integral_constant<int, 3>());
    if (pairs_ == 4) return of(std::integral_constant<int, 4>());
    of(std::integral_constant<int, most_pairs>());
  }

  // that are worth looking for
  bool has_kinds() const {
    return Backend::on_device && pairs_ && A_.n >= least_rows_for_kinds && A_.n <= std::numeric_limits<int>::max();
  }
  void resize() {
    const std::size_t wanted = pairs_ ? (pairs_ + 1) * std::size_t(A_.n) : 0;
    if (diagonals_.size() != wanted) diagonals_.resize(wanted);
    if (Backend::on_device) kinds_.resize(has_kinds() ? A_.n : 0, 2 * pairs_ + 1);
  }

  // Which diagonals there are, by some rows in the middle: on a grid these have a neighbour along each direction, before or behind them.
  // Where others have more, their values do not fit.
  void look() {
    constexpr PetscInt window = 256;
    const PetscInt first = A_.n / 2, rows = std::min(A_.n - first, window);
    pairs_ = 0, by_kinds_ = false;
    if (!A_.n) return resize();
    const std::vector<PetscInt> begin = on_.to_host(A_.ia + first, rows + 1);
    on_average_ = double(on_.to_host(A_.ia + A_.n, 1)[0]) / double(A_.n);
    std::vector<index_t> offsets;
    if (begin[rows] - begin[0] <= (2 * most_pairs + 1) * rows) {
      const std::vector<PetscInt> columns = on_.to_host(A_.ja + begin[0], begin[rows] - begin[0]);
      for (PetscInt i = 0; i < rows; ++i)
        for (PetscInt e = begin[i]; e < begin[i + 1]; ++e)
          offsets.push_back(std::abs(index_t(columns[e - begin[0]]) - (first + i)));
      std::sort(offsets.begin(), offsets.end());
      offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
      if (!offsets.empty() && offsets.front() == 0) offsets.erase(offsets.begin());
    }
    const std::size_t pairs = offsets.size();
    if ((pairs >= 1 && pairs <= 4) || pairs == most_pairs) {
      pairs_ = int(pairs);
      std::copy(offsets.begin(), offsets.end(), offset_);
    }
    resize();
  }

  template <int pairs> bool read_values(const Diagonals<pairs> &to) {
    loops_.clear();
    loops_.at_rows(A_.n, ReadUpper<pairs>{A_, to});
    loops_.at_rows(A_.n, CompareLower<pairs>{A_, to});
    if (has_kinds()) kinds_.look(on_, to);
    const RowFacts found = loops_.read();
    const bool by_kinds = has_kinds() && kinds_.are_few(on_);
    version_ += by_kinds != by_kinds_;
    by_kinds_ = by_kinds;
    return !found.foreign && !found.not_finite && found.asymmetry == 0.0;
  }

  const Backend &on_;
  long version_ = 0;
  Csr A_;
  double on_average_ = 1.0; // entries of a row
  int pairs_ = 0;           // 0: by rows
  index_t offset_[most_pairs] = {};
  typename Backend::template Array<double> diagonals_;
  bool by_kinds_ = false;
  AwaitedKinds<Backend> kinds_;
  RowLoops<Backend> loops_;
};

template <class Backend, class Inside>
class MatrixCG : public FullCG<Backend, Inside, MatrixProduct<Backend>, MatrixIteration> {
  using Base = FullCG<Backend, Inside, MatrixProduct<Backend>, MatrixIteration>;

public:
  MatrixCG(const Backend &on, const Inside &inside) : Base(on, inside, on) {}
  void refresh(const Csr &A, bool same_pattern) override { Base::product_.refresh(A, same_pattern); }
  int diagonals() const override { return Base::product_.diagonals(); }
  bool by_kinds() const override { return Base::product_.by_kinds(); }
};

} // namespace petscrrb::rrbsolver
