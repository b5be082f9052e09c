/* What of PCRRB depends on where the matrix is, and on how many ranks: implemented in pcrrb_backend.cxx. */
#pragma once

#include "pc/vectors.h"
#include "petscrrb.h"
#include "pc/rrb/pcrrb_coarse.h"
#include "pc/rrb/core/stencil_reader.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "pc/rrb/core/rrb.hpp"

#include <functional>
#include <memory>

/* What the values of a matrix turned out to be. */
struct PCRRBValues {
  petscrrb::ReadResult result = petscrrb::ReadResult::refused;
  petscrrb::RowFacts facts;       /* of all rows; on no grid, weights[0] is the sum of their norms' */
  std::string why;                /* of a refusal, or which diagonal entry is not positive */
  PetscBool scaled = PETSC_FALSE; /* by the near null vector */

  bool not_positive() const { return facts.bad_pivot != petscrrb::no_row; } /* there is no factorization */
};

class PetscRRBStream;
class PetscRRBBoxVectors;
namespace petscrrb::rrb {
class BlackRanks;
class Ranks;
} // namespace petscrrb::rrb

/* A matrix on several ranks, of which each has a box of the grid. A Mat is Amat or Pmat as a MATMPIAIJ. */
class PCRRBDistribution : petscrrb::NotCopied {
public:
  virtual ~PCRRBDistribution() = default;
  /* The stencil of the rank's box of a matrix as it is now, which the preconditioner need not have seen, with its V, but for rows that have
     become identity rows. Positive couplings stay. Where the preconditioner has read just that, *A is its own, and nothing is put into the stencil. */
  virtual PetscErrorCode ReadForSolver(PC, Mat, const petscrrb::Grid &, double rounding, petscrrb::rrb::StencilReader *,
                                       petscrrb::rrb::PreparedStencil *A, petscrrb::RowFacts *) = 0;
  /* Boxes are not what the rows are where parts of lines are on another rank than their line. */
  virtual const PetscRRBBoxVectors &vectors() const = 0;
};

/* Whether it is so on all ranks: they may differ where their processors do. Collective. */
inline PetscErrorCode PCRRBAgree(MPI_Comm comm, PetscBool *yes) {
  PetscMPIInt all = *yes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *yes = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What an iteration on PCRRB's factorization (KSPRRB) is made of; of one build. */
struct PCRRBParts {
  petscrrb::rrb::Factorization *core;
  std::function<int(petscrrb::rrb::Part)> solve_last_block; /* an error of PETSc's, or 0 */
  PetscRRBStream *stream = nullptr;                         /* NULL on the host */
  PetscBool captured = PETSC_FALSE; /* an application only enqueues work on the stream, so that a graph can have it */
  /* of several ranks; NULL on one */
  petscrrb::rrb::BlackRanks *black = nullptr;
  petscrrb::rrb::Ranks *ranks = nullptr;
  PCRRBDistribution *matrix = nullptr;
};

class PCRRBBackend {
public:
  using Core = petscrrb::rrb::Factorization;

  virtual ~PCRRBBackend() = default;
  virtual PetscBool on_device() const = 0;
  /* While the caller has it, arrays are made faster: for a first set-up; or NULL. May throw. */
  virtual std::shared_ptr<const void> pool() { return nullptr; }
  virtual PetscErrorCode FindGrid(PC, const PetscRRBMatrix &, petscrrb::Grid *) = 0;
  /* The rows of all ranks, where P is, until the next call. places: of the rows of P among them; NULL: the nonzeros are those of the last call. */
  virtual PetscErrorCode GatherRows(PC, Mat P, const std::vector<PetscInt> *places, petscrrb::Csr *) = 0;

  /* The values of the state's rows, on its grid or on none, to its `values`. anew: there may be other nonzeros than before; near_null: NULL for the constant
     vector. */
  virtual PetscErrorCode Read(PC, PetscBool anew, Vec near_null) = 0;
  /* What was read last; the core may have written over it. Its v, which is NULL where V = I, is that of V A V. */
  virtual petscrrb::rrb::PreparedStencil prepared() = 0;

  /* What Build() will be called with, unless the values that are read next say otherwise: what depends on that alone may be made meanwhile. */
  virtual void ExpectLevels(const petscrrb::rrb::Extent &, int levels) = 0;
  virtual PetscErrorCode Build(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &,
                               petscrrb::rrb::Precision, std::unique_ptr<Core> *) = 0;
  /* The same with red nodes chosen by support, of what was read last, with positive couplings that stay: by these it is factored. */
  virtual PetscErrorCode BuildOnGraph(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &, bool single,
                                      petscrrb::rrb::Lumping, std::unique_ptr<Core> *) = 0;
  /* Ranks that each have all of the core, which was built on a graph, share its applications: Factorization::share(). */
  virtual PetscErrorCode Share(PC, Core &, const std::vector<petscrrb::index_t> &cuts, PetscInt gather_size,
                               PetscBool *shared) = 0;
  /* What Factor() will be called with after the next Read(): it may begin with that before the values are known. */
  virtual void ExpectFactor(Core &, const petscrrb::rrb::Lumping &) = 0;
  /* factored: the core is, since it was built */
  virtual PetscErrorCode Factor(Core &, const petscrrb::rrb::Lumping &, PetscBool factored) = 0;

  /* the last block; the type in use may be another one than what was asked for, if nothing was */
  virtual PetscErrorCode SetUpLastBlock(PC, Core &, PCRRBCoarse, KSP) = 0;
  /* also waits for the factorization and says how it went; *spd: the last block too */
  virtual PetscErrorCode FactorLastBlock(Core &, double null_inverse, petscrrb::rrb::Outcome *, PetscBool *spd) = 0;
  virtual PetscErrorCode EstimateForCycle(Core &) = 0; /* once the last block is factored */
  virtual PetscInt null_directions() const = 0;

  /* z = M^-1 r or a half of it, with the vectors' arrays wherever they are */
  virtual PetscErrorCode Apply(PC, Core &, Vec r, Vec z, petscrrb::rrb::Part) = 0;
  virtual PCRRBParts parts(Core &) = 0;
  virtual PetscErrorCode ViewRanks(PetscViewer) = 0; /* what of it is where */
  virtual double bytes() const = 0;                  /* but for the core's */
};

/* ranks: the matrix is on several, and each has a part of the work */
PetscErrorCode PCRRBCreateBackend(PetscBool device, PetscBool ranks, std::unique_ptr<PCRRBBackend> *);
