// One grid in r1/r2/b1/b2 storage: its layout, its factor (two levels), its matrix and its vectors.
#pragma once

#include "exec/row_kinds.hpp"
#include "exec/sums.hpp"
#include "pc/rrb/core/seam.hpp"

#include <array>
#include <deque>
#include <optional>
#include <utility>

namespace petscrrb::rrb {

// Where a class's array lies in memory. All four share the layout: equal (h, k), equal place. `block` is the papers'
// compute block dcb: rows begin and end at multiples of it, with a border of at least one node all around, so that
// no sweep over these arrays tests for an edge. The global offset of the box decides which node is which class. around: how
// many rows below and above there are, two where several ranks work together.
struct DenseLayout {
  index_t h0 = 0, k0 = 0, columns = 0, rows = 0, pitch = 0, border = 0, around = 1;

  DenseLayout() = default;
  DenseLayout(const Extent &x, index_t block, index_t rows_around = 1) : around(rows_around) {
    if (x.empty()) return;
    h0 = half_down(x.x.lo);
    k0 = half_down(x.y.lo);
    columns = half_down(x.x.hi - 1) + 1 - h0;
    rows = half_down(x.y.hi - 1) + 1 - k0;
    border = std::max<index_t>(block + block % 2, 8); // a cache line; even, so that pairs of nodes are aligned
    pitch = border + (columns + border) / border * border;
  }
  // the second slot past a row's end may be in the border of the row that follows, also behind the last one
  index_t size() const { return rows ? pitch * (rows + 2 * around) + (around - 1) * border : 0; }
  index_t place(index_t h, index_t k) const { return (k - k0 + around) * pitch + border + h - h0; }
  template <class T> DenseOf<T> view(T *p) const { return {p + place(0, 0), pitch}; }
  // of arrays one after the other
  template <class T> DenseOf<T> next_view(T *&p) const { return view(std::exchange(p, p + size())); }
};

// Copies the ends of arrays to their borders around a ring: at (i, l) those of array i on line l, which goes along x or along y.
template <class T, int N> struct RingEnds {
  DenseOf<T> a[N];
  Range2 nodes[N];
  bool in_x;

  PETSCRRB_HD void operator()(index_t i, index_t l) const {
    const Range2 r = nodes[i];
    if (in_x ? l < r.k0 || l >= r.k1 : l < r.h0 - 1 || l > r.h1) return;
    if (in_x)
      a[i].at(r.h0 - 1, l) = a[i](r.h1 - 1, l), a[i].at(r.h1, l) = a[i](r.h0, l);
    else
      a[i].at(l, r.k0 - 1) = a[i](l, r.k1 - 1), a[i].at(l, r.k1) = a[i](l, r.k0);
  }
};

// Brings the border of arrays up to date around a ring, on one rank.
template <class Backend> class Halo {
public:
  explicit Halo(const Extent &x = {}) : x_(x) {}

  template <class T, int N> void exchange(const Backend &on, const Class (&c)[N], const DenseOf<T> (&a)[N]) const {
    RingEnds<T, N> ends;
    Range2 rows{0, N, INT64_MAX, INT64_MIN}, columns = rows;
    for (int i = 0; i < N; ++i) {
      const Range2 r = x_.nodes_of(c[i]);
      ends.a[i] = a[i], ends.nodes[i] = r;
      rows.k0 = std::min(rows.k0, r.k0), rows.k1 = std::max(rows.k1, r.k1);
      columns.k0 = std::min(columns.k0, r.h0 - 1), columns.k1 = std::max(columns.k1, r.h1 + 1);
    }
    ends.in_x = true;
    if (x_.x.wraps()) on.for_each(rows, ends);
    ends.in_x = false;
    if (x_.y.wraps()) on.for_each(columns, ends);
  }

private:
  Extent x_;
};

// The arrays of the next grid, indexed by this grid's b2.
struct Split {
  Quad<Dense> q;

