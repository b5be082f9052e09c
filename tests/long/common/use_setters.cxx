// A random use's setters: each public one, after whatever came before.
#include "use_impl.hpp"

#include <functional>

namespace longtest {

namespace {

using Setters = std::vector<std::function<PetscErrorCode(Random &, PC)>>;

const Setters &setters_of_pc() {
  static const Setters all = {
      [](Random &r, PC pc) { return PCRRBSetLevels(pc, r.chance(0.95) ? r.integer(1, 7) : -4); },
      [](Random &r, PC pc) { return PCRRBSetLumping(pc, r.chance(0.95) ? r.uniform() : 2); },
      [](Random &r, PC pc) { return PCRRBSetLumpNodes(pc, r.chance(0.5) ? PC_RRB_LUMP_RED : PC_RRB_LUMP_BOTH); },
      [](Random &r, PC pc) {
        return PCRRBSetStorage(pc, r.chance(0.5) ? PC_RRB_STORAGE_NAIVE : PC_RRB_STORAGE_R1R2B1B2);
      },
      [](Random &r, PC pc) { return PCRRBSetStorageGrids(pc, r.integer(0, 3)); },
      [](Random &r, PC pc) {
        return PCRRBSetComputeBlock(pc, r.of({8, 16, 32, 64, 7}));
      },
      [](Random &r, PC pc) { return PCRRBSetGatherSize(pc, r.integer(1, 500)); },
      [](Random &r, PC pc) {
        return PCRRBSetCoarse(pc, r.of({PC_RRB_COARSE_CHOLESKY, PC_RRB_COARSE_INVERSE, PC_RRB_COARSE_KSP}));
      },
      [](Random &r, PC pc) { return PCRRBSetCycle(pc, r.chance(0.5) ? PC_RRB_CYCLE_V : PC_RRB_CYCLE_AMLI); },
      [](Random &r, PC pc) {
        return PCRRBSetPrecision(pc, r.chance(0.5) ? PC_RRB_PRECISION_DOUBLE : PC_RRB_PRECISION_SINGLE);
      },
      [](Random &r, PC pc) {
        return PCRRBSetRedNodes(pc, r.of({PC_RRB_RED_NODES_AUTO, PC_RRB_RED_NODES_PLAIN, PC_RRB_RED_NODES_SUPPORT}));
      },
      [](Random &r, PC pc) { return PCNeumannSetTerms(pc, r.chance(0.95) ? r.integer(0, 10) : -1); },
      [](Random &r, PC pc) { return PCNeumannSetOmega(pc, r.between(0.1, 2.05)); },
      [](Random &r, PC pc) { return PCNeumannSetType(pc, r.chance(0.5) ? PC_NEUMANN_SERIES : PC_NEUMANN_POISSON); },
      [](Random &r, PC pc) { return PCNeumannSetScale(pc, r.chance(0.5) ? PETSC_TRUE : PETSC_FALSE); },
      [](Random &r, PC pc) {
        return PCNeumannSetDrop(pc, r.of({PC_NEUMANN_DROP_NONE, PC_NEUMANN_DROP_PATTERN, PC_NEUMANN_DROP_THRESHOLD}));
      },
      [](Random &r, PC pc) { return PCNeumannSetDropThreshold(pc, r.between(0, 1)); },
      [](Random &r, PC pc) { return PCMICSetType(pc, r.chance(0.5) ? PC_MIC_TYPE_MIC : PC_MIC_TYPE_SSOR); },
      [](Random &r, PC pc) { return PCMICSetOmega(pc, r.between(0, 1.1)); },
      [](Random &r, PC pc) {
        return PCMICSetPrecision(pc, r.chance(0.5) ? PC_MIC_PRECISION_DOUBLE : PC_MIC_PRECISION_SINGLE);
      },
      [](Random &r, PC pc) { return PCMICSetShift(pc, r.between(0, 0.3)); },
      [](Random &r, PC pc) { return PCMICSetBlockLines(pc, r.integer(0, 4)); },
      [](Random &r, PC pc) {
        return PCBlockRelaxSetType(
            pc, r.of({PC_BLOCKRELAX_TYPE_JACOBI, PC_BLOCKRELAX_TYPE_CHAOTIC, PC_BLOCKRELAX_TYPE_COLOURED}));
      },
      [](Random &r, PC pc) { return PCBlockRelaxSetOmega(pc, r.between(0.1, 2.05)); },
      [](Random &r, PC pc) { return PCBlockRelaxSetSweeps(pc, r.integer(1, 3)); },
      [](Random &r, PC pc) { return PCBlockRelaxSetColours(pc, r.integer(1, 10)); },
      [](Random &r, PC pc) { return PCBlockRelaxSetSymmetric(pc, r.chance(0.5) ? PETSC_TRUE : PETSC_FALSE); },
      [](Random &r, PC pc) {
        return PCBlockRelaxSetInverse(
            pc, r.of({PC_BLOCKRELAX_INVERSE_AUTO, PC_BLOCKRELAX_INVERSE_TENSOR, PC_BLOCKRELAX_INVERSE_DENSE}));
      },
      [](Random &r, PC pc) {
        return PCBlockRelaxSetMemory(pc, r.of({0.0, 1.0, 1000.0, 1e5}));
      },
      [](Random &r, PC pc) { return PCBlockRelaxSetBlockSize(pc, r.integer(1, 9), r.integer(1, 9), r.integer(1, 9)); }};
  return all;
}

} // namespace

void Use::set_grid(PC pc) {
  const int *n = problem.n;
  const bool right = random.chance(0.8);
  const PetscInt nx = right ? n[0] : random.integer(0, 9), ny = n[1], nz = n[2];
  switch (random.integer(0, 4)) {
  case 0: ok(PCRRBSetGrid(pc, nx, ny)); break;
  case 1: ok(PCMICSetGrid(pc, nx, ny, nz)); break;
  case 2: ok(PCNeumannSetGrid(pc, nx, ny, nz)); break;
  case 3: ok(PCBlockRelaxSetGrid(pc, nx, ny, nz)); break;
  default: ok(wish.plain ? PETSC_SUCCESS : KSPDeflationSetGrid(ksp, nx, ny, nz));
  }
}

void Use::set_deflation() {
  if (wish.plain) return;
  switch (random.integer(0, 6)) {
  case 0:
    ok(KSPSetDeflation(
        ksp, random.of({KSP_DEFLATION_NONE, KSP_DEFLATION_BLOCK, KSP_DEFLATION_STRIPE, KSP_DEFLATION_LEVELSET})));
    break;
  case 1: ok(KSPDeflationSetStripes(ksp, random.integer(1, 4), random.integer(1, 4))); break;
  case 2: ok(KSPDeflationSetBlocks(ksp, random.integer(1, 4), random.integer(1, 4), random.integer(1, 2))); break;
  case 3: ok(KSPDeflationSetJump(ksp, random.between(1.1, 50))); break;
  case 4: ok(KSPDeflationSetVariant(ksp, random.chance(0.5) ? KSP_DEFLATION_ADEF2 : KSP_DEFLATION_DEF1)); break;
  case 5: ok(KSPDeflationSetInverse(ksp, random.chance(0.5) ? KSP_DEFLATION_EXPLICIT : KSP_DEFLATION_CHOLESKY)); break;
  default: set_space();
  }
}

// A user's own space: some columns of numbers, one on each of the first rows, or dense.
void Use::set_space() {
  Matrix Z;
  const PetscInt n = problem.size(), columns = random.integer(0, 5);
  const bool dense = random.chance(0.5);
  ok(MatCreate(PETSC_COMM_WORLD, Z.put()));
  ok(MatSetSizes(Z, numbering.rows(), PETSC_DECIDE, n, columns));
  ok(MatSetType(Z, dense ? MATDENSE : backend.mat));
  ok(MatSetUp(Z));
  PetscInt first, last;
  ok(MatGetOwnershipRange(Z, &first, &last));
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < columns; ++j) {
      const double value = random.chance(0.02) ? 0 : random.between(0, 1);
      if (i >= first && i < last && (dense || i % columns == j)) ok(MatSetValue(Z, i, j, value, INSERT_VALUES));
    }
  ok(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
  ok(KSPDeflationSetSpace(ksp, Z));
  ok(KSPSetDeflation(ksp, KSP_DEFLATION_USER));
}

void Use::setters() {
  PC pc;
  KSPDeflationType deflation = KSP_DEFLATION_NONE;
  say("; setters");
  changed();
  ok(KSPGetPC(ksp, &pc));
  if (!wish.plain) ok(KSPGetDeflation(ksp, &deflation));
  if (deflation != KSP_DEFLATION_NONE) ok(KSPDeflationGetPC(ksp, &pc));
  // numbers of their own: a plain use, which sets less, goes on with the same ones
  const Random after(random.bits(), wish.number);
  const int count = random.integer(1, 6);
  for (int i = 0; i < count; ++i) ok(random.of(setters_of_pc())(random, pc));
  if (random.chance(0.2)) set_grid(pc);
  if (random.chance(deflation == KSP_DEFLATION_NONE ? 0.1 : 0.7)) set_deflation();
  random = after;
  solve(false);
}

} // namespace longtest
