/* KSPRRB's own iteration on arrays, where those of the preconditioner are. */
#pragma once

#include "ksp/rrb/ksprrb_solver.h"
#include "pc/vectors.h"
#if PETSCRRB_ON_DEVICES
  #include "petsc/stream_cuda.h"
#endif

class KSPRRBFused : public KSPRRBSolver {
public:
  using Iteration = petscrrb::rrbsolver::Iteration;

  PetscErrorCode Start(Vec r0, Norm norm, Numbers *numbers) override {
    const PetscScalar *r;

    PetscFunctionBegin;
    PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
    PetscCall(StartFrom(r, norm, numbers));
    PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) override {
    PetscFunctionBegin;
    PetscCall(Compute([&] { return iteration().run(norm, limits, captured_ != PETSC_FALSE, solve_, *steps); }));
    if (!steps->empty()) PetscCall(Check(steps->back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Resume() override {
    return Compute([&] { return iteration().resume(solve_); });
  }
  PetscErrorCode Settle() override {
    return Compute([&] { return iteration().settle(), 0; });
  }
  void DropStep() override { iteration().drop_step(); }
  PetscErrorCode Solution(Vec r0, Vec x, PetscBool add) override {
    return PetscRRBUseArrays(PETSC_TRUE, r0, x, add,
                             [&](const PetscScalar *r, PetscScalar *to) { return PutSolution(r, to, add); });
  }
  double bytes() const override { return (double)iteration().bytes(); }

protected:
  KSPRRBFused(const char type[], PetscRRBStream *stream, PetscBool captured, Iteration::Solve solve)
      : say_(type, stream ? PETSC_ERR_GPU : PETSC_ERR_LIB), stream_(stream), captured_(captured),
        solve_(std::move(solve)) {}

  virtual Iteration &iteration() const = 0;
  virtual PetscErrorCode Check(const Numbers &) { return PETSC_SUCCESS; } /* what came of messages */

  PetscErrorCode StartFrom(const PetscScalar *r0, Norm norm, Numbers *numbers) {
    PetscFunctionBegin;
    PetscCall(Compute([&] {
      const int error = iteration().start(r0, norm, solve_);
      if (!error) *numbers = iteration().started(norm);
      return error;
    }));
    PetscCall(Check(*numbers));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add) {
    return Compute([&] { return iteration().solution(r0, x, add != PETSC_FALSE), 0; });
  }
  /* f(), which may throw and returns 0 or an error that PETSC has raised, where the arrays are. */
  template <class F> PetscErrorCode Compute(const F &f) {
    int error = 0;

    PetscFunctionBegin;
#if PETSCRRB_ON_DEVICES
    if (stream_) {
      PetscCall(PetscLogGpuTimeBegin());
      const PetscErrorCode thrown = stream_->Run([&] { error = f(); });
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(thrown);
      PetscCall((PetscErrorCode)error);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    PetscCall(PetscRRBTry(say_, [&] { error = f(); }));
    PetscCall((PetscErrorCode)error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const PetscRRBSay say_;
  PetscRRBStream *const stream_; /* the preconditioner's; NULL on the host */

private:
  const PetscBool captured_; /* solve_ only enqueues work, so that a graph can have it */
  const Iteration::Solve solve_;
};
