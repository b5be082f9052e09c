// Subdomain deflation without PETSc's objects: what its subdomains are, and the projection that each backend implements.
// Z has one column a subdomain, 1 on its rows; E = Z^T A Z, Q = Z E^+ Z^T, P = I - A Q.
#pragma once

#include "dense/inverse.hpp"
#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::deflation {

// The most subdomains: a dense E^-1 of so many takes half a gigabyte.
constexpr int most_subdomains = 8192;

// Boxes of grid points: piece[d][i] is the piece of side d in which coordinate i is, 0 <= piece < count[d], increasing.
// Box (p, q, r) has the number (r * count[1] + q) * count[0] + p. No box is empty of points.
struct Boxes {
  int count[3] = {0, 0, 0};
  std::vector<int> piece[3]; // of all three sides: in 2D, piece[2] is {0}

  bool none() const { return count[0] == 0; }
  index_t size() const { return index_t(count[0]) * count[1] * count[2]; }
};

// Even parts: n points in `parts` pieces, at most one a point.
Boxes blocks_of(const Grid &, const index_t parts[3]);
// Pieces of `lines` grid lines along x (neighbours in y; the last piece of a plane may have fewer), each in `cuts` parts.
Boxes stripes_of(const Grid &, index_t lines, index_t cuts);

// The rank that has all rows, and what the ranks that share a matrix override. On several the Csr of each has own rows, then
// ghosts: rows of others that own ones are coupled with, the last of which is empty and stands for all that are further away.
class Ranks {
public:
  virtual ~Ranks() = default;
  virtual bool alone() const { return true; }
  virtual PetscInt ghosts() const { return 0; }
  virtual index_t point(PetscInt row) const { return row; }  // its grid point in natural order, of ghosts too
  virtual index_t number(PetscInt row) const { return row; } // in the whole matrix

  // collective; all arrays are on the host; the results are the same on all ranks, to the last bit.
  // unite(), first() and agree() throw on all ranks what one of them has thrown before; before the others, nothing may be
  // thrown on one alone.
  virtual void sum(double *, std::size_t) const {}
  virtual void exchange(double *) const {} // values of own rows to the ghosts' places behind them
  virtual bool any(bool here) const { return here; }
  // what any rank has; sorted, each once, as it must be where there is one
  virtual std::vector<std::uint64_t> unite(std::vector<std::uint64_t> here) const { return here; }
  virtual std::string first(const std::string &why) const { return why; } // of the first that says something
  // all throw what the first throws that has something to
  virtual void agree(const std::exception_ptr &here) const {
    if (here) std::rethrow_exception(here);
  }

  index_t total(index_t here) const {
    double all = double(here);
    sum(&all, 1);
    return index_t(all);
  }

  // f(), in which ranks do nothing together. If it throws on one rank, or something was thrown there since they last did
  // anything together, all of them throw.
  template <class F> void on_all(const F &f) const {
    std::exception_ptr here;
    try {
      f();
    } catch (...) {
      here = std::current_exception();
    }
    agree(here);
  }
};
inline const Ranks one_rank;

// A row whose only nonzero is its diagonal (or that has none) is an identity row: in no subdomain, Z is zero there.
// Explicit zeros are no couplings.
//
// Boxes alone: the subdomain is the box. Phases: connected components of the couplings a_ij != 0 between rows of the
// same phase and, where there are boxes too, of the same box; numbered in the order of their first rows.
struct Space {
  Grid grid;                      // of the rows, of all ranks
  const Ranks *ranks = &one_rank; // borrowed for good
  Boxes boxes;
  bool phases = false;
  const double *phi = nullptr; // phases by phi >= 0, a value a row, where the matrix is; borrowed during setup() only.
                               // Null: by diagonals,
  double jump = 10;            // rows i and j are of one phase where max(a_ii, a_jj) < jump * min(a_ii, a_jj)
  // A row's sum over the columns that are no identity rows counts as zero if it is at most this part of the diagonal.
  double rounding = 1e-14;
};

using dense::Inverse; // of E

enum class Result {
  ok,
  rebuild, // refresh(): the subdomains are others than at setup() (identity rows, phases): set up again
  refused, // why says the reason: entries that are not finite or not symmetric (stencil/facts.hpp; identity rows' columns
           // left out), too many subdomains
  failed   // E is not positive (semi)definite: why says the subdomain
};

struct Report {
  std::string why;         // of refused and failed
  int subdomains = 0;      // columns of Z
  int empty = 0;           // boxes that hold identity rows only; E has 1 on their diagonal
  int null_directions = 0; // connected components of E's graph whose rows' sums all count as zero
  index_t identity_rows = 0;
  index_t stored = 0; // entries of AZ; zeros are not stored
  std::string inverse =
      ""; // how E^+ is applied, for the view: "explicit inverse, dense", "Cholesky, bandwidth 33", ...
  double bytes = 0;
};

// Q's parts for one symmetric matrix. Vectors are as long as the matrix has rows and lie where it lies; c, the values of
// the subdomains, is held inside. Sums are added in a fixed order: bitwise reproducible.
class Projection {
public:
  virtual ~Projection() = default;

  // Structure and values; allocates. Inside a refused or failed one nothing else may be called but setup().
  virtual Result setup(const Csr &, const Space &, Inverse) = 0;
  // New values, and perhaps a new phi, of the same pattern and Space; allocates nothing on one rank.
  virtual Result refresh(const Csr &, const double *phi) = 0;
  virtual const Report &report() const = 0;

  virtual void restrict_residual(const double *r, const double *y) = 0; // c = Z^T r - (AZ)^T y; either may be null
  virtual void solve() = 0;                                             // c <- E^+ c, symmetric
  virtual void prolong(const double *y, double *z) = 0;                 // z = y + Z c; y null: z = Z c; z may be y
  // z += Z c, which leaves so many terms of (r, z); 0: it cannot
  virtual index_t energy_terms() const { return 0; }
  virtual void prolong(const double * /* r */, double *z, double * /* terms */) { prolong(z, z); }
  virtual void subtract(double *w) = 0; // w -= (AZ) c
};

std::unique_ptr<Projection> make_projection();
// On a device. All work goes to the stream, which the owner sets before each call (petsc/stream_cuda.h).
std::unique_ptr<Projection> make_projection(const Cuda &);

} // namespace petscrrb::deflation
