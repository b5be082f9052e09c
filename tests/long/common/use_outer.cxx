// The steps of a random use in which another solver calls this one: Newton's method, and implicit time steps.
#include "use_impl.hpp"

#include <algorithm>
#include <cmath>

namespace longtest {

namespace {

// F(x) = A x + c x^3 - b, whose Jacobian is A but for its diagonal.
struct Equation {
  Mat A;
  Vec b;
  double c;
};

PetscErrorCode function(SNES, Vec x, Vec f, void *context) {
  const Equation &e = *static_cast<Equation *>(context);
  Vec cube;

  PetscFunctionBegin;
  PetscCall(MatMult(e.A, x, f));
  PetscCall(VecAXPY(f, -1, e.b));
  PetscCall(VecDuplicate(x, &cube));
  PetscCall(VecPointwiseMult(cube, x, x));
  PetscCall(VecPointwiseMult(cube, cube, x));
  PetscCall(VecAXPY(f, e.c, cube));
  PetscCall(VecDestroy(&cube));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode jacobian(SNES, Vec x, Mat, Mat J, void *context) {
  const Equation &e = *static_cast<Equation *>(context);
  Vec diagonal, square;

  PetscFunctionBegin;
  PetscCall(MatCopy(e.A, J, SAME_NONZERO_PATTERN));
  PetscCall(VecDuplicate(x, &diagonal));
  PetscCall(VecDuplicate(x, &square));
  PetscCall(MatGetDiagonal(e.A, diagonal));
  PetscCall(VecPointwiseMult(square, x, x));
  PetscCall(VecAXPY(diagonal, 3 * e.c, square));
  PetscCall(MatDiagonalSet(J, diagonal, INSERT_VALUES));
  PetscCall(VecDestroy(&square));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Matrices with a diagonal in each row, so that values alone are new.
bool Use::has_outer() const {
  bool diagonal = problem.columns == problem.size() && problem.finite && storage.type != "dense";
  for (int i = 0; i < problem.size(); ++i) diagonal = diagonal && problem.A.row[i].count(i);
  return diagonal && problem.tame;
}

void Use::newton() {
  if (!has_outer()) return;
  say("; SNESSolve");
  changed();
  std::string words;
  Handle<SNES, SNESDestroy> snes;
  Matrix J;
  const reference::Vector b = random_rhs(random, problem, words);
  const Vector rhs = numbering.vector(b, A, true), x = numbering.vector({}, A, false),
               f = numbering.vector({}, A, true);
  Equation equation{A, rhs, random.uniform()};
  SNESConvergedReason reason;
  PetscReal atol, rtol, first, last;
  ok(MatDuplicate(A, MAT_COPY_VALUES, J.put()));
  ok(SNESCreate(PETSC_COMM_WORLD, snes.put()));
  ok(SNESSetOptionsPrefix(snes, "use_"));
  ok(SNESSetFunction(snes, f, function, &equation));
  ok(SNESSetJacobian(snes, J, J, jacobian, &equation));
  ok(SNESSetLagPreconditioner(snes, random.integer(1, 2)));
  ok(SNESSetFromOptions(snes));
  ok(VecNorm(rhs, NORM_2, &first));
  ok(SNESSolve(snes, nullptr, x));
  ok(SNESGetConvergedReason(snes, &reason));
  ok(SNESGetTolerances(snes, &atol, &rtol, nullptr, nullptr, nullptr));
  ok(function(snes, x, f, &equation));
  ok(VecNorm(f, NORM_2, &last));
  const bool claims = reason == SNES_CONVERGED_FNORM_ABS || reason == SNES_CONVERGED_FNORM_RELATIVE;
  if (claims && !(last <= 10 * std::max(atol, rtol * first)))
    fault = "SNES converged with a function's norm of " + std::to_string(last) + ", at first " + std::to_string(first) +
            ": " + SNESConvergedReasons[reason];
}

void Use::time_steps() {
  if (!has_outer()) return;
  say("; TSSolve");
  changed();
  Handle<TS, TSDestroy> ts;
  Matrix minus;
  const Vector u = numbering.vector(reference::Vector(problem.size(), 1.0), A, false);
  ok(MatDuplicate(A, MAT_COPY_VALUES, minus.put()));
  ok(MatScale(minus, -1));
  ok(TSCreate(PETSC_COMM_WORLD, ts.put()));
  ok(TSSetOptionsPrefix(ts, "use_"));
  ok(TSSetProblemType(ts, TS_LINEAR));
  ok(TSSetRHSFunction(ts, nullptr, TSComputeRHSFunctionLinear, nullptr));
  ok(TSSetRHSJacobian(ts, minus, minus, TSComputeRHSJacobianConstant, nullptr));
  ok(TSSetType(ts, TSBEULER));
  ok(TSSetTimeStep(ts, random.power(-2, 0)));
  ok(TSSetMaxSteps(ts, 3));
  ok(TSSetMaxTime(ts, 1e9));
  ok(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  ok(TSSetFromOptions(ts));
  ok(TSSolve(ts, u));
}

} // namespace longtest
