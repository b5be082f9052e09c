// RRB-l: the hierarchy, its factorization and its application. The numerics are defined in docs/numerics.md.
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/core/last_block.hpp"

#include <memory>
#include <string>

namespace petscrrb::rrb {

class Ranks;
struct BlackGraph; // graph/black_graph.hpp

struct Options {
  int levels = 1;
  int storage_grids = 0; // grids in r1/r2/b1/b2 storage, 2 * storage_grids <= levels
  int block = 32;        // the papers' dcb
  int amli_grid = 0;     // the grid at which AMLI's first step is; 0: the cycle is V
  int amli_apart = 0;    // from one step to the next, in grids; 0: there is one. On a graph they follow from its levels
  index_t last_unknowns = 1024; // on a graph: from so many on there are no more levels

  bool amli_at(int g) const {
    if (!amli_grid || g < amli_grid || 2 * g >= levels) return false;
    return amli_apart ? (g - amli_grid) % amli_apart == 0 : g == amli_grid;
  }
};

// What the couplings and the inverse pivots of the factor are stored in. mixed: of the finest grid in double, of the others in
// single; where the finest one is in natural order or red nodes are chosen by support, all in double.
enum class Precision {
  in_double,
  in_single,
  mixed
};

// What a factorization did; failed pivots count only while ok is false.
struct Outcome {
  bool ok = true;
  index_t unlumped = 0, null = 0;
  int failed_level = 0;
  index_t failed_i = 0, failed_j = 0; // -1: on a graph
  index_t unsupported = 0; // red nodes to which the choice of red nodes in use does no justice, where that was tested
  index_t unscaled = 0;    // b1 whose rows of S1, where that was made, could not be brought into Eisenstat's form
  bool few_kinds = false;  // of S1's rows

  void add(index_t more_unlumped, index_t more_null, index_t more_unsupported) {
    unlumped += more_unlumped, null += more_null, unsupported += more_unsupported;
  }
  // A pivot failed at (h, k) of a grid's class, the grids' classes being numbered one after the other.
  void fail(int number, index_t h, index_t k) {
    const int g = number / 4;
    const Class c = Class(number % 4);
    ok = false;
    failed_level = 2 * g + (c == b1 ? 2 : 1);
    failed_i = (2 * h + parity_x(c)) << g, failed_j = (2 * k + parity_y(c)) << g;
  }
};

// A device's inverse of the last block is substructured (dense/cuda/substructured.hpp); more unknowns would not pay.
constexpr int largest_device_inverse = 4096;

// M^-1 = (L^-T D^-1/2) (D^-1/2 L^-1): all of it, the right factor (PETSc's "left") or the left factor.
enum class Part {
  whole,
  left,
  right
};

// Whether y^T B y is wanted too, where B is what of M^-1 is left from a grid on and y its right-hand side: the sum of
// y_R^2 / d_R over the red nodes, y as the forward sweep left it, and the product y.z where the rest was solved.
enum class Energy {
  no,
  yes
};

// Black nodes left after level 0, 1, ..., l of a whole grid.
inline std::vector<index_t> black_nodes(Extent x, int levels) {
  std::vector<index_t> n;
  for (int k = 0; k <= levels; ++k) {
    if (k > 0 && k % 2 == 0) x = x.coarser();
    n.push_back(k % 2 ? x.nodes_of(b1).size() + x.nodes_of(b2).size() : x.nodes());
  }
  return n;
}

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

// On a device. An odd last level has kernels and copies of its own at every visit; where an iteration is so short that they
// cost more than the iteration or two that one more level does, there is one more (benchmarks/results/odd_levels.csv).
inline int default_device_levels(index_t nx, index_t ny) {
  constexpr index_t short_iterations = index_t(1) << 22; // points
  const int l = default_levels(nx, ny, largest_device_inverse);
  return l >= 3 && l % 2 && l < max_levels(nx, ny) && nx * ny <= short_iterations ? l + 1 : l;
}

// g_max of de Jong and Vuik 2016, eq. (3.1)
inline int max_storage_grids(index_t nx, index_t ny, int block, int levels) {
  int g = 0;
  while ((index_t(block) << g) < std::max(nx, ny)) ++g;
  return std::min(g, levels / 2);
}

// From how many levels on AMLI's step pays: with fewer it saves an iteration or two at most.
constexpr int amli_from_levels = 8;

// The grids at which AMLI's steps are: the first is small enough (1/16 of the matrix) that a second visit costs little. Where there are many
// levels below it, so that what it repeats has a large condition number itself, there is a step each two grids. 0: too few levels.
inline int default_amli_grid(int levels) { return levels < 6 ? 0 : 2; }
inline int default_amli_apart(int levels) { return levels < 12 ? 0 : 2; }

// Of levels on a graph: how many are those of plain RRB, couplings an unknown that each starts from, and those of the factor.
struct GraphReport {
  int plain = 0;
  std::vector<double> couplings;
  double factor = 0;
  std::string halvings; // instead of all that: the directions that are halved before plain red nodes do, x or y
};

// AMLI's step on the vector of one grid, and the estimate for it. The order of its calls is in cycle.hpp.
class AmliStep {
public:
  virtual ~AmliStep() = default;

