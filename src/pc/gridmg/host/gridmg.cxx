// Multigrid on the host.
#include "pc/gridmg/core/gridmg.hpp"

#include "dense/host/profile.hpp"
#include "pc/gridmg/core/coarsest.hpp"
#include "pc/gridmg/core/read.hpp"
#include "pc/gridmg/host/loops.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::gridmg {
namespace {

Shape shape_of(const Grid &g) {
  return {{g.n[0], g.n[1], g.n[2]}, {g.periodic[0], g.periodic[1], g.periodic[2]}};
}

template <class T> class OnHost final : public GridMG {
public:
  OnHost(const Grid &g, const Options &o) : grid_(lattice_of(g)), grids_(host_, shape_of(g), o) {}

  Findings refresh(const Csr &A) override {
    Findings found;
    if (grid_.steps == 3)
      at_rows(grid_.size(), ReadCouplings<3, PutMatrix<3>>{A, grid_, {grids_.finest()}}, found.read);
    else
      at_rows(grid_.size(), ReadCouplings<2, PutMatrix<2>>{A, grid_, {grids_.finest()}}, found.read);
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    found.failed = !grids_.refresh();
    if (found.failed) return found;
    const Shape &x = grids_.coarsest().shape;
    if (x.n != coarsest_.shape().n) {
      coarsest_ = CoarsestRows(x);
      inverse_.setup(coarsest_.ia, coarsest_.ja, dense::Inverse::cholesky);
      work_.resize(x.points());
    }
    coarsest_.take(grids_.coarsest_matrix());
    found.failed = inverse_.refresh(coarsest_.a.data(), coarsest_.excess.data()).unknown >= 0;
    found.null_directions = inverse_.null_directions();
    return found;
  }

  void apply(const double *r, double *z) override {
    const auto &finest = *grids_.levels().front();
    const Shape &x = finest.shape;
    const Range2 all{0, x.n[0], 0, x.n[1] * x.n[2]};
    scales_ = Scales::of(std::is_same_v<T, float> ? largest(r, x.points()) : 0.0);
    const Scales *scales = std::is_same_v<T, float> ? &scales_ : nullptr;
    host_.for_each(all, Load<T>{r, finest.b(), scales, x.n[0], x.n[1]});
    grids_.cycle([&] { return solve_coarsest(), 0; });
    host_.for_each(all, Store<T>{finest.x(), z, scales, x.n[0], x.n[1]});
  }

  std::vector<GridReport> report() const override {
    std::vector<GridReport> grids;
    for (const auto &l : grids_.levels()) grids.push_back({l->shape.n, l->smooth, l->lines, l->direction});
    return grids;
  }
  double flops() const override { return grids_.flops(); }
  double bytes() const override {
    return double(grids_.bytes()) + inverse_.bytes() + double(coarsest_.ja.size()) * (sizeof(int) + sizeof(double));
  }

private:
  void solve_coarsest() {
    const auto &l = grids_.coarsest();
    const Range2 all{0, l.shape.n[0], 0, l.shape.n[1] * l.shape.n[2]};
    host_.for_each(all, Store<T>{l.b(), work_.data(), nullptr, l.shape.n[0], l.shape.n[1]});
    inverse_.apply(work_.data());
    host_.for_each(all, Load<T>{work_.data(), l.x(), nullptr, l.shape.n[0], l.shape.n[1]});
  }

  static double largest(const double *r, index_t n) {
    double most = 0.0;
#pragma omp parallel for simd schedule(static) reduction(max : most) if (n > host::serial_below)
    for (index_t i = 0; i < n; ++i) most = std::max(most, std::fabs(r[i]));
    return most;
  }

  Host host_;
  Lattice grid_;
  Multigrid<Host, T> grids_;
  CoarsestRows coarsest_;
  dense::ProfileInverse inverse_;
  std::vector<double> work_;
  Scales scales_;
};

} // namespace

std::unique_ptr<GridMG> make_gridmg(const Grid &g, const Options &o, bool single) {
  if (single) return std::make_unique<OnHost<float>>(g, o);
  return std::make_unique<OnHost<double>>(g, o);
}

} // namespace petscrrb::gridmg
