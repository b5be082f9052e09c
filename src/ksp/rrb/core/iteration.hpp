// What KSPRRB and KSPFUSEDCG see of conjugate gradients, on the host or on a device.
#pragma once

#include "exec/sums.hpp"
#include "pc/rrb/core/rrb.hpp"
#include "stencil/facts.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace petscrrb {

struct Csr;
struct Host;
class Cuda;
namespace gridmg {
class GridMG;
}
namespace rrb {
class BlackRanks;
}

namespace rrbsolver {

using namespace rrb;

enum class Norm {
  none,
  natural,          // sqrt((r, M^-1 r)), the papers'
  unpreconditioned, // ||r||
  preconditioned    // ||M^-1 r||
};

struct Numbers {
  double curvature = 0; // (p, A p)
  double rho = 0;       // (r, M^-1 r), r after the iteration
  double norm = 0;
};

// When a run of steps ends, which the host does not watch: after `most`, or once the norm of one is `below` or less, or
// `above` or more; but not because of the norm before `untested` of them. Also where a sum is not what conjugate gradients
// need.
struct Limits {
  int most = 1, untested = 0;
  double below = -1.0, above = std::numeric_limits<double>::infinity();
};

// What a solve asks of an iteration. Errors are 0, or what solve() has returned.
class Iteration {
public:
  using Solve = std::function<int(Part)>; // with the last block: 0, or an error that ends the work

  // How a run on a device repeats its step: in a graph's conditional node, or by launching the step's graph so many times that no step
  // waits for the host, where there are no such nodes.
  enum class Loop {
    automatic,
    launches
  };

  virtual ~Iteration() = default;
  virtual int start(const double *r0, Norm, const Solve &) = 0;
  virtual Numbers started(Norm) const = 0; // waits
  // Takes a step, or steps until the limits say so, and sets what came of them; waits. captured: on a device they are a graph, for
  // which solve() may only launch kernels, the same ones as long as the factorization's arrays are.
  virtual int run(Norm, const Limits &, bool captured, const Solve &, std::vector<Numbers> &) = 0;
  virtual int resume(const Solve &) = 0; // others have used the levels' vectors since
  virtual void settle() = 0;             // the black nodes' correction is 0
  virtual void drop_step() = 0;          // the last step's alpha p is no part of the solution: it broke down
  // x = or += the correction so far; of the iteration it changes nothing.
  virtual void solution(const double *r0, double *x, bool add) const = 0;
  virtual bool eisenstat() const { return false; } // the product is that of Eisenstat's form
  virtual bool by_kinds() const { return false; }  // it reads a byte in place of each row
  virtual std::size_t bytes() const = 0;
};

// All that is made refers to what it is made with.

// On PCRRB's factorization of a stencil. full: on all nodes; ranks: several, on the first Schur complement, or NULL
class RrbIteration : public Iteration {
public:
  // made: S1 of it in Eisenstat's form, where the factorization has made that (Factorization::schur())
  virtual void refresh(const PreparedStencil &, const FirstSchur *made = nullptr) = 0;
  virtual bool refreshed() = 0; // ends a refresh, and waits for it: whether red nodes have positive pivots
};
std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, Factorization &, bool full,
                                                 BlackRanks *ranks = nullptr);
std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, Factorization &, bool full, BlackRanks *ranks = nullptr,
                                                 Iteration::Loop = Iteration::Loop::automatic);

// On the first Schur complement of a graph, of a factorization that has a black_graph().
std::unique_ptr<Iteration> make_graph_iteration(const Host &on, Factorization &);
std::unique_ptr<Iteration> make_graph_iteration(Cuda &on, Factorization &);

// Around PCGRIDMG's multigrid. black: on the black points alone, where the multigrid is red_black()
class GridIteration : public Iteration {
public:
  virtual void refresh() = 0;                // the matrix is that of the multigrid
  virtual RowFacts refresh(const Csr &) = 0; // another one on its grid; waits
};
std::unique_ptr<GridIteration> make_grid_iteration(gridmg::GridMG &, bool black);
std::unique_ptr<GridIteration> make_grid_iteration(Cuda &on, gridmg::GridMG &, bool black);

// On all unknowns with the rows of a matrix as PETSc stores them, on one rank: around PCRRB, whose last block solve() has, or around any
// preconditioner of n unknowns, all of which is solve().
class MatrixIteration : public Iteration {
public:
  // The rows, which lie where the iteration is. same_pattern: as at the last time. Waits.
  virtual void refresh(const Csr &, bool same_pattern) = 0;
  // that the product takes in their place; 0: they are read in each product, and must stay until the next refresh
  virtual int diagonals() const = 0;
  // What a preconditioner that is the caller's gets, and where it puts what it makes of that.
  virtual double *residual() const = 0;
  virtual double *preconditioned() const = 0;
};
// What a preconditioner that is the caller's may say.
struct Callers {
  std::function<long()> version; // another one where a captured application would not be the same; empty: it always is
  Terms energy;                  // of (residual, preconditioned), which an application leaves; or none
};
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, Factorization &);
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, index_t n);
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, Factorization &);
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, index_t n, const Callers &with = {});

} // namespace rrbsolver
} // namespace petscrrb
