// RRB-l: the hierarchy, its factorization and its application. The numerics are defined in docs/numerics.md.
#pragma once

#include "rrb/host_rows.hpp"
#include "rrb/last_block.hpp"

#include <deque>
#include <memory>

namespace petscrrb::rrb {

struct Options {
  int levels = 1;
  int storage_grids = 0; // grids in r1/r2/b1/b2 storage, 2 * storage_grids <= levels
  int block = 32;        // the papers' dcb
};

// What a factorization did; failed pivots count only while ok is false.
struct Outcome {
  bool ok = true;
  index_t unlumped = 0, null = 0;
  int failed_level = 0;
  index_t failed_i = 0, failed_j = 0;
};

// M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1): all of it, the right factor (PETSc's "left") or the left factor.
enum class Part {
  whole,
  left,
  right
};

inline int max_levels(index_t nx, index_t ny) {
  int log2 = 0;
  while ((index_t(1) << log2) < std::max(nx, ny)) ++log2;
  return 2 * log2 + 1;
}

// The fewest levels that leave at most `unknowns`.
inline int default_levels(index_t nx, index_t ny, index_t unknowns) {
  const auto up = [](index_t n, int s) { return (n + (index_t(1) << s) - 1) >> s; };
  for (int l = 1; l < max_levels(nx, ny); ++l) {
    const index_t x = up(nx, l / 2), y = up(ny, l / 2);
    if ((l % 2 ? (x * y + 1) / 2 : x * y) <= unknowns) return l;
  }
  return max_levels(nx, ny);
}

// g_max of de Jong and Vuik 2016, eq. (3.1)
inline int max_storage_grids(index_t nx, index_t ny, int block, int levels) {
  int g = 0;
  while ((index_t(block) << g) < std::max(nx, ny)) ++g;
  return std::min(g, levels / 2);
}

template <class Backend, class Int> class Rrb {
public:
  // extent: our box of the global grid and its periodic sides
  Rrb(const Extent &extent, const Options &o);

  // The factorization of the prepared stencil s (prepare.hpp), which it overwrites, except for s.v: that must stay
  // where it is as long as the factor is applied. Allocates nothing.
  Outcome refresh(Stencil &s, Lumping lumping);

  // z = M^-1 r in natural order, z not r: down(), then the caller solves last_block() coarse_z() = coarse_r(), then up().
  void down(const double *r, double *z, Part part = Part::whole);
  void up(const double *r, double *z, Part part = Part::whole);
  const double *coarse_r() const { return coarse_r_.data(); }
  double *coarse_z() { return coarse_z_.data(); }

  LastBlock<Int> &last_block() { return block_; } // of V A V
  const Options &options() const { return options_; }
  std::size_t bytes() const;
  std::vector<index_t> unknowns_by_level() const; // black nodes left after level 0, 1, ..., l

private:
  template <class A> void factor_dense(int g, const A &a, Outcome &o);
  template <class A> void factor_tail(int q, const A &a, Outcome &o);
  template <class A> void lump_seams(const A &a, const Extent &x, Outcome &o);
  template <class A> void take_over_seams(const A &next, const Extent &above, const Extent &x) const;
  void fail(Class c, const NodeCounts &n, int level, Outcome &o) const;

  NaturalVectors natural(const double *r, double *z, Part part) const;
  void forward_dense(int g, const double *r, Part part);
  void forward_tail(double *x);
  void backward_tail(double *x, bool couple, Scaling scaling);
  void backward_dense(int g, const double *r, double *z, Part part);
  NextRows next_rows(int g) const;

  Extent extent_;
  Options options_;
  std::deque<DenseGrid<Backend>> dense_;
  NaturalTail<Backend> tail_;
  LastBlock<Int> block_;
  std::unique_ptr<LastBlockBuilder<Backend, Int>> builder_;
  std::vector<double> kept_x_, kept_y_; // couplings across odd rings, on their way to the next grid
  RowScratch scratch_;
  std::vector<double> coarse_r_, coarse_z_;
  const double *v_ = nullptr; // M^-1 = V (factor of V A V)^-1 V; NULL: V = I
  Lumping lumping_;
};

} // namespace petscrrb::rrb
