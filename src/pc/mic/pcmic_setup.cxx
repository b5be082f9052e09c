/* PCSetUp() of PCMIC: each rank's grid and factor, the values, and what all ranks make of it together. */
#include "pc/mic/pcmic_data.h"
#include "pc/set_up.h"

#include "grid/text.hpp"
#include "stencil/refusal.hpp"

using namespace petscrrb;

static PetscErrorCode CheckChoices(PC pc) {
  const PC_MIC *m = (PC_MIC *)pc->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  if (m->type == PC_MIC_TYPE_MIC) {
    PetscCheck(m->omega <= 1, comm, PETSC_ERR_ARG_INCOMP,
               "-pc_mic_omega %g requires -pc_mic_type ssor: incomplete Cholesky takes values from 0 to 1",
               (double)m->omega);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(m->omega != 0, comm, PETSC_ERR_ARG_INCOMP,
             "-pc_mic_omega 0 requires -pc_mic_type mic: SSOR takes values between 0 and 2");
  PetscCheck(m->shift == 0, comm, PETSC_ERR_ARG_INCOMP, "SSOR has no pivots: -pc_mic_shift requires -pc_mic_type mic");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static mic::Options OptionsOf(const PC_MIC *m, const Grid &g) {
  mic::Options o;
  o.type = m->type == PC_MIC_TYPE_SSOR ? mic::Type::ssor : mic::Type::mic;
  o.omega = m->omega;
  if (m->omega == PETSC_DECIDE) o.omega = o.type == mic::Type::ssor ? 1 : mic::default_omega(g);
  o.single = m->precision == PC_MIC_PRECISION_SINGLE;
  o.shift = m->shift;
  o.block_lines = m->block_lines;
  return o;
}

/* Everything that depends on the pattern and on the options, but not on values. */
static PetscErrorCode Build(PC pc, PetscRRBTrouble *trouble) {
  const PC_MIC *m = (PC_MIC *)pc->data;
  PCMICState *s = m->state;

  PetscFunctionBegin;
  PetscCall(PetscRRBFindStarOnRank(pc, pc->pmat, m->grid, "-pc_mic_grid", s->backend->rows(s->rows.csr),
                                   "-pc_type rrb or icc", &s->grid, trouble));
  if (*trouble) PetscFunctionReturn(PETSC_SUCCESS);
  s->options = OptionsOf(m, s->grid);
  *trouble = s->backend->Create(s->grid, s->options);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadValues(PC pc, PetscBool *rebuild, PetscRRBTrouble *trouble) {
  return PetscRRBReadValues(((PC_MIC *)pc->data)->state, "PCMIC", rebuild, trouble);
}

static PetscErrorCode CheckPivots(PC pc, PetscRRBTrouble *trouble) {
  const PCMICState *s = ((PC_MIC *)pc->data)->state;
  const mic::Findings &f = s->found;
  const bool diagonal = f.read.bad_pivot != no_row;
  const auto row = (PetscInt)(diagonal ? f.read.bad_pivot : f.pivot);
  char value[64];
  PetscInt first;

  PetscFunctionBegin;
  if (!f.bad_pivot()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, nullptr));
  PetscCall(PetscSNPrintf(value, sizeof(value), "%g", f.pivot_value));
  /* by the numbers of the whole matrix and of the rank's grid */
  const std::string words = "row " + text(index_t(first) + row) + " at " + place(s->grid, row);
  *trouble = {diagonal ? not_positive(words)
                       : "the pivot of " + words + " is " + value +
                             " times its diagonal entry, but must be positive: -pc_mic_shift 0.01 raises such pivots, "
                             "a smaller -pc_mic_omega may avoid them",
              PETSC_ERR_MAT_LU_ZRPVT};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_MIC(PC pc) {
  return PetscRRBSetUpDiagonalBlock<PC_MIC>(
      pc, PetscRRBSteps<PCMICBackend>{"PCMIC", PCMICCreateBackend, CheckChoices, Build, ReadValues, CheckPivots});
}