  virtual int grid() const = 0;
  virtual AmliReport amli() const = 0;
  virtual void keep_right_hand_side(double *z) = 0;
  virtual void second_right_hand_side(double *z) = 0;
  virtual void start_estimate() = 0;
  virtual void put_residual() = 0;
  virtual void estimate_step(int j) = 0;
  virtual bool finish_estimate(int steps) = 0; // false: more steps are wanted
};

// A factorization as PCRRB sees it, wherever its arrays are: all pointers are the backend's.
class Factorization {
public:
  virtual ~Factorization() = default;

  // Of the prepared stencil s (prepare.hpp), which it may overwrite, except for s.v: that must stay where it is as long as
  // the factor is applied. Allocates nothing, and on a device waits for nothing.
  virtual void refresh(const PreparedStencil &s, Lumping lumping) = 0;
  // The last one has left it as it was.
  virtual bool keeps_matrix() const { return false; }
  // How it went; waits for it.
  virtual Outcome outcome() const = 0;

  // Of a 5-point matrix: whether refreshes make S1 in Eisenstat's form, too, where that takes no pass of its own. May throw.
  virtual void want_schur(bool) {}
  // As the next one will make it; NULL: not at all. Its kinds are those of few, whatever an outcome says.
  virtual const FirstSchur *schur() const { return nullptr; }
  // What S1 of a graph is made of, whose vectors are where down(1, ...) begins and up(..., 1) ends; NULL: red nodes are not exact, or in single
  // precision. It stays where it is.
  virtual const BlackGraph *black_graph() const { return nullptr; }

  // The parts of z = M^-1 r in natural order, z not r; cycle.hpp puts them together. down(0, grids()) ends in coarse_r();
  // the caller solves S_l coarse_z() = coarse_r(), from which up(grids(), 0) begins. Other sweeps begin and end with the
  // vector of a grid.
  virtual void down(int from, int to, const double *r, double *z, Part part) = 0;
  virtual void up(int from, int to, const double *r, double *z, Part part, Energy energy = Energy::no) = 0;
  virtual int grids() const = 0;
  virtual const double *coarse_r() const = 0;
  virtual double *coarse_z() = 0; // not coarse_r()

  // The vectors of grid g, 1 <= g <= storage_grids, or of the tail: where down(g, ...) begins and up(..., g) ends.
  virtual NextGrid right_hand_side(int) const { return {}; }
  virtual NextGrid solution(int) const { return {}; }
  // Of the last up(from, to, ..., Energy::yes), from the last block or AMLI's grid: the sum of the terms. to and
  // storage_grids are at least 1.
  virtual Terms energy() const { return {}; }

