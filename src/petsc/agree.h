/* What ranks must agree on: what goes wrong on one of them, so that none waits for another, and the bits of a sum. */
#pragma once

#include "petsc/compat.h"

#include <exception>
#include <stdexcept>
#include <string>

struct PetscRRBTrouble {
  std::string why; /* empty: there is none */
  PetscErrorCode code{};
  bool settled = false; /* nothing is left to agree on: all ranks have it, or they cannot agree */

  explicit operator bool() const { return !why.empty(); }
};

/* An exception with a code of its own: that of MPI, of a call of PETSc's, or of what ranks have agreed on. */
class PetscRRBError : public std::runtime_error {
public:
  PetscRRBError(const std::string &why, PetscErrorCode of, bool is_settled = false)
      : std::runtime_error(why), code(of), settled(is_settled) {}
  const PetscErrorCode code;
  const bool settled; /* as above */
};

/* What is said of an exception; type: of the object that it is thrown in; otherwise: the code of what is no lack of
   memory and has none of its own. */
class PetscRRBSay {
public:
  PetscRRBSay(const char type[], PetscErrorCode otherwise = PETSC_ERR_LIB) : type_(type), otherwise_(otherwise) {}
  PetscRRBTrouble operator()(const std::exception &) const;

private:
  const char *type_;
  PetscErrorCode otherwise_;
};

inline const PetscRRBSay PetscRRBSayOfRows("the rows of the matrix");

/* of an error that PETSc has raised on this rank just now */
PetscRRBTrouble PetscRRBRaised(PetscErrorCode);

/* What f() throws. */
template <class F> PetscRRBTrouble PetscRRBTroubleOf(const PetscRRBSay &say, const F &f) {
  try {
    f();
    return {};
  } catch (const std::exception &e) {
    return say(e);
  }
}

/* Calls f(), which may throw, inside of a PETSc function. */
template <class F> PetscErrorCode PetscRRBTry(const PetscRRBSay &say, const F &f) {
  const PetscRRBTrouble trouble = PetscRRBTroubleOf(say, f);
  if (trouble) SETERRQ(PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
  return PETSC_SUCCESS;
}

/* f() returns what PETSc does: an error, and what is thrown, becomes trouble. */
template <class F> void PetscRRBCatch(const PetscRRBSay &say, PetscRRBTrouble *trouble, const F &f) {
  try {
    const PetscErrorCode code = f();
    if (code) *trouble = PetscRRBRaised(code);
  } catch (const std::exception &e) {
    *trouble = say(e);
  }
}

/* The trouble of the first rank that has any, on all ranks; with several, it says which rank it is. Collective. */
PetscErrorCode PetscRRBFirstTrouble(MPI_Comm, PetscRRBTrouble *);

/* x summed over all ranks; all get the same bits. Returns what MPI does. Collective. */
int PetscRRBSum(MPI_Comm, PetscScalar *x, PetscMPIInt n);

/* Calls f(), which returns what PETSc does and may throw, on all ranks: they raise the same error if it failed on one.
   say: what an exception means.
   f is not collective, or it fails on all ranks, or whatever is collective in it comes right after a
   PetscRRBThrowTogether() with this comm: there the others meet a rank that has thrown before. */
template <class F> PetscErrorCode PetscRRBCallTogether(MPI_Comm comm, const PetscRRBSay &say, const F &f) {
  PetscRRBTrouble trouble;
  PetscErrorCode raised = PETSC_SUCCESS, code;
  PetscMPIInt ranks;

  PetscRRBCatch(say, &trouble, [&] { return raised = f(); });
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1 && raised) return raised;
  code = PetscRRBFirstTrouble(comm, &trouble);
  if (!code && trouble) SETERRQ(comm, trouble.code, "%s", trouble.why.c_str());
  return code;
}

/* The same where f() only throws. */
template <class F> PetscErrorCode PetscRRBTryTogether(MPI_Comm comm, const PetscRRBSay &say, const F &f) {
  return PetscRRBCallTogether(comm, say, [&]() -> PetscErrorCode {
    f();
    return PETSC_SUCCESS;
  });
}

/* The same, and they throw it. */
template <class F> void PetscRRBThrowTogether(MPI_Comm comm, const PetscRRBSay &say, const F &f) {
  PetscRRBTrouble trouble = PetscRRBTroubleOf(say, f);

  if (PetscRRBFirstTrouble(comm, &trouble)) throw PetscRRBError("MPI error: ranks cannot agree", PETSC_ERR_MPI, true);
  if (trouble) throw PetscRRBError(trouble.why, trouble.code, trouble.settled);
}
