// Runs the real RRB on a reference matrix: its stencil, the last block solved densely, the answer as a plain vector.
#pragma once

#include "reference/last_block.hpp"
#include "reference/problems.hpp"
#include "reference/rrb_reference.hpp"
#include "exec/host/host.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "pc/rrb/core/prepare.hpp"
#include "pc/rrb/core/rrb.hpp"
#include "pc/rrb/graph/matrix_reader.hpp"

namespace support {

using Core = petscrrb::rrb::Factorization;
using petscrrb::index_t;

inline bool identity_row(const reference::Matrix &A, int i) {
  for (const auto &[j, a] : A.row[i])
    if (j != i && a != 0.0) return false;
  return true;
}

// The stencil by coordinates, slowly; couplings to identity rows left out.
inline petscrrb::Stencil stencil_of(const reference::Matrix &A, const petscrrb::Grid &g, bool corners,
                                    const reference::Vector &v,
                                    petscrrb::Positive positive = petscrrb::Positive::moves) {
  const int nx = int(g.n[0]), ny = int(g.n[1]);
  petscrrb::Stencil s;
  for (auto *a : {&s.C, &s.E, &s.N}) a->assign(nx * ny, 0.0);
  if (corners) s.NE.assign(nx * ny, 0.0), s.NW.assign(nx * ny, 0.0);
  s.v = v;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const int p = j * nx + i;
      const auto coupling = [&](int di, int dj) {
        int a = i + di, b = j + dj;
        if (g.periodic[0]) a = (a + nx) % nx;
        if (g.periodic[1]) b = (b + ny) % ny;
        if (a < 0 || a >= nx || b < 0 || b >= ny) return 0.0;
        const int q = b * nx + a;
        if (identity_row(A, p) || identity_row(A, q)) return 0.0;
        return 0.5 * (A.at(p, q) + A.at(q, p));
      };
      s.C[p] = A.at(p, p);
      if (identity_row(A, p) && s.C[p] == 0.0) s.C[p] = 1.0;
      s.E[p] = coupling(1, 0);
      s.N[p] = coupling(0, 1);
      if (corners) s.NE[p] = coupling(1, 1), s.NW[p] = coupling(-1, 1);
    }
  petscrrb::RowFacts found;
  petscrrb::rrb::prepare(s, g, petscrrb::zero_sum, positive, found);
  return s;
}

struct Problem {
  reference::Matrix A;
  int nx = 0, ny = 0;
  bool periodic_x = false, periodic_y = false, corners = true;
  reference::Vector v;
  int x0 = 0, y0 = 0;
  bool on_graph = false; // nx, ny: lines and planes of a 3D grid, or 0
};

inline Problem converted(const reference::Problem &p) {
  return {p.A, p.grid.nx, p.grid.ny, p.grid.periodic_x, p.grid.periodic_y, true, p.v, 0, 0, false};
}

struct Choice {
  int levels = 1;
  double omega = 1;
  bool both = false;
  int storage_grids = 0, block = 8, amli_grid = 0;
  petscrrb::rrb::Precision precision = petscrrb::rrb::Precision::in_double;
  int amli_apart = 0;
  bool support = false; // red nodes are chosen by it; levels: at most
  bool halves = false;  // so, where halving will not do
  bool test = false;    // plain ones, by support
  index_t last = 1;     // then: unknowns of the last block
  double null_inverse = 0;
};

constexpr petscrrb::rrb::Precision precisions[] = {
    petscrrb::rrb::Precision::in_double, petscrrb::rrb::Precision::in_single, petscrrb::rrb::Precision::mixed};
inline const char *word(petscrrb::rrb::Precision p) {
  const char *const words[] = {", double", ", single", ", mixed"};
  return words[int(p)];
}

// A vector of a grid in natural order.
inline reference::Vector values(const petscrrb::rrb::NextGrid &g) {
  reference::Vector x;
  for (index_t b = g.extent.y.lo; b < g.extent.y.hi; ++b)
    for (index_t a = g.extent.x.lo; a < g.extent.x.hi; ++a)
      x.push_back(g.dense ? petscrrb::rrb::Split{g.split}(a, b) : g.natural(a, b));
  return x;
}
inline void set_values(const petscrrb::rrb::NextGrid &g, const reference::Vector &x) {
  auto next = x.begin();
  for (index_t b = g.extent.y.lo; b < g.extent.y.hi; ++b)
    for (index_t a = g.extent.x.lo; a < g.extent.x.hi; ++a)
      (g.dense ? petscrrb::rrb::Split{g.split}.at(a, b) : g.natural.at(a, b)) = *next++;
}

// Factors the problem; z = M^-1 r with the reference's own dense solver of the last block.
class RealRRB {
  auto solver() {
    return [this](petscrrb::rrb::Part) {
      const int n = core_->last_block().size();
      reference::Vector solution(core_->coarse_r(), core_->coarse_r() + n);
      last_.solve(solution);
      std::copy(solution.begin(), solution.end(), core_->coarse_z());
      return 0;
    };
  }

public:
  RealRRB(const Problem &p, const Choice &c) : problem_(p), choice_(c) {
    grid_.n[0] = p.nx, grid_.n[1] = p.ny;
    grid_.periodic[0] = p.periodic_x && p.nx > 2, grid_.periodic[1] = p.periodic_y && p.ny > 2;
    const index_t nx = p.x0 ? p.nx + p.x0 : p.nx, ny = p.y0 ? p.ny + p.y0 : p.ny;
    petscrrb::rrb::Extent extent{{p.x0, p.x0 + p.nx, nx, grid_.periodic[0]},
                                 {p.y0, p.y0 + p.ny, ny, grid_.periodic[1]}};
    if (p.on_graph) {
      const index_t n = p.A.size();
      grid_.dim = p.ny ? 3 : 2, grid_.n[2] = p.ny ? n / p.nx / p.ny : 1;
      extent = {{0, n, n, false}, {0, 1, 1, false}};
      set_graph();
    }
    make(extent, c.omega);
    factor(c.omega);
    if (!outcome_.ok) {
      redone_ = true;
      if (c.support) make(extent, 0.0);
      factor(0.0);
    }
  }