  // Steps of AMLI, from the finest grid on.
  virtual int steps() const = 0;
  virtual AmliStep &step(int) = 0;
  AmliReport amli() { return steps() ? step(0).amli() : AmliReport(); } // of the first one
  virtual double *work(int k = 0) const = 0;                            // z of the cycles of step k's estimate
  virtual bool has_own_vectors(int g) const { return g < options().storage_grids; } // from grid g on no z is used

  // From now on the ranks, which all have this factorization, share its applications: r and z have the nodes cuts[rank()] ... cuts[rank() + 1]
  // alone. Vectors of at most so many nodes are on all of them. False where they are all: then nothing has changed. Local; then
  // prepare_exchanges(), collective.
  virtual bool share(Ranks &, const std::vector<index_t> & /* cuts */, index_t /* gather_size */) { return false; }
  virtual void prepare_exchanges() {}

  virtual LastBlock &last_block() = 0; // S_l of V A V; its values only where the backend is the host
  virtual const double *last_values() const = 0;
  virtual const double *last_excess() const = 0;

  // level 2 of the finest grid; only where that is in r1/r2/b1/b2 storage
  virtual BlackLevel black_level() const { return {}; }

  virtual const Extent &extent() const = 0;
  virtual const Options &options() const = 0;
  virtual Precision precision() const = 0;
  virtual std::size_t bytes() const = 0;
  virtual GraphReport graph() const { return {}; }
  virtual std::vector<index_t> unknowns_by_level() const = 0; // black nodes left after level 0, 1, ..., l
};

// extent: our box of the global grid and its periodic sides. `on` must outlive what is made.
template <class Backend>
std::unique_ptr<Factorization> make_factorization(const Backend &on, const Extent &, const Options &, Precision);

// Its numbers of nodes and couplings are int; and of several ranks each has all of it: what they have together, in some 40 GB.
constexpr index_t most_points_on_graph = index_t(1) << 28, most_points_of_ranks_on_graph = index_t(1) << 26;

// The same with red nodes that are chosen by support (graph/), by the values of the stencil, which stays as it is: it is factored by them. The
// grids are levels.
// o.levels: at most; o.amli_grid: not 0 where AMLI's step is wanted. single: the factor is stored in single precision.
template <class Backend>
std::unique_ptr<Factorization> make_on_graph(const Backend &on, const Extent &, const Options &, bool single,
                                             const PreparedStencil &, Lumping lumping);
// Where halving the direction of strong couplings will do, by that (graph/halved_rrb.hpp), else on the graph.
template <class Backend>
std::unique_ptr<Factorization> make_by_support(const Backend &on, const Extent &, const Options &, bool single,
                                               const PreparedStencil &, Lumping lumping);

template <class T, class First = T>
constexpr Precision precision_of = !std::is_same_v<T, First>  ? Precision::mixed
                                   : std::is_same_v<T, float> ? Precision::in_single
                                                              : Precision::in_double;

// T: what the factor is stored in; First: on the finest grid, where that is in r1/r2/b1/b2 storage.
template <class Backend, class T, class First = T> class Rrb final : public Factorization {
public:
  Rrb(const Backend &on, const Extent &extent, const Options &o);

  void refresh(const PreparedStencil &s, Lumping lumping) override;
  bool keeps_matrix() const override {
    return has_dense() && !corners_ && !extent_.x.odd_ring() && !extent_.y.odd_ring();
  }
  Outcome outcome() const override;
  void want_schur(bool wanted) override;
  const FirstSchur *schur() const override { return schur_ ? &*schur_ : nullptr; }
  void down(int from, int to, const double *r, double *z, Part part) override;
  void up(int from, int to, const double *r, double *z, Part part, Energy energy) override;
  int grids() const override { return options_.storage_grids + tail_.grids(); }
  const double *coarse_r() const override { return in_place() ? tail_.vector() : coarse_r_.data(); }
  double *coarse_z() override { return coarse_z_.data(); }
  NextGrid right_hand_side(int g) const override {
    if (g < options_.storage_grids) return {grids_[g].right_hand_side(), {}, true, grids_[g].extent};
    return {{}, tail_.above(tail_.vector()), false, tail_.base()};
  }
  NextGrid solution(int g) const override {
    if (g < options_.storage_grids) return {grids_[g].solution(), {}, true, grids_[g].extent};
    return {{}, tail_.above(in_place() ? coarse_z_.data() : tail_.vector()), false, tail_.base()};
  }
  Terms energy() const override { return energy_.terms(); }
  int steps() const override { return int(amli_.size()); }
  AmliStep &step(int k) override { return *amli_[k]; }
  double *work(int = 0) const override { return work_.data(); }
  LastBlock &last_block() override { return block_; }
  const double *last_values() const override { return Backend::on_device ? a_.data() : block_.a.data(); }
  const double *last_excess() const override { return Backend::on_device ? excess_.data() : block_.excess.data(); }
  BlackLevel black_level() const override { return {grids_.finest(), right_hand_side(1), solution(1)}; }
  const Extent &extent() const override { return extent_; }
  const Options &options() const override { return options_; }
  Precision precision() const override { return precision_of<T, First>; }
  std::size_t bytes() const override;
  std::vector<index_t> unknowns_by_level() const override { return black_nodes(extent_, options_.levels); }

private:
  template <class V> using Array = typename Backend::template Array<V>;

  // the last block's unknowns are all of the tail's vector, and their solution needs no place in it
  bool in_place() const { return tail_.levels() == 0 && has_dense(); }
  bool has_dense() const { return !grids_.empty(); } // grids in r1/r2/b1/b2 storage
  bool looks_for_kinds() const { return !kinds_.empty() && !corners_; }
  template <class A> void factor_dense(int g, const A &a);
  template <class A> void factor_tail(int q, const A &a);
  NodeCounts *counts(int grid) const { return counts_.data() + 4 * grid; } // one a class; of b2: what else was lumped
  NodeCounts *counts_of_schur() const { return counts(grids()); }          // one
  NodeCounts *counts_of_kinds() const { return counts(grids()) + 1; }      // one; failed: they are many

  // What of the finest grid's vectors a part of the application uses: V stands at its outer ends.
  NaturalVectors natural(const double *r, double *z, Part part) const {
    return {r, z, part != Part::right ? v_ : nullptr, part != Part::left ? v_ : nullptr};
  }
  void forward_tail(int q, double *x);
  void backward_tail(int q, double *x, bool couple, Scaling scaling);
  void backward_dense(int g, const double *r, double *z, Part part);
  void reserve_energy();
  void start_energy(int from, int to, double *z);
  bool sweep_adds_start(int from, int to) const;
  void add_tail_energy(int q);
  void backward_dense_with_energy(int g, int from);
  class Step; // of AMLI
  const Step &step_at(int g) const {
    return **std::find_if(amli_.begin(), amli_.end(), [&](const auto &s) { return s->grid() == g; });
  }

  const Backend &on_;
  Extent extent_;
  Options options_;
  template <class V> using Grid = DenseGrid<Backend, V>;
  Grids<Grid, DenseArrays<Backend>, First, T> grids_; // those in r1/r2/b1/b2 storage
  Array<double> schur_memory_;
  std::optional<FirstSchur> schur_;                  // where it is made
  RowKinds<Backend> kinds_;                          // of its rows; or empty
  std::unique_ptr<typename Backend::Branch> beside_; // where they are looked for
  NaturalTail<Backend, T> tail_;
  LastBlock block_;
  std::unique_ptr<LastBlockBuilder<Backend, T>> builder_;
  Seams<Backend> seams_;
  Sweeps<Backend> sweeps_;
  PartialSum<Backend> energy_;
  Array<NodeCounts> counts_;
  Array<double> coarse_r_, coarse_z_, a_, excess_;
  std::vector<std::unique_ptr<Step>> amli_;
  Array<double> work_;
  Array<index_t> at_;
  bool corners_ = false;      // in the finest grid's matrix
  const double *v_ = nullptr; // M^-1 = V (factor of V A V)^-1 V; NULL: V = I
  Lumping lumping_;
};

} // namespace petscrrb::rrb
