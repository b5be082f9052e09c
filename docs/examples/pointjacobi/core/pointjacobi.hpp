// Point Jacobi on a grid: z = omega r / d, d the diagonal of the matrix. No PETSc objects.
#pragma once

#include "exec/counts.hpp"
#include "grid/csr.hpp"
#include "grid/grid.hpp"
#include "stencil/facts.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::pointjacobi {

// 1 / d at a point: the h-th of line k.
struct Invert {
  Csr A;
  index_t nx;
  double *inverse;

  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const index_t p = k * nx + h;
    double d = 0.0;
    for (PetscInt i = A.ia[p]; i < A.ia[p + 1]; ++i)
      if (A.ja[i] == p) d += A.a[i];
    inverse[p] = 1.0 / d;
    return d > 0.0 && inverse[p] > 0.0 ? node_ok : node_failed;
  }
};

struct Relax {
  double omega;
  index_t nx;
  const double *inverse, *r;
  double *z;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    const index_t p = k * nx + h;
    z[p] = omega * inverse[p] * r[p];
  }
};

class PointJacobi {
public:
  virtual ~PointJacobi() = default;
  // The first row whose diagonal entry is not positive and finite, or no_row; waits for it.
  virtual index_t refresh(const Csr &) = 0;
  virtual void apply(double omega, const double *r, double *z) const = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<PointJacobi> make_pointjacobi(const Grid &);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<PointJacobi> make_pointjacobi(const Cuda &, const Grid &);

// Arrays are where the loops run. Backend: Host or Cuda; `on` must outlive it.
template <class Backend> class PointJacobiOn final : public PointJacobi {
public:
  PointJacobiOn(const Backend &on, const Grid &g)
      : on_(on), nx_(g.n[0]), box_{0, g.n[0], 0, g.n[1] * g.n[2]}, inverse_(std::size_t(box_.size())), counts_(1) {}

  index_t refresh(const Csr &A) override {
    const Invert invert{A, nx_, inverse_.data()};
    on_.clear(counts_);
    on_.count_each(box_, box_, invert, invert, counts_.data());
    const NodeCounts &found = *on_.read(counts_);
    const index_t line = index_t(1) << 32; // of first_failed
    return found.failed ? found.first_failed / line * nx_ + found.first_failed % line : no_row;
  }
  void apply(double omega, const double *r, double *z) const override {
    on_.for_each(box_, Relax{omega, nx_, inverse_.data(), r, z});
  }
  double bytes() const override { return double(inverse_.bytes()); }

private:
  const Backend &on_;
  index_t nx_;
  Range2 box_; // points of a line, lines
  typename Backend::template Array<double> inverse_;
  typename Backend::template Array<NodeCounts> counts_;
};

} // namespace petscrrb::pointjacobi
