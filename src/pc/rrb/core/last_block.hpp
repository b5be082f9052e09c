// The matrix that is left after the last level, S_l, as CSR for the coarse solver, and where its unknowns stand.
#pragma once

#include "exec/cache.hpp"
#include "pc/rrb/core/natural_tail.hpp"

#include <petscsystypes.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace petscrrb::rrb {

struct LastBlock {
  std::vector<PetscInt> ia, ja; // sorted columns, symmetric pattern, diagonal present
  std::vector<double> a;        // values of the last refresh, where the host solves
  std::vector<double> excess;   // row sums, exact: zero in all rows of a component is a singular matrix
  std::vector<index_t> at;      // place of each unknown in the tail's vector
  std::vector<PetscInt> x, y;   // its coordinates on the last grid
  Extent grid;
  bool skew = false; // the unknowns are the black half of the grid, coupled up to two steps away

  PetscInt size() const { return PetscInt(at.size()); }
  std::size_t bytes() const {
    return (ia.size() + ja.size() + 2 * x.size()) * sizeof(PetscInt) + (a.size() + excess.size()) * sizeof(double) +
           at.size() * sizeof(index_t);
  }
};

constexpr int last_block_slots = 7;

// The excess of each unknown and its couplings, each once: node i's are in value[i * last_block_slots ...]. M, S: the
// matrix of the last grid, and its Schur complement where the unknowns are black nodes. A ring's kept couplings (seam.hpp)
// are added.
template <class M, class S> struct LastBlockValues {
  M matrix;
  S schur;
  const PetscInt *x, *y;
  const double *kept_x, *kept_y;
  index_t seam_x, seam_y; // the column and the row whose nodes have kept couplings; -1: none
  bool skew;
  double *value;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    const index_t a = x[i], b = y[i], h = half_down(a), k = half_down(b);
    const Class c = class_of(a, b);
    double *v = value + i * last_block_slots;
    for (int s = 0; s < last_block_slots; ++s) v[s] = 0.0;
    if (!skew) {
      v[0] = matrix.X[c](h, k), v[1] = matrix.E[c](h, k), v[2] = matrix.N[c](h, k);
      v[3] = matrix.NE[c](h, k), v[4] = matrix.NW[c](h, k);
      return;
    }
    unsigned flags = node_ok;
    if (c == b2) {
      v[0] = schur.excess_b2(h, k, flags), v[1] = schur.east_b2(h, k), v[2] = schur.north_b2(h, k);
      if (a == seam_x) v[1] += kept_x[k];
      if (b == seam_y) v[2] += kept_y[h];
      return;
    }
    double w[4];
    schur.skew(h, k, w);
    v[0] = schur.excess_b1(h, k, flags), v[1] = schur.east_b1(h, k), v[2] = schur.north_b1(h, k);
    v[3] = w[NE], v[4] = w[NW], v[5] = w[SE], v[6] = w[SW];
  }
};

// One row of S_l: an entry is the sum of its sources, places in the values; the diagonal has the excess first.
struct LastBlockRow {
  const PetscInt *ia, *ja, *first, *source; // sources of entry p: source[first[p] ... first[p + 1])
  const double *value;
  double *a, *excess;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    excess[i] = value[i * last_block_slots];
    for (PetscInt p = ia[i]; p < ia[i + 1]; ++p) {
      double sum = ja[p] == i ? excess[i] : 0.0;
      for (PetscInt s = first[p]; s < first[p + 1]; ++s) sum += ja[p] == i ? value[source[s]] : -value[source[s]];
      a[p] = sum;
    }
  }
};

// From which all follows that is not a value.
struct LastBlockShape {
  Extent grid;
  bool skew;

  bool operator==(const LastBlockShape &o) const { return grid == o.grid && skew == o.skew; }
};

// Which unknowns there are, and which couplings between them.
class LastBlockPattern {
public:
  // Those of small grids are kept for the next one.
  static std::shared_ptr<const LastBlockPattern> of(const LastBlockShape &shape) {
    static Cache<LastBlockShape, LastBlockPattern> small;
    const auto make = [&] { return std::make_shared<const LastBlockPattern>(shape.grid, shape.skew); };
    return shape.grid.nodes() <= 8192 ? small.get(shape, make) : make();
  }

  std::vector<PetscInt> x, y;          // of each unknown, on the last grid
  std::vector<PetscInt> ia, ja;        // sorted columns, symmetric, diagonal present
  std::vector<PetscInt> first, source; // as LastBlockRow has them

  LastBlockPattern(const Extent &last, bool skew) : grid_(last), skew_(skew) {
    number_.assign(last.nodes(), -1);
    for (index_t b = last.y.lo; b < last.y.hi; ++b)
      for (index_t a = last.x.lo; a < last.x.hi; ++a) {
        if (skew && (a + b) % 2) continue;
        number_[place(a, b)] = PetscInt(x.size());
        x.push_back(PetscInt(a)), y.push_back(PetscInt(b));
      }
    make();
  }

private:
  // the node itself, then each coupling once
  static std::vector<std::array<int, 2>> offsets(bool skew) {
    if (skew) return {{0, 0}, {2, 0}, {0, 2}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    return {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}};
  }
  static index_t around(index_t i, const Side &s) {
    if (!s.periodic || (i >= 0 && i < s.n)) return i;
    // two steps across an odd ring's seam, between black nodes, end one point further than on an even one
    if (s.odd_ring() && i == s.n + 1) return 0;
    return (i + s.n) % s.n;
  }
  PetscInt number(index_t a, index_t b) const {
    a = around(a, grid_.x);
    b = around(b, grid_.y);
    const bool inside = a >= grid_.x.lo && a < grid_.x.hi && b >= grid_.y.lo && b < grid_.y.hi;
    return inside ? number_[place(a, b)] : PetscInt(-1);
  }
  index_t place(index_t a, index_t b) const { return (b - grid_.y.lo) * (grid_.x.hi - grid_.x.lo) + a - grid_.x.lo; }

