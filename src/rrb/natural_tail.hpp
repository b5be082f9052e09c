// The levels kept in natural order: all of them (naive storage) or the coarse ones below the r1/r2/b1/b2 grids.
// Level k reads and writes with stride 2^((k-1)/2), in place.
#pragma once

#include "rrb/dense_grid.hpp"

namespace petscrrb::rrb {

template <class Backend> class NaturalTail {
public:
  using Field = NaturalField<0>;
  using Matrix = StencilFields<Field, Field>;

  NaturalTail() = default;
  // base: its finest grid; own_vector: it is not handed one, as the finest grid of naive storage is
  NaturalTail(const Extent &base, int levels, bool own_vector) : base_(base), levels_(levels), n_(base.nodes()) {
    memory_.resize(n_ * (10 + own_vector));
    vector_ = own_vector ? array(10) : nullptr;
    Extent x = base;
    for (int left = levels; left > 0; left -= 2) {
      grids_.push_back(x);
      x = folded(x.coarser());
    }
    last_ = levels % 2 ? grids_.back() : x;
  }

  int levels() const { return levels_; }
  int grids() const { return int(grids_.size()); }
  const Extent &grid(int q) const { return grids_[q]; }
  const Extent &base() const { return base_; }
  const Extent &last() const { return last_; } // the grid on which the last block lives
  int last_index() const { return levels_ / 2; }
  bool even(int q) const { return 2 * q + 2 <= levels_; }
  std::size_t bytes() const { return memory_.bytes(); }

  Field field(double *p, int q) const {
    return {p, base_.x.lo, base_.y.lo, base_.x.hi - base_.x.lo, index_t(1) << q, q < grids() ? grids_[q] : last_};
  }
  Matrix matrix(int q) const {
    return {field(array(0), q), field(array(1), q), field(array(2), q), field(array(3), q), field(array(4), q)};
  }
  FactorFields<Field> factor(int q) const {
    return {{field(array(5), q), field(array(6), q), field(array(7), q), field(array(8), q)}, field(array(9), q)};
  }
  // in place: b2 of grid q is written where it stands
  auto out(int q) const {
    const auto at = [&](int i) { return field(array(i), q).get(Inner{})[b2]; };
    return StencilOut<Strided<0>>{at(0), at(1), at(2), at(3), at(4)};
  }
  // from a grid above whose b2 are our nodes
  auto out_from_above() const {
    const auto at = [&](int i) { return above(array(i)); };
    return StencilOut<Strided<1>>{at(0), at(1), at(2), at(3), at(4)};
  }
  Strided<1> above(double *p) const {
    const index_t pitch = base_.x.hi - base_.x.lo;
    return {p - (base_.y.lo * pitch + base_.x.lo), pitch, 1};
  }
  double *vector() const { return vector_; }

  // Naive storage: the matrix given, which the elimination will overwrite.
  void load(const Stencil &s) const {
    const auto copy = [&](int i, const std::vector<double> &from) { std::copy(from.begin(), from.end(), array(i)); };
    copy(0, s.C), copy(1, s.E), copy(2, s.N);
    if (s.NE.empty())
      std::fill_n(array(3), 2 * n_, 0.0);
    else
      copy(3, s.NE), copy(4, s.NW);
  }

  static Extent folded(Extent x) {
    if (x.x.n == 1) x.x.periodic = false;
    if (x.y.n == 1) x.y.periodic = false;
    return x;
  }

private:
  // X, E, N, NE, NW, w[4], 1/d, and perhaps the vector
  double *array(int i) const { return memory_.data() + i * n_; }

  Extent base_, last_;
  int levels_ = 0;
  index_t n_ = 0;
  std::vector<Extent> grids_;
  typename Backend::template Array<double> memory_;
  double *vector_ = nullptr;
};

} // namespace petscrrb::rrb
