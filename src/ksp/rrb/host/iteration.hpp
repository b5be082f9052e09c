// Runs a form of conjugate gradients on the host, step by step.
#pragma once

#include "exec/host/sums.hpp"
#include "ksp/rrb/core/step.hpp"

namespace petscrrb::rrbsolver {

template <class CG> class IterationOnHost final : public CG {
public:
  using CG::CG;
  using typename CG::Solve;

  int start(const double *r0, Norm norm, const Solve &solve) override {
    return CG::start(r0, norm, solve, end(norm, true));
  }
  Numbers started(Norm norm) const override { return numbers_of(CG::scalars().data(), norm); }
  int run(Norm norm, const Limits &, bool, const Solve &solve, std::vector<Numbers> &steps) override {
    const int error = CG::step(norm, solve, end(norm, false));
    if (!error) steps.push_back(numbers_of(CG::scalars().data(), norm));
    return error;
  }
  int resume(const Solve &solve) override { return CG::resume(solve); }

private:
  auto end(Norm norm, bool start) const {
    return [this, norm, start](const Terms &below) {
      const Sums left = CG::pending(norm, start);
      for (int i = 0; i < left.count; ++i) *left.to[i] = sum_of(left.terms[i]);
      AfterCycle{CG::scalars().data(), sum_of(below), start}(0, 0);
    };
  }
};

} // namespace petscrrb::rrbsolver
