/* What a user can set of PCNEUMANN: the options, and what the setters and getters of pcneumann_interface.cxx do. */
#include "neumann/pcneumann_impl.h"

const char *const PCNeumannTypes[] = {"series", "poisson", "PCNeumannType", "PC_NEUMANN_", nullptr};
const char *const PCNeumannDrops[] = {"none", "pattern", "threshold", "PCNeumannDrop", "PC_NEUMANN_DROP_", nullptr};

template <class T, T PC_Neumann::*member> constexpr auto Set = PetscRRBSet<PC_Neumann, T, member>;
template <class T, T PC_Neumann::*member> constexpr auto Get = PetscRRBGet<PC_Neumann, T, member>;

static PetscErrorCode PCNeumannSetGrid_Neumann(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {
  PC_Neumann *neumann = (PC_Neumann *)pc->data;

  PetscFunctionBegin;
  if (neumann->grid[0] != nx || neumann->grid[1] != ny || neumann->grid[2] != nz) {
    neumann->grid[0] = nx;
    neumann->grid[1] = ny;
    neumann->grid[2] = nz;
    PetscCall(PetscRRBRebuild(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The one in use, where there is one. */
static PetscErrorCode PCNeumannGetGrid_Neumann(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
  const PC_Neumann *neumann = (PC_Neumann *)pc->data;
  const PCNeumannState *s = neumann->state;
  PetscInt *const to[] = {nx, ny, nz};

  PetscFunctionBegin;
  for (int d = 0; d < 3; ++d)
    if (to[d]) *to[d] = s && s->on_grid ? (PetscInt)s->grid.n[d] : neumann->grid[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of incomplete Poisson, and the grid. */
static PetscErrorCode MoreOptions(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_Neumann *neumann = (PC_Neumann *)pc->data;
  PCNeumannDrop drop = neumann->drop;
  PetscReal threshold = neumann->threshold;
  PetscInt n[4] = {neumann->grid[0], neumann->grid[1], neumann->grid[2], 0}, sizes = 4;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_neumann_drop", "Entries that are left out of incomplete Poisson", "PCNeumannSetDrop",
                             PCNeumannDrops, (PetscEnum)drop, (PetscEnum *)&drop, &set));
  if (set) PetscCall(PCNeumannSetDrop(pc, drop));
  PetscCall(PetscOptionsReal("-pc_neumann_drop_threshold", "Smaller entries are left out", "PCNeumannSetDropThreshold",
                             threshold, &threshold, &set));
  if (set) PetscCall(PCNeumannSetDropThreshold(pc, threshold));
  PetscCall(PetscOptionsIntArray("-pc_neumann_grid", "Unknowns in x, y and z", "PCNeumannSetGrid", n, &sizes, &set));
  if (set) {
    PetscCheck(sizes == 2 || sizes == 3, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
               "-pc_neumann_grid needs two or three sizes, nx,ny[,nz]; got %" PetscInt_FMT, sizes);
    PetscCall(PCNeumannSetGrid(pc, n[0], n[1], sizes == 3 ? n[2] : 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_Neumann(PC pc, PetscRRBOptionItems PetscOptionsObject) {
  const PC_Neumann *neumann = (PC_Neumann *)pc->data;
  PetscInt terms = neumann->terms;
  PetscReal omega = neumann->omega;
  PCNeumannType type = neumann->type;
  PetscBool scale = neumann->scale, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Neumann options");
  PetscCall(PetscOptionsInt("-pc_neumann_terms", "Terms after the first one in the series", "PCNeumannSetTerms", terms,
                            &terms, &set));
  if (set) PetscCall(PCNeumannSetTerms(pc, terms));
  PetscCall(PetscOptionsReal("-pc_neumann_omega", "Relaxation of the triangles of the series", "PCNeumannSetOmega",
                             omega, &omega, &set));
  if (set) PetscCall(PCNeumannSetOmega(pc, omega));
  PetscCall(PetscOptionsEnum("-pc_neumann_type", "The series, or incomplete Poisson", "PCNeumannSetType",
                             PCNeumannTypes, (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCNeumannSetType(pc, type));
  PetscCall(PetscOptionsBool("-pc_neumann_scale", "Incomplete Poisson of the diagonally scaled matrix",
                             "PCNeumannSetScale", scale, &scale, &set));
  if (set) PetscCall(PCNeumannSetScale(pc, scale));
  PetscCall(MoreOptions(pc, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on: let the public functions find their methods; off: before the type goes away */
PetscErrorCode PCNeumannComposeSetters(PC pc, PetscBool on) {
  PetscObject o = (PetscObject)pc;

  PetscFunctionBegin;
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetTerms_C", Set<PetscInt, &PC_Neumann::terms>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetTerms_C", Get<PetscInt, &PC_Neumann::terms>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetOmega_C", Set<PetscReal, &PC_Neumann::omega>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetOmega_C", Get<PetscReal, &PC_Neumann::omega>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetType_C", Set<PCNeumannType, &PC_Neumann::type>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetType_C", Get<PCNeumannType, &PC_Neumann::type>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetScale_C", Set<PetscBool, &PC_Neumann::scale>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetScale_C", Get<PetscBool, &PC_Neumann::scale>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetDrop_C", Set<PCNeumannDrop, &PC_Neumann::drop>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetDrop_C", Get<PCNeumannDrop, &PC_Neumann::drop>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetDropThreshold_C", Set<PetscReal, &PC_Neumann::threshold>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetDropThreshold_C", Get<PetscReal, &PC_Neumann::threshold>));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannSetGrid_C", PCNeumannSetGrid_Neumann));
  PetscCall(PetscRRBCompose(o, on, "PCNeumannGetGrid_C", PCNeumannGetGrid_Neumann));
  PetscFunctionReturn(PETSC_SUCCESS);
}
