// The iteration of core/iteration.hpp on the host, for each form of conjugate gradients.
#pragma once

#include "exec/host/sums.hpp"
#include "ksp/rrb/core/iteration.hpp"

namespace petscrrb::rrbsolver {

template <class CG, class Interface> class IterationOnHost : public Interface {
public:
  using typename Interface::Solve;

  template <class... With> explicit IterationOnHost(With &&...with) : cg_(std::forward<With>(with)...) {}

  int start(const double *r0, Norm norm, const Solve &solve) override { return cg_.start(r0, norm, solve, end(true)); }
  Numbers started(Norm norm) const override { return numbers_of(cg_.scalars().data(), norm); }
  int run(Norm norm, const Limits &, bool, const Solve &solve, std::vector<Numbers> &steps) override {
    const int error = cg_.step(norm, solve, end(false));
    if (!error) steps.push_back(numbers_of(cg_.scalars().data(), norm));
    return error;
  }
  int resume(const Solve &solve) override { return cg_.resume(solve); }
  void settle() override { cg_.settle(); }
  void drop_step() override { cg_.drop_step(); }
  void solution(const double *r0, double *x, bool add) const override { cg_.solution(r0, x, add); }
  std::size_t bytes() const override { return cg_.bytes(); }

private:
  auto end(bool start) const {
    return [this, start](const Terms &below) { AfterCycle{cg_.scalars().data(), sum_of(below), start}(0, 0); };
  }

protected:
  CG cg_;
};

} // namespace petscrrb::rrbsolver