  const petscrrb::rrb::Outcome &outcome() const { return outcome_; }
  bool redone() const { return redone_; }
  const petscrrb::RowFacts &facts() const { return facts_; } // of a graph
  Core &core() { return *core_; }
  void refresh() { factor(redone_ ? 0.0 : choice_.omega); }
  void refresh(const Problem &p) {
    problem_ = p;
    refresh();
  }

  reference::Vector apply(const reference::Vector &r, petscrrb::rrb::Part part = petscrrb::rrb::Part::whole) {
    reference::Vector z(r.size(), std::numeric_limits<double>::quiet_NaN());
    petscrrb::rrb::Cycle(*core_).apply(r.data(), z.data(), part, solver());
    return z;
  }

  // By the finest level, and all others by themselves, as on a device.
  reference::Vector apply_by_schur(const reference::Vector &r) {
    using namespace petscrrb::rrb;
    reference::Vector z(r.size(), std::numeric_limits<double>::quiet_NaN());
    core_->down(0, 1, r.data(), z.data(), Part::whole);
    Cycle(*core_).apply_below(1, solver());
    core_->up(1, 0, r.data(), z.data(), Part::whole);
    return z;
  }
  // What of M^-1 is left from grid g on: the solution for the right-hand side y.
  reference::Vector apply_below(int g, const reference::Vector &y,
                                petscrrb::rrb::Energy energy = petscrrb::rrb::Energy::no) {
    set_values(core_->right_hand_side(g), y);
    petscrrb::rrb::Cycle(*core_).apply_below(g, solver(), energy);
    return values(core_->solution(g));
  }

private:
  petscrrb::Stencil stencil() const {
    return stencil_of(problem_.A, grid_, problem_.corners, problem_.v,
                      choice_.support ? petscrrb::Positive::stays : petscrrb::Positive::moves);
  }
  void set_graph() {
    csr_ = problem_.A.csr();
    reader_ = petscrrb::rrb::make_matrix_reader(host_);
    reader_->set(rows(), grid_);
  }
  petscrrb::Csr rows() const { return {problem_.A.size(), csr_.offset.data(), csr_.column.data(), csr_.value.data()}; }
  // Reads the matrix again: a refresh overwrites what was read.
  petscrrb::rrb::PreparedStencil read() {
    if (!reader_) {
      stencil_ = stencil();
      return petscrrb::rrb::prepared(stencil_);
    }
    csr_ = problem_.A.csr();
    facts_ = reader_->read(rows(), problem_.v.empty() ? nullptr : problem_.v.data(), 1e-14);
    return reader_->prepared();
  }
  void make(const petscrrb::rrb::Extent &extent, double omega) {
    using namespace petscrrb::rrb;
    const Choice &c = choice_;
    Options o{c.levels, c.storage_grids, c.block, c.amli_grid, c.amli_apart};
    o.last_unknowns = c.last;
    const petscrrb::rrb::PreparedStencil s = read();
    const auto make_chosen = c.halves ? make_by_support<petscrrb::Host> : make_on_graph<petscrrb::Host>;
    core_ = c.support ? make_chosen(host_, extent, o, c.precision == Precision::in_single, s, lumping(omega))
                      : make_factorization(host_, extent, o, c.precision);
    factored_ = c.support;
  }
  petscrrb::rrb::Lumping lumping(double omega) const {
    petscrrb::rrb::Lumping l{omega, choice_.both, choice_.test};
    l.null_inverse = choice_.null_inverse;
    return l;
  }
  void factor(double omega) {
    if (!std::exchange(factored_, false)) core_->refresh(read(), lumping(omega));
    outcome_ = core_->outcome();
    const auto &block = core_->last_block();
    reference::Graph graph(block.size());
    for (int i = 0; i < block.size(); ++i)
      for (int q = block.ia[i]; q < block.ia[i + 1]; ++q) graph[i][block.ja[q]] = block.a[q];
    reference::Vector scale(block.size());
    for (int i = 0; i < block.size(); ++i) scale[i] = graph[i][i];
    last_.null_inverse = choice_.null_inverse;
    if (last_.factor(graph, scale) >= 0) outcome_.ok = false;
    if (outcome_.ok) petscrrb::rrb::Cycle(*core_).estimate(solver());
  }

  Problem problem_;
  Choice choice_;
  petscrrb::Grid grid_;
  petscrrb::Stencil stencil_;
  reference::CSR csr_;
  petscrrb::RowFacts facts_;
  petscrrb::Host host_;
  std::unique_ptr<petscrrb::rrb::MatrixReader> reader_; // instead of the stencil, of a matrix on no grid
  std::unique_ptr<Core> core_;
  reference::LastBlock last_;
  petscrrb::rrb::Outcome outcome_;
  bool redone_ = false, factored_ = false;
};

} // namespace support
