// The levels kept in natural order: all of them (naive storage) or the coarse ones below the r1/r2/b1/b2 grids.
// Level k reads and writes with stride 2^((k-1)/2), in place.
#pragma once

#include "pc/rrb/core/dense_grid.hpp"

#include <vector>

namespace petscrrb::rrb {

struct SetZero {
  double *p;

  PETSCRRB_HD void operator()(index_t i, index_t) const { p[i] = 0.0; }
};

// The grid on which the last block lives, from a finer one so many levels before it.
inline Extent last_extent(const Extent &finer, int levels) {
  Extent x = folded(finer);
  for (int left = levels; left > 1; left -= 2) x = folded(x.coarser());
  return x;
}

// T: what the factor is stored in.
template <class Backend, class T> class NaturalTail {
public:
  using Field = NaturalField<0>;
  using Matrix = StencilFields<Field, Field>;

  NaturalTail() = default;
  // base: its finest grid; own_vector: it is not handed one, as the finest grid of naive storage is
  NaturalTail(const Extent &base, int levels, bool own_vector)
      : base_(base), last_(last_extent(base, levels)), levels_(levels), n_(base.nodes()) {
    memory_.resize(n_ * (5 + own_vector));
    factor_memory_.resize(levels ? n_ * 5 : 0);
    vector_ = own_vector ? array(5) : nullptr;
    Extent x = base;
    for (int left = levels; left > 0; left -= 2) {
      grids_.push_back(x);
      x = folded(x.coarser());
    }
  }

  int levels() const { return levels_; }
  int grids() const { return int(grids_.size()); }
  const Extent &grid(int q) const { return grids_[q]; }
  const Extent &base() const { return base_; }
  const Extent &last() const { return last_; }
  int last_index() const { return levels_ / 2; }
  bool even(int q) const { return 2 * q + 2 <= levels_; }
  std::size_t bytes() const { return memory_.bytes() + factor_memory_.bytes(); }

  template <class V> NaturalField<0, V> field(V *p, int q) const {
    return {p, base_.x.lo, base_.y.lo, base_.x.hi - base_.x.lo, index_t(1) << q, q < grids() ? grids_[q] : last_};
  }
  Matrix matrix(int q) const {
    return {field(array(0), q), field(array(1), q), field(array(2), q), field(array(3), q), field(array(4), q)};
  }
  FactorFields<NaturalField<0, T>> factor(int q) const {
    const auto at = [&](int i) { return field(factor_memory_.data() + i * n_, q); };
    return {{at(0), at(1), at(2), at(3)}, at(4)};
  }
  StencilOut<Strided<0>> whole_matrix(int q) const {
    return each([&](double *p) { return field(p, q).all(); });
  }
  // in place: b2 of grid q is written where it stands
  StencilOut<Strided<0>> out(int q) const {
    return each([&](double *p) { return field(p, q).get(Inner{})[b2]; });
  }
  // from a grid above whose b2 are our nodes
  StencilOut<Strided<1>> out_from_above() const {
    return each([&](double *p) { return above(p); });
  }
  Strided<1> above(double *p) const {
    const index_t pitch = base_.x.hi - base_.x.lo;
    return {p - (base_.y.lo * pitch + base_.x.lo), pitch, 1};
  }
  double *vector() const { return vector_; }

  // Naive storage: the matrix given, which the elimination will overwrite.
  void load(const Backend &on, const PreparedStencil &s) const {
    on.copy(array(0), s.X, n_);
    on.copy(array(1), s.E, n_);
    on.copy(array(2), s.N, n_);
    if (s.NE) {
      on.copy(array(3), s.NE, n_);
      on.copy(array(4), s.NW, n_);
    } else
      on.for_each({0, 2 * n_, 0, 1}, SetZero{array(3)});
  }

private:
  // X, E, N, NE, NW and perhaps the vector
  double *array(int i) const { return memory_.data() + i * n_; }
  template <class View> auto each(const View &view) const {
    return StencilOut<decltype(view(array(0)))>{view(array(0)), view(array(1)), view(array(2)), view(array(3)),
                                                view(array(4))};
  }

  Extent base_, last_;
  int levels_ = 0;
  index_t n_ = 0;
  std::vector<Extent> grids_;
  typename Backend::template Array<double> memory_;
  typename Backend::template Array<T> factor_memory_; // w[4], 1/d
  double *vector_ = nullptr;
};

} // namespace petscrrb::rrb
