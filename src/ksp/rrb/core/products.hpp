// The product of conjugate gradients on all unknowns: with a stencil on a grid, or with the rows of a matrix as PETSc stores them.
#pragma once

#include "exec/sums.hpp"
#include "grid/csr.hpp"
#include "ksp/rrb/core/iteration.hpp"
#include "pc/rrb/graph/couplings.hpp"

#include <utility>

namespace petscrrb::rrbsolver {

// Each has
//   refresh(matrix), whose arrays it borrows
//   version(): another one where these have moved
//   multiply(on, p, q, scalars, partial): q = A p, alpha by (p, q), with up to most_terms(n) terms of the partial sum and `rows` of scalars

template <class V, class K> struct NaturalMatrix {
  V X, E, N;
  K NE, NW;
};

// q = A p; returns p q
template <class M, class P, class Q> struct StoreProductNode {
  GridProduct<M, P> product;
  Q q;

  PETSCRRB_HD double operator()(index_t a, index_t b) const { return product.x(a, b) * (q.at(a, b) = product(a, b)); }
};

template <class Backend> class StencilProduct {
public:
  explicit StencilProduct(const Factorization &core) : x_(core.extent()), box_{x_.x.lo, x_.x.hi, x_.y.lo, x_.y.hi} {}

  index_t rows() const { return x_.y.hi - x_.y.lo; }
  static index_t most_terms(index_t) { return 0; }
  long version() const { return 0; }

  // Weights and excesses; a.v is not used.
  void refresh(const PreparedStencil &a) { matrix_ = a; }

  void multiply(const Backend &on, double *p, double *q, const Scalars<Backend> &scalars, PartialSum<Backend> &) const {
    if (matrix_.NE)
      sum(on, p, q, scalars, [&](auto w, double *c) { return around(w, c); });
    else
      sum(on, p, q, scalars, [&](auto, double *) { return Zero{}; });
    on.for_each({0, 1, 0, 1}, AfterProduct{scalars.data()});
  }

private:
  // an array in natural order, by the coordinates of its nodes
  Strided<1> around(Inner, double *a) const {
    const index_t pitch = x_.x.hi - x_.x.lo;
    return {a - (x_.y.lo * pitch + x_.x.lo), pitch, 1};
  }
  Guarded<double> around(Edge, double *a) const {
    const Strided<1> v = around(Inner{}, a);
    return {{v.p, v.row, 1}, box_, x_.x.periodic ? x_.x.n : 0, x_.y.periodic ? x_.y.n : 0};
  }
  template <class Corner>
  void sum(const Backend &on, double *p, double *q, const Scalars<Backend> &scalars, const Corner &corner) const {
    const auto q_ = around(Inner{}, q);
    const auto at = [&](auto w) {
      const auto array = [&](double *c) { return around(w, c); };
      const NaturalMatrix<decltype(array(nullptr)), decltype(corner(w, nullptr))> m{
          array(matrix_.X), array(matrix_.E), array(matrix_.N), corner(w, matrix_.NE), corner(w, matrix_.NW)};
      return StoreProductNode<std::decay_t<decltype(m)>, decltype(array(p)), Strided<1>>{{m, array(p)}, q_};
    };
    scalars.sum(on, curvature_b1, box_, {box_.h0 + 1, box_.h1 - 1, box_.k0 + 1, box_.k1 - 1}, at(Inner{}), at(Edge{}));
  }

  Extent x_;
  Range2 box_;
  PreparedStencil matrix_;
};

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

template <class Backend> class RowsProduct {
public:
  explicit RowsProduct(const Factorization &core) : on_average_(core.graph().couplings.front() + 1.0) {}

  index_t rows() const { return 0; }
  static index_t most_terms(index_t n) { return CouplingSums<Backend>::most_terms(n); }
  long version() const { return version_; }

  void refresh(const Csr &A) {
    version_ += A.ia != A_.ia || A.ja != A_.ja || A.a != A_.a;
    A_ = A;
  }

  void multiply(const Backend &on, double *p, double *q, const Scalars<Backend> &scalars,
                PartialSum<Backend> &partial) const {
    const RowTimes times{{A_.ia, A_.ia + 1, A_.ja, A_.a}, p, q};
    const Terms curvature = CouplingSums<Backend>::terms(on, A_.n, on_average_, times, partial);
    partial.put_then(on, curvature, scalars.data() + curvature_b1, AfterProduct{scalars.data()});
  }

private:
  double on_average_; // entries of a row
  long version_ = 0;
  Csr A_;
};

} // namespace petscrrb::rrbsolver