  struct Coupling {
    PetscInt with, source;
  };
  // Those of node i, by sources, from start[i] on.
  std::vector<Coupling> couplings(std::vector<PetscInt> &start) const {
    const PetscInt n = PetscInt(x.size());
    const auto to = offsets(skew_);
    const auto each = [&](const auto &f) {
      for (PetscInt i = 0; i < n; ++i)
        for (std::size_t s = 1; s < to.size(); ++s) {
          const PetscInt j = number(x[i] + to[s][0], y[i] + to[s][1]);
          if (j >= 0 && j != i) f(i, j, i * last_block_slots + PetscInt(s)); // j == i: around a ring to itself
        }
    };
    start.assign(n + 1, 0);
    each([&](PetscInt i, PetscInt j, PetscInt) { ++start[i + 1], ++start[j + 1]; });
    for (PetscInt i = 0; i < n; ++i) start[i + 1] += start[i];
    std::vector<Coupling> all(start[n]);
    std::vector<PetscInt> end = start;
    each([&](PetscInt i, PetscInt j, PetscInt source) { all[end[i]++] = {j, source}, all[end[j]++] = {i, source}; });
    return all;
  }

  void make() {
    const PetscInt n = PetscInt(x.size());
    std::vector<PetscInt> start;
    const std::vector<Coupling> all = couplings(start);
    std::vector<Coupling> row;
    const auto entry = [&](PetscInt column) { ja.push_back(column), first.push_back(PetscInt(source.size())); };
    ia.assign(1, 0);
    source.reserve(2 * all.size());
    for (auto *list : {&ja, &first}) list->reserve(all.size() + std::size_t(n) + 1);
    for (PetscInt i = 0; i < n; ++i) {
      const auto begin = all.begin() + start[i], end = all.begin() + start[i + 1];
      row.assign(begin, end);
      row.push_back({i, -1});
      std::sort(row.begin(), row.end(), [](const Coupling &a, const Coupling &b) {
        return a.with != b.with ? a.with < b.with : a.source < b.source;
      });
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (!c || row[c].with != row[c - 1].with) entry(row[c].with);
        if (row[c].with != i)
          source.push_back(row[c].source);
        else // all of them
          std::transform(begin, end, std::back_inserter(source), [](const Coupling &k) { return k.source; });
      }
      ia.push_back(PetscInt(ja.size()));
    }
    first.push_back(PetscInt(source.size()));
  }

  const Extent grid_;
  const bool skew_;
  std::vector<PetscInt> number_; // of each node of the grid; -1: eliminated
};

// Forms it from the tail. Even number of levels: all nodes of the last grid, 9-point. Odd: its black nodes, 9-point
// on the skew grid.
template <class Backend, class T> class LastBlockBuilder {
public:
  LastBlockBuilder(const NaturalTail<Backend, T> &tail, LastBlock &block) {
    const index_t spacing = index_t(1) << tail.last_index(), pitch = tail.base().x.hi - tail.base().x.lo;
    const Extent &x = block.grid = tail.last();
    block.skew = tail.levels() % 2;
    const auto shared = LastBlockPattern::of({x, block.skew});
    const LastBlockPattern &pattern = *shared;
    block.x = pattern.x, block.y = pattern.y;
    block.ia = pattern.ia, block.ja = pattern.ja;
    block.at.reserve(block.x.size());
    for (std::size_t i = 0; i < block.x.size(); ++i)
      block.at.push_back((block.y[i] * spacing - tail.base().y.lo) * pitch + block.x[i] * spacing - tail.base().x.lo);
    block.a.assign(block.ja.size(), 0.0);
    block.excess.assign(block.x.size(), 0.0);
    value_.resize(std::size_t(block.size()) * last_block_slots);
    Backend::assign(first_, pattern.first), Backend::assign(source_, pattern.source);
    Backend::assign(ia_, block.ia), Backend::assign(ja_, block.ja);
    Backend::assign(x_, block.x), Backend::assign(y_, block.y);
  }

  // a, excess: where the backend can reach them
  template <class Matrix, class Factor>
  void fill(const Backend &on, const Matrix &matrix, const Factor &factor, Lumping lumping, const Seams<Backend> &seams,
            const LastBlock &block, double *a, double *excess) const {
    const auto m = matrix.get(Edge{});
    const Schur s{m, factor.get(Edge{}), lumping};
    const Extent &x = block.grid;
    using Values = LastBlockValues<std::decay_t<decltype(m)>, std::decay_t<decltype(s)>>;
    const Values values{m,
                        s,
                        x_.data(),
                        y_.data(),
                        seams.kept(true, x),
                        seams.kept(false, x),
                        x.x.odd_ring() ? x.x.n - 1 : -1,
                        x.y.odd_ring() ? x.y.n - 1 : -1,
                        block.skew,
                        value_.data()};
    const Range2 rows{0, block.size(), 0, 1};
    on.for_each(rows, values);
    on.for_each(rows, LastBlockRow{ia_.data(), ja_.data(), first_.data(), source_.data(), value_.data(), a, excess});
  }

private:
  typename Backend::template Array<PetscInt> ia_, ja_, x_, y_, first_, source_;
  typename Backend::template Array<double> value_;
};

} // namespace petscrrb::rrb
