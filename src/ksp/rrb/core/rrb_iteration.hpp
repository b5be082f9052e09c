// Conjugate gradients on PCRRB's factorization as an iteration, on the host or on a device.
#pragma once

#include "grid/csr.hpp"
#include "ksp/rrb/core/iteration.hpp"

#include <memory>

namespace petscrrb {
struct Host;
class Cuda;
namespace rrb {
class BlackRanks;
}
} // namespace petscrrb

namespace petscrrb::rrbsolver {

// Of a stencil.
class RrbIteration : public Iteration {
public:
  using Core = Factorization;

  virtual void refresh(const PreparedStencil &) = 0;
  virtual bool positive() const = 0; // waits
};

// full: on all nodes; ranks: several, on the first Schur complement, or NULL. `on` and the factorization must outlive what is made.
std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, RrbIteration::Core &, bool full,
                                                 BlackRanks *ranks = nullptr);
std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, RrbIteration::Core &, bool full, BlackRanks *ranks = nullptr,
                                                 Iteration::Loop = Iteration::Loop::automatic);

// Of a matrix on no grid, whose arrays are the backend's and must stay as they are as long as the iteration is used; on one rank.
class RowsIteration : public Iteration {
public:
  virtual void refresh(const Csr &) = 0;
};
std::unique_ptr<RowsIteration> make_rows_iteration(const Host &on, Factorization &);
std::unique_ptr<RowsIteration> make_rows_iteration(Cuda &on, Factorization &);

// On: IterationOnHost or IterationOnDevice.
template <class On> class OnRrb final : public On {
public:
  using On::On;
  void refresh(const PreparedStencil &a) override { On::cg_.refresh(a); }
  bool positive() const override { return On::cg_.positive(); }
};
template <class On> class OnRows final : public On {
public:
  using On::On;
  void refresh(const Csr &A) override { On::cg_.refresh(A); }
};

} // namespace petscrrb::rrbsolver
