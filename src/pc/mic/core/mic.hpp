// An incomplete Cholesky factorization, or SSOR, on a grid, as PCMIC uses it: one implementation on the host, one on a
// CUDA device.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"
#include "stencil/facts.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::mic {

enum class Type {
  mic,
  ssor
};

struct Options {
  Type type = Type::mic;
  double omega = 1;        // mic: 0 for IC(0) to 1 for MIC(0); ssor: the relaxation, between 0 and 2
  bool single = false;     // the factor is stored in single precision
  double shift = 0;        // mic: a pivot below so much of the matrix's diagonal entry is raised to that; 0: it fails
  index_t block_lines = 0; // of the last direction (y in 2D, z in 3D) in a block; blocks are not coupled; 0: one block
};

// What the rows and the pivots of a matrix turned out to be.
struct Findings {
  RowFacts read;          // of the rows
  index_t pivot = no_row; // the first row whose pivot is not positive
  double pivot_value = 0; // that pivot over the row's diagonal entry
  index_t null_rows = 0;  // pivots that are zero: null directions of a singular matrix
  index_t shifted = 0;    // pivots that were raised
  bool constant = false;  // the couplings of each direction are all alike, and sweeps read pivots only

  bool bad_pivot() const { return read.bad_pivot != no_row || pivot != no_row; }
};

// The omega of a modified incomplete Cholesky factorization, if nobody says: 1 - 24 / n^2 with n the mean number of points a side, from
// 0.9 to 0.999, in 2D to 0.9995. Within an iteration or two of the best, long grids included.
inline double default_omega(const Grid &g) {
  double points = 1;
  int sides = 0;
  for (int d = 0; d < 3; ++d) {
    points *= static_cast<double>(g.n[d]);
    sides += g.n[d] > 1;
  }
  const double n = sides > 0 ? std::pow(points, 1.0 / sides) : 1;
  return std::clamp(1 - 24 / (n * n), 0.9, sides == 3 ? 0.999 : 0.9995);
}

// M = (D + L) D^-1 (D + L^T) (ssor: divided by 2 - omega) with L the strictly lower triangle of the matrix in natural
// order, couplings over periodic seams and between blocks left out.
class Mic {
public:
  virtual ~Mic() = default;

  // The factor of a matrix that lies where this does. Allocates nothing. Unless the findings' result is ok and no pivot
  // is bad, it is not to be used.
  virtual Findings refresh(const Csr &) = 0;
  // z = M^-1 r for each column; columns lie r_stride and z_stride apart, r and z are not the same
  virtual void apply(const double *r, index_t r_stride, double *z, index_t z_stride, int columns) = 0;
  void apply(const double *r, double *z) { apply(r, 0, z, 0, 1); }
  // The same, which leaves so many terms of (r, z) there; 0: none.
  virtual index_t energy_terms() const { return 0; }
  virtual void apply(const double *r, double *z, double * /* terms */) { apply(r, z); }
  // C^-1 r and C^-T r, M = C C^T: the two halves, C = (D + L) D^-1/2
  virtual void apply_left(const double *r, double *z) = 0;
  virtual void apply_right(const double *r, double *z) = 0;
  // Throws if values of an application did not arrive.
  virtual void check() {}
  // Another one after a refresh that changes what an application enqueues.
  virtual long version() const { return 0; }
  virtual double bytes() const = 0;
};

std::unique_ptr<Mic> make_mic(const Grid &, const Options &);
// All work goes to the stream, which the owner sets before each call. shared: bytes of shared memory that blocks have, for which tiles are
// made; 0: the device's
std::unique_ptr<Mic> make_mic(const Cuda &, const Grid &, const Options &, int shared = 0);

} // namespace petscrrb::mic
