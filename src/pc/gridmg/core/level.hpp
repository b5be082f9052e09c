// One grid of the hierarchy: its arrays, and what is around periodic sides.
#pragma once

#include "pc/gridmg/core/halo.hpp"
#include "pc/gridmg/core/smooth.hpp"

namespace petscrrb::gridmg {

// A grid's arrays of the matrix in double precision.
template <class Backend> class MatrixArrays {
public:
  MatrixArrays() = default;
  explicit MatrixArrays(const Layout &x) : layout_(x), memory_(4 * x.size()) {}

  const Layout &layout() const { return layout_; }
  Matrix get() const { return {{array(0), array(1), array(2)}, array(3)}; }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  Field<double> array(int i) const { return {memory_.data() + i * layout_.size(), layout_}; }

  Layout layout_;
  typename Backend::template Array<double> memory_;
};

// Copies what is around periodic sides; the directions one after the other, so that corners are right.
template <class T, int N> struct FillRing {
  Field<T> f[N];
  int q;
  index_t n;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    const auto at = [&](index_t i) { return Point::of_line(q, i, a, b); };
    for (int i = 0; i < N; ++i) {
      f[i](at(-1).a) = f[i](at(n - 1).a);
      f[i](at(n).a) = f[i](at(0).a);
    }
  }
};
template <class Backend, class T, int N> void fill_rings(const Backend &on, const Shape &x, const Field<T> (&f)[N]) {
  for (int q = 0; q < 3; ++q) {
    if (!x.ring[q]) continue;
    FillRing<T, N> fill{{}, q, x.n[q]};
    std::copy(f, f + N, fill.f);
    on.for_each({-1, x.n[first_across(q)] + 1, -1, x.n[second_across(q)] + 1}, fill);
  }
}

// What is done with a grid.
struct Use {
  bool smooth = false;    // else it is between two directions of one coarsening, or the coarsest
  std::vector<int> lines; // directions in which it is smoothed; none: points
  int direction = -1;     // that is coarsened to the next one; -1: the coarsest
  bool chosen = false;    // by its couplings

  bool operator==(const Use &o) const {
    return smooth == o.smooth && lines == o.lines && direction == o.direction && chosen == o.chosen;
  }
};

// A grid. T: the precision of the cycle.
template <class Backend, class T> struct Level : Use {
  template <class V> using Array = typename Backend::template Array<V>;

  const Cuts cuts;
  const int rank;
  const Shape shape; // of this rank's part
  const Layout layout;
  Array<T> matrix, vectors, shares;
  MatrixArrays<Backend> coarse; // the matrix of the next grid
  // of several ranks, NULL on one: what is around the box on its faces, and on all sides; where it is red_black() of one colour, too
  const Halo<Backend> *faces = nullptr, *around = nullptr, *faces_of[2] = {nullptr, nullptr}, *red_around = nullptr;

  Level(const Cuts &c, int r, const Use &use) : Use(use), cuts(c), rank(r), shape(c.box(r)), layout(shape.n) {
    vectors.resize((2 + smooth) * layout.size());
    if (smooth) matrix.resize((4 + lines.size()) * layout.size());
    if (direction >= 0) shares.resize(2 * share_layout().size());
  }
  // The same on all ranks, those without points, too.
  bool odd_ring() const {
    for (int q = 0; q < 3; ++q)
      if (shape.ring[q] && cuts.at[q].back() % 2) return true;
    return false;
  }
  // Whether it is smoothed by points of two colours that have no neighbours of their own. Then black points have no residual after
  // smoothing, and what they are before it does not matter.
  bool red_black() const { return smooth && lines.empty() && !odd_ring(); }
  Layout share_layout() const {
    Sizes n = shape.n;
    n[direction] = (n[direction] + 1) / 2;
    return Layout(n);
  }
  Field<T> b() const { return {vectors.data(), layout}; }
  Field<T> x() const { return {vectors.data() + layout.size(), layout}; }
  Field<T> r() const { return {vectors.data() + 2 * layout.size(), layout}; }
  Field<T> array(int i) const { return {matrix.data() + i * layout.size(), layout}; }
  Smoothed<T> smoothed() const { return {{array(0), array(1), array(2)}, array(3)}; }
  Field<T> pivots(std::size_t line) const { return array(4 + int(line)); }
  Transfer<T> transfer() const { return transfer(shares.data()); }
  template <class V> Transfer<V> transfer(V *memory) const {
    const Layout x = share_layout();
    return {{memory, x},
            {memory + x.size(), x},
            direction,
            shape.n[direction],
            shape.coarser(direction).n[direction],
            shape.ring[direction],
            shape.more_before[direction],
            shape.more_after[direction]};
  }
  std::size_t bytes() const { return matrix.bytes() + vectors.bytes() + shares.bytes() + coarse.bytes(); }
};

} // namespace petscrrb::gridmg
