// Conjugate gradients on all nodes of PCRRB's grid, and their product with a stencil.
#pragma once

#include "ksp/rrb/core/full_cg.hpp"
#include "pc/rrb/core/grid_product.hpp"

namespace petscrrb::rrbsolver {

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

  index_t rows(index_t) const { return x_.y.hi - x_.y.lo; }
  static index_t most_terms(index_t) { return 0; }
  long version() const { return 0; }

  // Weights and excesses, which it borrows; a.v is not used: A itself, whatever V is in the preconditioner.
  void refresh(const PreparedStencil &a) { matrix_ = a; }
  std::size_t bytes() const { return 0; }

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

template <class Backend>
class StencilCG : public FullCG<Backend, FactorizationInside, StencilProduct<Backend>, RrbIteration> {
  using Base = FullCG<Backend, FactorizationInside, StencilProduct<Backend>, RrbIteration>;

public:
  StencilCG(const Backend &on, Factorization &core) : Base(on, FactorizationInside{core}, core) {}
  void refresh(const PreparedStencil &a, const FirstSchur *) override { Base::product_.refresh(a); }
  bool refreshed() override { return true; }
};

} // namespace petscrrb::rrbsolver
