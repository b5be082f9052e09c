// Conjugate gradients on all unknowns with the rows of a matrix as PETSc stores them, as an iteration on one rank, on the host or on a
// device.
#pragma once

#include "grid/csr.hpp"
#include "ksp/rrb/core/iteration.hpp"

#include <memory>

namespace petscrrb {
struct Host;
class Cuda;
} // namespace petscrrb

namespace petscrrb::rrbsolver {

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

// Around PCRRB, whose last block solve() has, or around any preconditioner of n unknowns, all of which is solve(). What they are made with
// must outlive them.
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, Factorization &);
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, index_t n);
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, Factorization &);
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, index_t n, const Callers &with = {});

// On: IterationOnHost or IterationOnDevice.
template <class On> class OnMatrix final : public On {
public:
  using On::On;
  void refresh(const Csr &A, bool same_pattern) override { On::cg_.product().refresh(A, same_pattern); }
  int diagonals() const override { return On::cg_.product().diagonals(); }
  bool by_kinds() const override { return On::cg_.product().by_kinds(); }
  double *residual() const override { return On::cg_.residual(); }
  double *preconditioned() const override { return On::cg_.preconditioned(); }
};

} // namespace petscrrb::rrbsolver
