// One random use of the library: what is chosen before the first call, and how a use ends.
#include "use_impl.hpp"

#include <omp.h>

#include <cstdio>
#include <cstring>

namespace longtest {

static const char prefix[] = "use_";

void Use::say(const std::string &what) {
  story += what;
  if (wish.print && rank() == 0) std::printf("%s", what.c_str()), std::fflush(stdout);
}

// Not pipefcg, tcqmr and ibcgs, which divide zero by zero where M is exact, and call that converged; nor fcg, lgmres and dgmres,
// which crash or leak when they are reset.
const char *Use::krylov() {
  if (random.chance(0.5)) {
    const bool fused = random.chance(0.5); // drawn in a plain use, too
    return fused && !wish.plain ? "fusedcg" : "cg";
  }
  return random.of({"gmres",     "fgmres",  "pipecg", "bcgs", "minres", "symmlq", "cr",  "richardson",
                    "chebyshev", "preonly", "tfqmr",  "lsqr", "cgs",    "bicg",   "gcr", "groppcg",
                    "pipecr",    "cgne",    "stcg",   "gltr", "nash",   "fbcgs",  "qcg", "bcgsl"});
}

// PCs of the library, or what stands for them in a plain use.
std::string Use::ours(const std::string &at) {
  const char *type = random.of({"rrb", "rrb", "mic", "gridmg", "neumann", "blockrelax"});
  if (problem.dimensions == 3 && random.chance(0.9)) type = random.of({"mic", "gridmg", "neumann", "blockrelax"});
  if (problem.points == 9 && (type == std::string("mic") || type == std::string("gridmg")) && random.chance(0.9))
    type = "rrb";
  const Words words = pc_options(random, problem, type, at);
  legal = legal && words.legal;
  if (method.empty()) method = type;
  return " -" + at + "pc_type " + (wish.plain ? "jacobi" : type) + words.text;
}

std::string Use::tests(const std::string &at) {
  std::string text;
  char number[40];
  const double rtol = random.power(-10, -2);
  std::snprintf(number, sizeof number, "%.3g", rtol);
  text +=
      " -" + at + "ksp_rtol " + number + " -" + at + "ksp_max_it " + std::to_string(random.of({0, 1, 3, 60, 200, 400}));
  if (random.chance(0.4))
    text += " -" + at + "ksp_norm_type " +
            random.of({"preconditioned", "unpreconditioned", "unpreconditioned", "natural", "none"});
  if (random.chance(0.1)) text += " -" + at + "ksp_pc_side " + random.of({"left", "right", "symmetric"});
  if (random.chance(0.05)) text += " -" + at + "ksp_atol 1e-3";
  if (random.chance(0.03)) text += " -" + at + "ksp_divtol 10";
  if (random.chance(0.03)) text += " -" + at + "ksp_diagonal_scale";
  if (random.chance(0.04)) text += " -" + at + "ksp_converged_use_initial_residual_norm";
  if (random.chance(0.03)) text += " -" + at + "ksp_initial_guess_knoll";
  if (random.chance(0.03)) text += " -" + at + "ksp_error_if_not_converged";
  if (random.chance(0.03)) text += " -" + at + "ksp_lag_norm";
  return text;
}

std::string Use::nested() {
  method = "nested";
  const int kind = random.integer(0, 8);
  alone = kind < 3 || kind == 5;
  switch (kind) {
  case 0: return " -pc_type bjacobi -sub_ksp_type preonly" + ours("sub_");
  case 1:
    return std::string(" -pc_type asm -pc_asm_overlap ") + random.of({"0", "1", "2"}) + " -sub_ksp_type preonly" +
           ours("sub_");
  case 2: return std::string(" -pc_type bjacobi -sub_ksp_max_it 3 -sub_ksp_type ") + (wish.plain ? "cg" : "rrb");
  case 3: return " -pc_type ksp -ksp_ksp_max_it 3 -ksp_ksp_type cg" + ours("ksp_");
  case 4: {
    const std::string first = ours("sub_0_");
    const std::string type = random.of({"rrb", "mic", "gridmg", "neumann", "blockrelax"}); // drawn in a plain use, too
    return std::string(" -pc_type composite -pc_composite_type ") + random.of({"additive", "multiplicative"}) +
           " -pc_composite_pcs " + (wish.plain ? "jacobi" : type) + ",jacobi" + first;
  }
  case 5: return " -pc_type redundant -redundant_ksp_type preonly" + ours("redundant_");
  case 6:
  case 7:
    if (!with_array) break; // PETSc would need it
    return " -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1" +
           ours("mg_levels_");
  default: break;
  }
  return " -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_ksp_max_it 1" + ours("mg_levels_");
}

std::string Use::choose_options() {
  const int kind = random.integer(0, 99);
  if (kind < 30) {
    const bool solid = problem.dimensions == 3, grids = random.chance(solid ? 0.9 : 0.15);
    method = grids ? "ksp gridmg" : "ksp rrb";
    std::string text = std::string(" -ksp_type ") + (wish.plain ? "cg" : "rrb") + tests("");
    const Words words = pc_options(random, problem, grids ? "gridmg" : "rrb", "");
    const bool named = random.chance(grids ? 0.7 : 0.2);
    if (random.chance(0.1)) text += " -ksp_view_eigenvalues ascii:/dev/null";
    if (wish.plain) return text + " -pc_type jacobi";
    if (grids && !named) return text; // it is the default in 3D
    legal = legal && words.legal;
    return text + (named ? grids ? " -pc_type gridmg" : " -pc_type rrb" : "") + words.text;
  }
  std::string text = std::string(" -ksp_type ") + krylov() + tests("");
  if (kind < 70) return text + ours("");
  if (kind < 90) {
    const Words words = deflation_options(random, problem, "");
    legal = legal && words.legal;
    const std::string inside = random.chance(0.3)
                                   ? ours("")
                                   : std::string(" -pc_factor_shift_type none -pc_type ") + // others may shift for ever
                                         random.of({"jacobi", "none", "icc", "sor", "bjacobi", "ilu", "gamg", "asm"});
    method = "deflation";
    if (!wish.plain) text += words.text;
    return text + inside;
  }
  return text + nested();
}

void Use::put_options(const std::string &text) {
  ok(PetscOptionsPrefixPush(nullptr, prefix));
  const PetscErrorCode code = PetscOptionsInsertString(nullptr, text.c_str());
  ok(PetscOptionsPrefixPop(nullptr));
  ok(code);
  for (std::size_t at = 0; (at = text.find(" -", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find(' ', at + 2);
    if (!std::isdigit(text[at + 2])) names.push_back("-" + std::string(prefix) + text.substr(at + 2, end - at - 2));
  }
}

void Use::make_matrices() {
  A = matrix_of(problem, numbering, storage);
  differ = random.chance(0.1);
  if (!differ) {
    ok(PetscObjectReference(A));
    *P.put() = A;
    return;
  }
  Problem other = problem;
  change_values(random, other);
  if (other.columns != problem.columns) other = problem; // on several ranks PETSc does not refuse what fits no vector
  has_to_work = has_to_converge = false;
  say("; the preconditioner from another matrix" + (other.words.empty() ? "" : " (" + other.words + ")"));
  P = matrix_of(other, numbering, storage);
}

void Use::make_solver() {
  ok(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, prefix));
  if (with_array) {
    ok(KSPSetDM(ksp, numbering.array()));
    ok(set_dm_inactive(ksp));
  }
  ok(KSPSetOperators(ksp, A, P));
  ok(KSPSetFromOptions(ksp));
}

// What nobody may refuse: a definite matrix of ordinary numbers on a grid that can be found, and legal options.
void Use::expect(const std::string &options) {
  const Problem &p = problem;
  const auto has = [&](const char *text) { return options.find(text) != std::string::npos; };
  const bool aij = storage.type == backend.mat || storage.type == "baij" || storage.type == "sbaij";
  const bool told = with_array || (numbering.array() && storage.from_array && storage.type == backend.mat);
  const bool given = told || has(method == "deflation" ? "-ksp_deflation_grid " : "_grid ");
  halves = !has("-pc_rrb_cycle amli") && !has("-pc_rrb_coarse ksp") && !has("-pc_rrb_coarse inverse") &&
           (method.find("rrb") == std::string::npos || !backend.device || has("-pc_rrb_coarse cholesky"));
  bool sides = true;
  for (int d = 0; d < p.dimensions; ++d) sides = sides && p.n[d] >= 4;
  if (!legal || !p.tame || !p.definite || !p.symmetric || !p.finite || !p.on_grid || p.columns != p.size() ||
      p.size() == 0)
    return;
  if (!aij || !numbering.natural_or_array() || (numbering.array() && !told && ranks() > 1) ||
      !(given || (sides && !p.masked)) || !p.near_null.empty())
    return;
  if (method == "ksp rrb" || method == "rrb") has_to_work = p.dimensions == 2;
  if (method == "mic" || method == "gridmg" ||
      (method == "ksp gridmg" && has("-pc_type gridmg"))) // its grid is that of a rank
    has_to_work = (p.points == 5 || p.points == 7) && numbering.whole_lines() && (ranks() == 1 || !has("_grid "));
  if ((has("gridmg") || has("mic")) && has("ksp_diagonal_scale"))
    has_to_work = false; // rows' sums may be negative then
  if (method == "neumann") has_to_work = p.points != 27 || !has("_grid ");
  if (method == "deflation")
    has_to_work = ranks() == 1 && (given || p.points != 27) && has("-ksp_type cg ") && !has("_type mic") &&
                  !has("_type gridmg") && !has("_type blockrelax") && !has("_type rrb") &&
                  !(p.points == 27 && has("-pc_neumann_grid"));
  // what a cut, or known values among few points, leave may be coupled around a ring or by corners alone: as good as on another grid, and
  // with another one's sizes it is refused
  const bool ring = p.periodic[0] || p.periodic[1] || p.periodic[2];
  const auto with = [&](const char *words) { return p.words.find(words) != std::string::npos; };
  if (given && ((ring && with("cut in two")) || ((p.size() <= 32 || p.n[0] <= 2) && with("known values"))))
    has_to_work = false;
  if (!halves && (has("-ksp_type qcg ") || has("pc_side symmetric"))) has_to_work = false;
  has_to_converge = has_to_work && method != "deflation" && !(p.known_columns && method.find("ksp ") != 0) &&
                    !has("norm_type none") && !has("_drop") && !has("_shift") && !has("pc_side") &&
                    !has("ksp_diagonal_scale") && (has("-ksp_type cg ") || has("-ksp_type rrb ")) && !differ;
}

void Use::prepare() {
  omp_set_num_threads(random.chance(0.05) ? random.integer(2, 3) : 1);
  problem = random_problem(random);
  std::string words = problem.words;
  numbering = Numbering(random, problem, words);
  storage = random_storage(random, problem, words);
  say(words);
  with_array = numbering.array() && random.chance(0.7);
  const std::string options = choose_options();
  say(";" + options);
  as_stored();
  expect(options);
  put_options(options);
}

void Use::run() {
  prepare();
  make_matrices();
  make_solver();
  take_step(0); // a solve
  const int steps = random.chance(0.5) ? random.integer(1, 6) : 0;
  for (int i = 0; i < steps && fault.empty(); ++i) take_step(-1);
}

void Use::clean_up() {
  for (const std::string &name : names) (void)PetscOptionsClearValue(nullptr, name.c_str());
  omp_set_num_threads(1);
}

// All ranks must have ended alike: with the same error, or none.
static std::string agree(PetscErrorCode code) {
  int mine = int(code), least, most;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (least == most) return "";
  return "ranks differ: error " + std::to_string(least) + " and error " + std::to_string(most);
}

static bool is_own(const Raised &r) { return r.file.compare(0, 4, "src/") == 0; }

static std::string judge_refusal(const Raised &r) {
  const std::string text = "error " + std::to_string(int(r.code)) + " in " + r.function + ": " + r.message;
  switch (int(r.code)) {
  case PETSC_ERR_MEM:
  case PETSC_ERR_SIG:
  case PETSC_ERR_ARG_CORRUPT:
  case PETSC_ERR_ARG_BADPTR:
  case PETSC_ERR_PLIB:
  case PETSC_ERR_LIB:
  case PETSC_ERR_GPU:
  case PETSC_ERR_ARG_NULL: return text;
  case PETSC_ERR_NOT_CONVERGED: return ""; // it says why
  default: break;
  }
  if (!is_own(r) || r.function.find("Set") != std::string::npos) return ""; // a setter names itself
  for (const char *word : {"row", "-pc_", "-ksp_", "rank", "grid", "rrb", "mic", "gridmg", "neumann", "blockrelax",
                           "RRB", "PC", "KSP", "Mat", "matrix", "deflation", "preconditioner"})
    if (r.message.find(word) != std::string::npos) return "";
  return "a refusal that names nothing: " + text;
}

Found random_use(const Wish &wish) {
  Use use(wish);
  PetscErrorCode code = PETSC_SUCCESS;
  raised = Raised();
  try {
    use.run();
  } catch (const Refused &refusal) {
    code = refusal.code;
    if (wish.refused) wish.refused();
    // on a device an error inside of bjacobi leaves it with the arrays of x, which it would free a second time
    if (backend.device && use.story.find("bjacobi") != std::string::npos)
      ok(PetscObjectReference((PetscObject)(KSP)use.ksp));
    if (use.alone && ranks() > 1) { // the others may wait for this one
      std::printf("ABORTS\n"), std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 77);
    }
  }
  Found found;
  const Raised first = raised;
  const std::string differ = agree(code);
  if (!differ.empty())
    use.fault = differ + ": " + first.message;
  else if (code != PETSC_SUCCESS && use.fault.empty()) {
    use.say("; refused: " + std::to_string(int(code)) + " " + first.message);
    use.fault = judge_refusal(first);
    const bool expected = first.code != PETSC_ERR_NOT_CONVERGED || use.has_to_converge;
    if (use.fault.empty() && use.has_to_work && expected && !wish.plain && is_own(first))
      use.fault = "refused: " + first.message;
    found.refused = true;
  }
  use.clean_up();
  found.fault = use.fault, found.story = use.story;
  found.leaves = use.leaves || found.refused;
  found.converged = use.converged, found.diverged = use.diverged;
  return found;
}

} // namespace longtest
