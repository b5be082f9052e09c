/* What of deflation depends on where the matrix is, and on whether Z is a matrix: one class for each. */
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "pc/findgrid.h"
#include "petsc/matrix.h"
#include "pc/pc.h"
#include "petscrrb.h"

#include <memory>

/* What KSPDeflationSet...() set of the subdomains; PETSC_DECIDE and zeros mean our choice. */
struct KSPDeflationChoice {
  KSPDeflationType type = KSP_DEFLATION_NONE;
  PetscInt stripes[2] = {1, 2}; /* lines in each, and pieces of it */
  PetscInt blocks[3] = {0, 0, 0};
  PetscInt grid[3] = {0, 0, 0};
  PetscReal jump = 10.0;
  KSPDeflationInverse inverse = KSP_DEFLATION_CHOLESKY;
  PetscBool inverse_set = PETSC_FALSE; /* by the user; otherwise it depends on where the matrix is */
};

class PCDeflationBackend {
public:
  virtual ~PCDeflationBackend() = default;
  virtual PetscBool on_device() const = 0;

  /* space: the Vec phi of level sets or NULL, or the Mat Z; rebuild: from nothing, else new values (which may turn out to
     be a rebuild, too). The result is ok, refused or failed; report() says why. */
  virtual PetscErrorCode SetUp(PC, Mat A, const KSPDeflationChoice &, PetscObject space, PetscBool rebuild,
                               petscrrb::deflation::Result *) = 0;
  virtual const petscrrb::deflation::Report &report() const = 0;
  virtual std::string subdomains() const = 0; /* in words, for the view */
  virtual KSPDeflationInverse inverse() const = 0;
  virtual const petscrrb::deflation::Space *space() const { return nullptr; } /* of subdomains */

  /* c, the values of the subdomains, is held inside */
  virtual PetscErrorCode Restrict(Vec r, Vec y) = 0; /* c = Z^T r - (AZ)^T y; either may be NULL */
  virtual PetscErrorCode Solve() = 0;                /* c <- E^+ c */
  virtual PetscErrorCode Prolong(Vec y, Vec z) = 0;  /* z = y + Z c; y may be NULL, z may be y */
  virtual PetscErrorCode Subtract(Vec w) = 0;        /* w -= (AZ) c */
  /* z = P^T z + Q r on a stream; by build and version as they are now */
  virtual PetscRRBEnqueued enqueued() { return {}; }

  /* z = y + Q r, or z = P^T y + Q r; y may be NULL, z may be y */
  PetscErrorCode Correct(Vec r, Vec y, Vec z, bool project = false) {
    PetscFunctionBegin;
    PetscCall(Restrict(r, project ? y : nullptr));
    PetscCall(Solve());
    PetscCall(Prolong(y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* w = P w */
  PetscErrorCode Project(Vec w) {
    PetscFunctionBegin;
    PetscCall(Restrict(w, nullptr));
    PetscCall(Solve());
    PetscCall(Subtract(w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* What E is solved with; where nobody chose within E's profile on the host, as cheap as E itself. */
inline KSPDeflationInverse PCDeflationInverse(const KSPDeflationChoice &choice, PetscBool device) {
  if (choice.inverse_set) return choice.inverse;
  return choice.type == KSP_DEFLATION_USER || device ? KSP_DEFLATION_EXPLICIT : KSP_DEFLATION_CHOLESKY;
}
static_assert((int)petscrrb::dense::Inverse::explicit_inverse == KSP_DEFLATION_EXPLICIT &&
                  (int)petscrrb::dense::Inverse::cholesky == KSP_DEFLATION_CHOLESKY,
              "one is converted to the other");

/* stripes, blocks and level sets; Z as a matrix */
PetscErrorCode PCDeflationCreateSubdomains(MPI_Comm, PetscBool device, std::unique_ptr<PCDeflationBackend> *);
PetscErrorCode PCDeflationCreateUser(MPI_Comm, std::unique_ptr<PCDeflationBackend> *);

/* The space that was chosen, its grid and boxes found. */
PetscErrorCode PCDeflationDescribe(PC, Mat A, const KSPDeflationChoice &, const PetscRRBRows &,
                                   petscrrb::deflation::Space *);
std::string PCDeflationWords(const KSPDeflationChoice &, PetscBool phi, const petscrrb::deflation::Space &);
