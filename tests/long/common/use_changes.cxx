// The steps of a random use that change something: values, matrices, sizes, types, tests.
#include "use_impl.hpp"

#include <cstring>

namespace longtest {

// Problems whose lower triangle nobody stores have that of the upper one.
void Use::as_stored() {
  if (storage.type != "sbaij") return;
  auto &rows = problem.A.row;
  const auto whole = rows;
  for (int i = 0; i < problem.size(); ++i)
    for (auto entry = rows[i].begin(); entry != rows[i].end();)
      if (numbering.place(entry->first) < numbering.place(i))
        entry = rows[i].erase(entry);
      else
        ++entry;
  for (int i = 0; i < problem.size(); ++i)
    for (const auto &[j, a] : std::map<int, double>(rows[i]))
      if (j != i) rows[j][i] = a;
  problem.definite = problem.definite && rows == whole;
}

void Use::changed() { has_to_work = has_to_converge = false; }

void Use::new_values() {
  Problem next = problem;
  change_values(random, next);
  if (next.columns != problem.columns) return; // another size
  problem = std::move(next);
  as_stored();
  changed();
  say("; new values" + (problem.words.empty() ? "" : " (" + problem.words + ")"));
  set_values(A, problem, numbering);
  attach_spaces(A, problem, numbering);
  if (differ && random.chance(0.5)) set_values(P, problem, numbering);
  if (random.chance(0.5)) ok(KSPSetOperators(ksp, A, P));
  PetscBool kept;
  ok(KSPGetReusePreconditioner(ksp, &kept));
  stale = stale || kept;
  if (random.chance(0.8)) solve(false);
}

void Use::zero_rows() {
  if (problem.columns != problem.size() || storage.type == "sbaij" || !problem.size()) return;
  const bool columns = random.chance(0.4) && storage.type != "sell" && storage.type != "aijperm",
             keep = random.chance(0.5);
  const double value = random.chance(0.7) ? 1 : random.chance(0.5) ? 3 : 0;
  std::vector<PetscInt> rows;
  for (int i = 0; i < problem.size(); ++i)
    if (random.chance(0.1)) rows.push_back(i);
  say(std::string("; MatZeroRows") + (columns ? "Columns" : "") + " with " + std::to_string(value));
  changed();
  std::vector<PetscInt> places;
  for (PetscInt i : rows) {
    for (auto &entry : problem.A.row[i]) entry.second = 0;
    if (columns)
      for (auto &row : problem.A.row)
        if (row.count(int(i))) row[int(i)] = 0;
    problem.A.row[i][int(i)] = value;
    if (rank() == 0) places.push_back(numbering.place(int(i)));
  }
  ok(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, keep ? PETSC_TRUE : PETSC_FALSE));
  ok((columns ? MatZeroRowsColumns : MatZeroRows)(A, PetscInt(places.size()), places.data(), value, nullptr, nullptr));
  problem.null_space.clear();
  attach_spaces(A, problem, numbering);
  if (!rows.empty()) problem.known_columns = problem.known_columns || !columns, problem.definite = false;
  PetscBool kept;
  ok(KSPGetReusePreconditioner(ksp, &kept));
  stale = stale || kept;
  solve(false);
}

void Use::new_matrix() {
  std::string words;
  if (random.chance(0.5)) {
    Problem next = problem;
    change_values(random, next);
    if (next.columns == problem.columns) problem = std::move(next);
    words = " (" + problem.words + ")";
  }
  changed();
  const bool was_there = backend.device && storage.type == backend.mat;
  if (random.chance(0.3)) storage = random_storage(random, problem, words);
  as_stored();
  say("; a new matrix" + words);
  PetscBool rrb;
  ok(PetscObjectTypeCompare(ksp, KSPRRB, &rrb));
  // PETSc's methods keep vectors where the matrix was, of which products there write the other half
  if (!rrb && backend.device && was_there != (storage.type == backend.mat)) ok(KSPReset(ksp));
  A = matrix_of(problem, numbering, storage);
  ok(PetscObjectReference(A));
  *P.put() = A;
  differ = false;
  ok(KSPSetOperators(ksp, A, P));
  solve(false);
}

void Use::new_size() {
  problem = random_problem(random);
  changed();
  std::string words = problem.words;
  numbering = Numbering(random, problem, words);
  storage = random_storage(random, problem, words);
  as_stored();
  say("; KSPReset and " + words);
  ok(KSPReset(ksp));
  ok(KSPSetDM(ksp, numbering.array()));
  ok(set_dm_inactive(ksp));
  make_matrices();
  ok(KSPSetOperators(ksp, A, P));
  stale = false;
  solve(false);
}

void Use::reset() {
  PC pc;
  const bool whole = random.chance(0.5);
  say(whole ? "; KSPReset" : "; PCReset");
  ok(KSPGetPC(ksp, &pc));
  ok(whole ? KSPReset(ksp) : PCReset(pc));
  ok(KSPSetOperators(ksp, A, P));
  solve(false);
}

void Use::other_tests() {
  changed();
  say("; other tests");
  PetscInt most;
  PetscBool rrb;
  ok(KSPGetTolerances(ksp, nullptr, nullptr, nullptr, &most));
  ok(PetscObjectTypeCompare(ksp, KSPRRB, &rrb));
  // with eigenvalues PETSc's own types cannot do with more iterations than at their set-up
  const PetscInt it = rrb || wish.plain ? 300 : most;
  if (random.chance(0.5))
    ok(KSPSetTolerances(ksp, random.power(-10, -1), 0, PETSC_DEFAULT, random.integer(0, int(it))));
  if (random.chance(0.5))
    ok(KSPSetNormType(
        ksp, random.of({KSP_NORM_NONE, KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL})));
  if (random.chance(0.2) && rrb) ok(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  solve(false);
}

void Use::other_type() {
  PC pc;
  changed();
  ok(KSPGetPC(ksp, &pc));
  if (random.chance(0.5)) {
    const char *type = random.chance(0.4) ? "rrb" : krylov();
    say(std::string("; KSPSetType ") + type);
    ok(KSPSetComputeEigenvalues(ksp, PETSC_FALSE)); // PETSc's cg crashes with them where it may take no step
    ok(KSPSetType(ksp, wish.plain && !std::strcmp(type, "rrb") ? "cg" : type));
  } else {
    const char *type = random.of({"rrb", "mic", "gridmg", "neumann", "blockrelax", "jacobi", "none"});
    say(std::string("; PCSetType ") + type);
    ok(PCSetType(pc, wish.plain ? "jacobi" : type));
  }
  if (random.chance(0.5)) ok(KSPSetFromOptions(ksp));
  solve(false);
}

void Use::reuse() {
  const bool on = random.chance(0.6);
  say(std::string("; KSPSetReusePreconditioner ") + (on ? "on" : "off"));
  ok(KSPSetReusePreconditioner(ksp, on ? PETSC_TRUE : PETSC_FALSE));
  if (on)
    new_values();
  else
    solve(false);
}

} // namespace longtest