  PETSCRRB_HD double &at(index_t h, index_t k) const { return q[class_of(h, k)].at(half_down(h), half_down(k)); }
  PETSCRRB_HD double operator()(index_t h, index_t k) const { return q[class_of(h, k)](half_down(h), half_down(k)); }
};

// A vector on b2 of a grid where it continues: in the classes of the next dense grid, or in an array in natural order.
struct NextGrid {
  Quad<Dense> split;
  Strided<1> natural;
  bool dense = false;
  Extent extent;
};

// The vectors of the finest grid in natural order; all NULL on the others. v_r and v_z scale them; NULL: by 1.
struct NaturalVectors {
  const double *r = nullptr;
  double *z = nullptr;
  const double *v_r = nullptr, *v_z = nullptr;
};

// What a sweep up adds to y^T B y (rrb.hpp). kept: the right-hand side on b2, whose solution the sweep reads; NULL: the
// sweeps below have added their terms.
template <class Backend> struct EnergyShare {
  PartialSum<Backend> &sum;
  const NextGrid *kept = nullptr;
};

// Level 2 of the finest grid in r1/r2/b1/b2 storage, for those that work on its black nodes alone (ksp/rrb/).
struct BlackLevel {
  Extent extent;
  DenseLayout layout;
  const FactorFields<DenseFieldOf<double>> *in_double = nullptr; // or
  const FactorFields<DenseFieldOf<float>> *in_single = nullptr;
  NextGrid right_hand_side, solution; // of the grid below, on b2
  index_t around = 0;                 // several ranks: how many steps past the box vectors are kept

  BlackLevel() = default;
  // grid: a DenseGrid
  template <class Grid>
  BlackLevel(const Grid &grid, const NextGrid &right, const NextGrid &z, index_t steps = 0)
      : extent(grid.extent), layout(grid.layout()), right_hand_side(right), solution(z), around(steps) {
    if constexpr (std::is_convertible_v<decltype(&grid.factor), decltype(in_double)>)
      in_double = &grid.factor;
    else
      in_single = &grid.factor;
  }
  template <class F> void with_factor(const F &f) const {
    if (in_single)
      f(*in_single);
    else
      f(*in_double);
  }
  // f(x): x(h, k) is the solution at a node of b2
  template <class F> void with_solution(const F &f) const {
    if (solution.dense)
      f(Split{solution.split});
    else
      f(solution.natural);
  }
};

// The fused sweeps of one dense grid, for each backend its own.
template <class Backend> class Sweeps;

// One grid but for its factor.
template <class Backend> class DenseArrays {
public:
  using Matrix = StencilFields<DenseField, DenseField>;

  // first: the finest grid, whose matrix and vectors stay in natural order; keep: the right-hand side, by a solution that
  // has arrays of its own; more: arrays after all those
  DenseArrays(const Extent &x, const DenseLayout &layout, bool first, bool keep, int more = 0)
      : extent(x), halo(x), layout_(layout) {
    // where sweeps do not work in place, b1 after the forward sweep has an array of its own
    const bool own_b1 = first || keep || Backend::on_device;
    memory_.resize(layout_.size() * ((first ? 0 : 24) + (keep ? 4 : 0) + own_b1 + more));
    double *p = memory_.data();
    const auto place = [&](DenseField &f) {
      for (Class c : {r1, r2, b1, b2}) f.q.c[c] = layout_.next_view(p);
    };
    if (!first)
      for (DenseField *f : {&x_, &matrix.X, &matrix.E, &matrix.N, &matrix.NE, &matrix.NW}) place(*f);
    z_ = x_;
    if (keep) place(z_);
    b1_ = own_b1 ? layout_.next_view(p) : x_.q[b1];
    more_ = p;
  }

  StencilOut<Split> matrix_out() const {
    return {{matrix.X.q}, {matrix.E.q}, {matrix.N.q}, {matrix.NE.q}, {matrix.NW.q}};
  }
  // not on the finest grid; the same arrays unless the right-hand side is kept
  const Quad<Dense> &right_hand_side() const { return x_.q; }
  const Quad<Dense> &solution() const { return z_.q; }
  const Dense &b1_after_forward() const { return b1_; }
  // Where the excess of b1 goes in an elimination: in the matrix, unless that is somebody else's.
  const Dense &excess_b1() const { return matrix.X.q[b1].p ? matrix.X.q[b1] : b1_; }
  const DenseLayout &layout() const { return layout_; }
  std::size_t bytes() const { return memory_.bytes(); }

  void exchange_matrix(const Backend &on) const {
    for (const DenseField *f : {&matrix.X, &matrix.E, &matrix.N, &matrix.NE, &matrix.NW}) {
      const auto &q = f->q;
      halo.exchange(on, {r1, r2, b1, b2}, {q[r1], q[r2], q[b1], q[b2]});
    }
  }

  Extent extent;
  Halo<Backend> halo;
  Matrix matrix;

protected:
  // x, X, E, N, NE and NW, of four classes each, but for the finest grid's; then others
  double *memory() const { return memory_.data(); }
  double *more() const { return more_; }

private:
  DenseLayout layout_;
  typename Backend::template Array<double> memory_;
  DenseField x_, z_;
  Dense b1_;
  double *more_ = nullptr;
};

// A factor in memory of its own: w[0] to w[3] and dinv of each class, arrays of a layout, one after the other.
template <class Buffer>
auto make_factor(const DenseLayout &layout, Buffer &memory, std::initializer_list<Class> classes = {r1, r2, b1}) {
  memory.resize(layout.size() * 5 * classes.size());
  auto *p = memory.data();
  FactorFields<DenseFieldOf<std::remove_pointer_t<decltype(p)>>> factor;
  for (auto *f : {&factor.w[0], &factor.w[1], &factor.w[2], &factor.w[3], &factor.dinv})
    for (Class c : classes) f->q.c[c] = layout.next_view(p);
  return factor;
}

// S1 of a 5-point matrix (first_schur.hpp) and what eliminates its red nodes.
struct FirstSchur {
  SchurViews<Dense> s;          // arrays of one layout, one after the other: X, E and N of b1 and b2, then skew
  FactorFields<DenseField> red; // w[0] to w[3] and dinv, of r1, r2 and maybe b1 each
  // Of its rows, where there are few, a row being the values of one place in s's arrays: the kind of the place (0, 0), and the values of each.
  const std::uint8_t *kind = nullptr;
  const double *values = nullptr;
};
// Its rows: by places, those of the border too.
struct SchurRows {
  static constexpr int count = 10; // arrays
  const double *first;
  index_t places;

