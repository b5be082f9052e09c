// Conjugate gradients on PCRRB's factorization as an iteration, on the host or on a device.
#pragma once

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

  // made: S1 of it in Eisenstat's form, where the factorization has made that (Factorization::schur())
  virtual void refresh(const PreparedStencil &, const FirstSchur *made = nullptr) = 0;
  virtual bool refreshed() = 0; // ends a refresh, and waits for it: whether red nodes have positive pivots
};

// full: on all nodes; ranks: several, on the first Schur complement, or NULL. `on` and the factorization must outlive what is made.
std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, RrbIteration::Core &, bool full,
                                                 BlackRanks *ranks = nullptr);
std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, RrbIteration::Core &, bool full, BlackRanks *ranks = nullptr,
                                                 Iteration::Loop = Iteration::Loop::automatic);

// On the first Schur complement of a graph, of a factorization that has a black_graph().
std::unique_ptr<Iteration> make_graph_iteration(const Host &on, Factorization &);
std::unique_ptr<Iteration> make_graph_iteration(Cuda &on, Factorization &);

// On: IterationOnHost or IterationOnDevice.
template <class On> class OnRrb final : public On {
public:
  using On::On;
  void refresh(const PreparedStencil &a, const FirstSchur *made) override { On::cg_.refresh(a, made); }
  bool refreshed() override { return On::cg_.refreshed(); }
  bool eisenstat() const override { return On::cg_.eisenstat(); }
  bool by_kinds() const override { return On::cg_.by_kinds(); }
};
template <class On> class OnAllNodes final : public On {
public:
  using On::On;
  void refresh(const PreparedStencil &a, const FirstSchur *) override { On::cg_.product().refresh(a); }
  bool refreshed() override { return true; }
};

} // namespace petscrrb::rrbsolver
