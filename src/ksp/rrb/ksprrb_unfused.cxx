/* KSPRRB by PETSc's products, preconditioner and vector operations: for whatever its own loops cannot do. */
#include "ksp/rrb/ksprrb_data.h"

namespace {

class Unfused final : public KSPRRBSolver {
public:
  explicit Unfused(KSP ksp) : ksp_(ksp) {}
  ~Unfused() override {
    for (Vec &v : vectors_) (void)VecDestroy(&v);
  }
  /* Its vectors are where the solution is now. */
  PetscErrorCode MakeRoom() {
    PetscFunctionBegin;
    for (Vec &v : vectors_) PetscCall(PetscRRBWorkVec(ksp_->vec_sol, &v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Refresh(PC, const PetscRRBMatrix &, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    *values = KSP_RRB_VALUES_OK;
    return PETSC_SUCCESS;
  }
  PetscErrorCode Start(Vec r0, Norm norm, Numbers *numbers) override {
    PetscFunctionBegin;
    now_ = Numbers();
    pending_ = PETSC_FALSE;
    PetscCall(VecCopy(r0, r()));
    PetscCall(VecSet(delta(), 0.0));
    PetscCall(Precondition(norm));
    *numbers = now_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Steps(Norm norm, const Limits &, std::vector<Numbers> *steps) override {
    const PetscReal rho = now_.rho;

    PetscFunctionBegin;
    if (!pending_) {
      PetscCall(VecCopy(z(), p()));
    } else {
      PetscCall(VecAXPY(delta(), alpha_, p()));
      PetscCall(VecAYPX(p(), rho / rho_before_, z()));
    }
    PetscCall(KSP_MatMult(ksp_, ksp_->pc->mat, p(), q()));
    PetscCall(VecDot(p(), q(), &now_.curvature));
    rho_before_ = rho;
    alpha_ = rho / now_.curvature;
    pending_ = PETSC_TRUE;
    PetscCall(VecAXPY(r(), -alpha_, q()));
    PetscCall(Precondition(norm));
    steps->push_back(now_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Resume() override { return PETSC_SUCCESS; }
  PetscErrorCode Settle() override { return PETSC_SUCCESS; }
  void DropStep() override { pending_ = PETSC_FALSE; }
  PetscErrorCode Solution(Vec, Vec x, PetscBool add) override {
    PetscFunctionBegin;
    PetscCall(add ? VecAXPY(x, 1.0, delta()) : VecCopy(delta(), x));
    if (pending_) PetscCall(VecAXPY(x, alpha_, p()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override {
    PetscInt n = 0;

    (void)VecGetLocalSize(r(), &n);
    return 40.0 * (double)n;
  }

private:
  Vec r() const { return vectors_[0]; }
  Vec z() const { return vectors_[1]; }
  Vec p() const { return vectors_[2]; }
  Vec q() const { return vectors_[3]; }
  Vec delta() const { return vectors_[4]; }

  PetscErrorCode Precondition(Norm norm) {
    PetscFunctionBegin;
    PetscCall(KSP_PCApply(ksp_, r(), z()));
    PetscCall(VecDot(z(), r(), &now_.rho));
    now_.norm = 0.0;
    if (norm == Norm::natural) now_.norm = PetscSqrtReal(PetscAbsScalar(now_.rho));
    if (norm == Norm::unpreconditioned) PetscCall(VecNorm(r(), NORM_2, &now_.norm));
    if (norm == Norm::preconditioned) PetscCall(VecNorm(z(), NORM_2, &now_.norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  KSP ksp_;
  Vec vectors_[5] = {};
  Numbers now_;
  PetscReal rho_before_ = 1.0, alpha_ = 0.0;
  PetscBool pending_ = PETSC_FALSE; /* alpha p is not yet added to delta */
};

} // namespace

PetscErrorCode KSPRRBCreateUnfused(KSP ksp, std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
  if (!*solver) PetscCall(PetscRRBTry("PCRRB", [&] { *solver = std::make_unique<Unfused>(ksp); }));
  PetscCall(static_cast<Unfused &>(**solver).MakeRoom());
  PetscFunctionReturn(PETSC_SUCCESS);
}