  PETSCRRB_HD index_t size() const { return places; }
  PETSCRRB_HD double value(int array, index_t place) const { return first[array * places + place]; }
};

template <class Buffer> SchurViews<Dense> make_schur(const DenseLayout &layout, Buffer &memory) {
  memory.resize(layout.size() * SchurRows::count);
  double *p = memory.data();
  SchurViews<Dense> s;
  for (auto *q : {&s.X, &s.E, &s.N})
    for (Class c : {b1, b2}) q->c[c] = layout.next_view(p);
  for (Dense &a : s.skew) a = layout.next_view(p);
  return s;
}

// A grid with its factor. T: what that is stored in.
template <class Backend, class T, class Arrays = DenseArrays<Backend>> class DenseGrid : public Arrays {
public:
  // arguments: of Arrays
  template <class... Arguments> explicit DenseGrid(const Arguments &...arguments) : Arrays(arguments...) {
    factor = make_factor(this->layout(), factor_memory_);
  }

  std::size_t bytes() const { return Arrays::bytes() + factor_memory_.bytes(); }

  // what an elimination has written of this class
  void exchange_factor(const Backend &on, Class c) const {
    const Dense &excess = c == b1 ? this->excess_b1() : this->matrix.X.q[c];
    if (excess.p) this->halo.exchange(on, {c}, {excess});
    this->halo.exchange(on, {c, c, c, c, c},
                        {factor.w[0].q[c], factor.w[1].q[c], factor.w[2].q[c], factor.w[3].q[c], factor.dinv.q[c]});
  }

  FactorFields<DenseFieldOf<T>> factor;

private:
  typename Backend::template Array<T> factor_memory_;
};

// The grids of a hierarchy, of which the finest one may store its factor in another type. Grid<T>: one with a factor; Arrays: its base.
template <template <class> class Grid, class Arrays, class First, class T> class Grids {
public:
  template <class... Arguments> void add(const Arguments &...arguments) {
    if (!finest_)
      finest_.emplace(arguments...);
    else
      coarser_.emplace_back(arguments...);
  }
  bool empty() const { return !finest_; }
  const Grid<First> &finest() const { return *finest_; }
  const Grid<T> &coarser(int g) const { return coarser_[g - 1]; }
  const Arrays &operator[](int g) const { return g ? static_cast<const Arrays &>(coarser(g)) : finest(); }
  // op(grid), with its factor
  template <class Op> void with(int g, const Op &op) const {
    if (g == 0)
      op(finest());
    else
      op(coarser(g));
  }
  std::size_t bytes() const {
    std::size_t n = finest_ ? finest_->bytes() : 0;
    for (const auto &grid : coarser_) n += grid.bytes();
    return n;
  }

private:
  std::optional<Grid<First>> finest_;
  std::deque<Grid<T>> coarser_;
};

} // namespace petscrrb::rrb
