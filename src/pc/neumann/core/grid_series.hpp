// A series on a grid, as PCNeumann uses it: what is the same on the host and on a CUDA device.
#pragma once

#include "pc/neumann/core/read.hpp"
#include "stencil/facts.hpp"

#include <memory>
#include <type_traits>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

class GridSeries {
public:
  virtual ~GridSeries() = default;

  // The couplings of a matrix that lies where this does. Allocates nothing. Unless the findings' result is ok and no
  // pivot is bad, they are not to be used.
  virtual RowFacts refresh(const Csr &) = 0;
  // z = M^-1 r, another vector
  virtual void apply(const double *r, double *z) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<GridSeries> make_grid_series(const Grid &, const Series &);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<GridSeries> make_grid_series(const Cuda &, const Grid &, const Series &);

// All but the pass over memory that a piece is.
template <class Backend> class GridSeriesOn : public GridSeries {
public:
  RowFacts refresh(const Csr &A) override {
    double *w[most_steps];
    for (int m = 0; m < g_.steps; ++m) w[m] = w_[m].data();
    loops_.clear();
    read_couplings(A, g_, series_.omega, s_.data(), w, [&](const auto &f) { loops_.at_rows(g_.size(), f); });
    return loops_.read();
  }
  void apply(const double *r, double *z) override {
    double *const work[3] = {work_[0].data(), work_[1].data(), work_[2].data()};
    in_pieces(series_, most_, r, z, work, [&](const Piece &p) { pass(p); });
  }
  double bytes() const override {
    std::size_t sum = s_.bytes();
    for (const auto &w : w_) sum += w.bytes();
    for (const auto &w : work_) sum += w.bytes();
    return static_cast<double>(sum);
  }

protected:
  // most: terms of a piece
  GridSeriesOn(const Backend &on, const Lattice &grid, const Series &series, Limits most)
      : on_(on), g_(grid), series_(series), most_(most), loops_(on) {
    const std::size_t n = static_cast<std::size_t>(g_.size());
    for (int m = 0; m < g_.steps; ++m) w_[m].resize(n);
    s_.resize(n);
    for (int k = 0; k < work_vectors(series, most); ++k) work_[k].resize(n);
  }

  virtual void pass(const Piece &) = 0;
  Couplings couplings() const {
    Couplings c{{}, s_.data()};
    for (int m = 0; m < g_.steps; ++m) c.w[m] = w_[m].data();
    return c;
  }
  // f(steps, around): of the lattice, as constants
  template <class F> void with_lattice(const F &f) const {
    const auto with = [&](auto steps) { g_.any_periodic() ? f(steps, std::true_type()) : f(steps, std::false_type()); };
    if (g_.steps == 2) return with(std::integral_constant<int, 2>());
    if (g_.steps == 3) return with(std::integral_constant<int, 3>());
    with(std::integral_constant<int, 4>());
  }

  const Backend &on_;
  const Lattice g_;

private:
  const Series series_;
  const Limits most_;
  typename Backend::template Array<double> w_[most_steps], s_, work_[3];
  RowLoops<Backend> loops_;
};

} // namespace petscrrb::neumann
