// A V-cycle of multigrid on a 3D grid, as PCGRIDMG uses it: what is the same on the host and on a CUDA device.
#pragma once

#include "pc/gridmg/core/cycle.hpp"

namespace petscrrb {
class Cuda;
}

namespace petscrrb::gridmg {

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

// points: of the stencil, 5 or 7; single: the cycle is in single precision. With several ranks the rows that refresh() is given are those
// of the rank's box and of what is around it, in natural order, then one that stands for all others and is no identity row; vectors are the
// box's, and everything is collective.
std::unique_ptr<GridMG> make_gridmg(const Dealt &, int points, const Options &, bool single);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<GridMG> make_gridmg(Cuda &, const Dealt &, int points, const Options &, bool single);

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

  GridMGOn(Backend &on, const Dealt &dealt, int points, const Options &o)
      : on_(on), cycle_(on, dealt, o), loops_(on), scales_(on) {
    const Shape &x = grids().shape();
    for (int q = 0; q < 3; ++q) {
      first_[q] = x.more_before[q];
      lattice_.n[q] = PetscInt(x.around(q));
      lattice_.periodic[q] = x.ring[q];
    }
    lattice_.steps = points == 7 ? 3 : 2;
  }

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
    const long before = version();
    scale_ = Scales::of(single() ? found.read.norm : 1.0);
    cycle_.refresh(scale_, found);
    if (version() != before) repeated_.reset(); // it has the scale and the levels' memory in it
    return found;
  }

  void apply(const double *r, double *z) override {
    const auto &finest = *grids().levels().front();
    const Shape &x = finest.shape;
    const Scales *scales = find_scales(scales_, r);
    on_.for_each_point(x.all(), Load<T>{r, finest.b(), scales, 1.0, x.n[0], x.n[1], v_.get()});
    if (!ranks() || ranks()->only_enqueue())
      repeated_(on_, [&] { cycle_.run(); });
    else
      cycle_.run();
    on_.for_each_point(x.all(), Store<T>{finest.x(), z, scales, scale_.to, x.n[0], x.n[1], v_.get()});
  }

  std::vector<GridReport> report() const override { return cycle_.report(); }
  double flops() const override { return cycle_.flops(); }
  double bytes() const override { return cycle_.bytes() + double(v_.bytes()); }
  bool red_black() const override { return grids().red_black(); }
  bool single() const override { return std::is_same_v<T, float>; }
  bool scaled() const override { return v_.get().p; }
  rrb::Ranks *ranks() const override { return cycle_.ranks(); }

  // --- for an iteration that works in the finest grid's arrays ---

  const Multigrid<Backend, T> &grids() const { return cycle_.grids(); }
  void solve_coarsest() { cycle_.solve_coarsest(); }
  // What z, which is that of the scaled matrix and of the scaled r, is multiplied by.
  double scale() const { return scale_.to; }
  long version() const { return cycle_.version(); }
  // f(), which other ranks do, too: where it throws on one, all throw.
  template <class F> void together(const F &f) const { grids().dealt().together(f); }
  // Puts the matrix where the finest grid of a hierarchy has it, without what is around it. What all ranks have found.
  RowFacts read(const Csr &A, const Matrix &to, Positive positive, const NearNull &near = {}) {
    RowFacts found;
    together([&] {
      found = lattice_.steps == 3 ? read_rows<3>(A, to, positive, near) : read_rows<2>(A, to, positive, near);
    });
    grids().dealt().agree(found);
    return found;
  }
  // NULL: 1
  const Scales *find_scales(FindScales<Backend> &find, const double *r) {
    const index_t points = grids().shape().points();
    if (!single()) return nullptr;
    if (!ranks()) return find(on_, r, points);
    double most = 0.0;
    largest_[0] = find.largest(on_, r, points);
    for (const double x : ranks()->gather_numbers(largest_)) most = std::max(most, x);
    return find.put(on_, most);
  }

private:
  template <int steps> RowFacts read_rows(const Csr &A, const Matrix &to, Positive positive, const NearNull &near) {
    const Field<double> v = near.x ? v_.room(grids().finest_layout()) : Field<double>();
    const PutMatrix<steps> put{to, positive, near, lattice_, v};
    if (ranks()) {
      const Shape &x = grids().shape();
      const PutBox<steps> put_box{put, {first_[0], first_[1], first_[2]}};
      loops_.clear();
      loops_.at_rows(PetscInt(x.points()),
                     RowsOfBox<ReadCouplings<steps, PutBox<steps>>>{
                         {A, lattice_, put_box}, {x.n[0], x.n[1], x.n[2]}, {first_[0], first_[1], first_[2]}});
      return loops_.read();
    }
    for (;;) {
      const bool expected = identity_rows_;
      loops_.clear();
      loops_.at_rows(lattice_.size(), ReadCouplings<steps, PutMatrix<steps>>{A, lattice_, put, expected});
      const RowFacts found = loops_.read();
      identity_rows_ = found.identity_rows > 0;
      if (expected || !identity_rows_) return found;
    }
  }

  Backend &on_;
  index_t first_[3]; // of a rank's box, in what is around it
  Lattice lattice_;  // all of that
  Cycle<Backend, T> cycle_;
  RowLoops<Backend> loops_;
  bool identity_rows_ = false; // in the matrix that was read last: to be seen by the rows around them costs time
  FindScales<Backend> scales_;
  ScalingVector<Backend> v_;
  std::vector<double> largest_ = {0.0}; // of r
  Scales scale_;                        // of the matrix in the cycle
  Repeated<Backend> repeated_;
};

} // namespace petscrrb::gridmg
