// A V-cycle of multigrid on a 3D grid, as PCGRIDMG uses it: what is the same on the host and on a CUDA device.
#pragma once

#include "pc/gridmg/core/cycle.hpp"

namespace petscrrb {
class Cuda;
}

namespace petscrrb::gridmg {

// One grid of the hierarchy, for who looks at it.
struct GridReport {
  Sizes n;
  bool smoothed = false;  // else it is between two directions of one coarsening, or the coarsest
  std::vector<int> lines; // directions in which it is smoothed; none: points
  int coarsened = -1;     // direction
  bool dealt = false;     // each rank has a box of it; else all have all of it
};

// M^-1 of docs/numerics_gridmg.md.
class GridMG {
public:
  virtual ~GridMG() = default;

  // For a matrix that lies where this does. Allocates nothing where the same grids and smoothers are chosen as before.
  // Unless the findings' result is ok and nothing has failed, it is not to be used.
  virtual Findings refresh(const Csr &, NearNull = {}) = 0;
  // z = M^-1 r; not the same
  virtual void apply(const double *r, double *z) = 0;
  virtual std::vector<GridReport> report() const = 0;
  virtual double flops() const = 0; // of an application
  virtual double bytes() const = 0;
  // Whether black points are smoothed last but for the red ones between them: those are then solved exactly.
  virtual bool red_black() const = 0;
  virtual bool single() const = 0;
  virtual bool scaled() const = 0;       // by a near null vector
  virtual rrb::Ranks *ranks() const = 0; // who have boxes of it; NULL: it is on one
};

// single: the cycle is in single precision.
std::unique_ptr<GridMG> make_gridmg(const Grid &, const Options &, bool single);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<GridMG> make_gridmg(Cuda &, const Grid &, const Options &, bool single);

// What each backend has its own of.
// const Scales *(on, r, n): Scales::of(the largest absolute value of r), where the backend is; the same of a number: put(on, largest); that
// number: double largest(on, r, n)
template <class Backend> class FindScales;

// V, of the finest grid.
template <class Backend> class ScalingVector {
public:
  Field<double> room(const Layout &x) {
    if (memory_.size() != std::size_t(x.size())) memory_.resize(std::size_t(x.size())), layout_ = x;
    return {memory_.data(), layout_};
  }
  void use(bool yes) { used_ = yes; }
  Field<double> get() const { return used_ ? Field<double>(memory_.data(), layout_) : Field<double>(); }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  typename Backend::template Array<double> memory_;
  Layout layout_;
  bool used_ = false;
};

template <class Backend, class T> class GridMGOn final : public GridMG {
public:
  using On = Backend;
  using Value = T;

  GridMGOn(Backend &on, const Grid &g, const Options &o)
      : on_(on), lattice_(lattice_of(g)),
        cycle_(on, {{g.n[0], g.n[1], g.n[2]}, {g.periodic[0], g.periodic[1], g.periodic[2]}}, o), loops_(on),
        scales_(on) {}

  Findings refresh(const Csr &A, NearNull near) override {
    Findings found;
    found.read = read(A, grids().finest(), Positive::moves, near);
    if (near.x && found.drops(found.read)) {
      near.x = nullptr;
      found.read = read(A, grids().finest(), Positive::moves, near);
    }
    v_.use(near.x);
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    // powers of two: the cycle is that of scale_ A, in which single precision has as many digits as in A
    const double scale_before = scale_.to;
    const long made_before = grids().made();
    scale_ = Scales::of(std::is_same_v<T, float> ? found.read.norm : 1.0);
    cycle_.refresh(scale_, found);
    if (scale_.to != scale_before || grids().made() != made_before) repeated_.reset(), ++version_; // it has both in it
    return found;
  }

  void apply(const double *r, double *z) override {
    const auto &finest = *grids().levels().front();
    const Shape &x = finest.shape;
    const Scales *scales = find_scales(scales_, r);
    on_.for_each_point(x.all(), Load<T>{r, finest.b(), scales, 1.0, x.n[0], x.n[1], v_.get()});
    repeated_(on_, [&] { cycle_.run(); });
    on_.for_each_point(x.all(), Store<T>{finest.x(), z, scales, scale_.to, x.n[0], x.n[1], v_.get()});
  }

  std::vector<GridReport> report() const override {
    std::vector<GridReport> all;
    for (const auto &l : grids().levels()) all.push_back({l->shape.n, l->smooth, l->lines, l->direction});
    return all;
  }
  double flops() const override { return grids().flops(); }
  double bytes() const override { return cycle_.bytes() + double(v_.bytes()); }
  bool red_black() const override { return grids().red_black(); }
  bool single() const override { return std::is_same_v<T, float>; }
  bool scaled() const override { return v_.get().p; }
  rrb::Ranks *ranks() const override { return nullptr; }

  // --- for an iteration that works in the finest grid's arrays ---

  const Multigrid<Backend, T> &grids() const { return cycle_.grids(); }
  void solve_coarsest() { cycle_.solve_coarsest(); }
  // What z, which is that of the scaled matrix and of the scaled r, is multiplied by.
  double scale() const { return scale_.to; }
  long version() const { return version_; } // work that was captured before is not that of another one
  // f(), which other ranks do, too: where it throws on one, all throw.
  template <class F> void together(const F &f) const { f(); }
  // Puts the matrix where the finest grid of a hierarchy has it, without what is around it.
  RowFacts read(const Csr &A, const Matrix &to, Positive positive, const NearNull &near = {}) {
    const Field<double> v = near.x ? v_.room(grids().finest_layout()) : Field<double>();
    for (;;) {
      const bool expected = identity_rows_;
      loops_.clear();
      if (lattice_.steps == 3)
        read_rows<3>({A, lattice_, {to, positive, near, lattice_, v}, expected});
      else
        read_rows<2>({A, lattice_, {to, positive, near, lattice_, v}, expected});
      const RowFacts found = loops_.read();
      identity_rows_ = found.identity_rows > 0;
      if (expected || !identity_rows_) return found;
    }
  }
  // NULL: 1
  const Scales *find_scales(FindScales<Backend> &find, const double *r) const {
    return std::is_same_v<T, float> ? find(on_, r, grids().levels().front()->shape.points()) : nullptr;
  }

private:
  template <int steps> void read_rows(const ReadCouplings<steps, PutMatrix<steps>> &f) {
    loops_.at_rows(lattice_.size(), f);
  }

  Backend &on_;
  const Lattice lattice_;
  Cycle<Backend, T> cycle_;
  RowLoops<Backend> loops_;
  bool identity_rows_ = false; // in the matrix that was read last: to be seen by the rows around them costs time
  FindScales<Backend> scales_;
  ScalingVector<Backend> v_;
  Scales scale_; // of the matrix in the cycle
  long version_ = 0;
  Repeated<Backend> repeated_;
};

} // namespace petscrrb::gridmg
