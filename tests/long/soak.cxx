// Thousands of refreshes and solves, and of solvers made and destroyed, in constant memory: soak [-count N] [-only NAME]
// [-backend cuda]. A line for each; BAD where memory grows.
#include "common/support.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#if defined(PETSC_HAVE_CUDA)
extern "C" int cudaMemGetInfo(std::size_t *, std::size_t *); // without the toolkit's headers
#endif

using namespace longtest;

namespace {

struct Kind {
  const char *name, *options;
  int n[3];
};

const Kind kinds[] = {
    {"rrb", "-ksp_type cg -pc_type rrb -pc_rrb_levels 6", {37, 30, 1}},
    {"ksp-rrb", "-ksp_type rrb -pc_rrb_levels 6 -pc_rrb_storage_grids 2", {37, 30, 1}},
    {"mic", "-ksp_type cg -pc_type mic", {37, 30, 1}},
    {"mic-3d", "-ksp_type cg -pc_type mic", {11, 9, 10}},
    {"gridmg", "-ksp_type cg -pc_type gridmg -pc_gridmg_coarse_size 30 -pc_gridmg_gather_size 0", {12, 9, 10}},
    {"gridmg-rrb", "-ksp_type rrb -pc_type gridmg -pc_gridmg_coarse_size 30 -pc_gridmg_gather_size 0", {12, 9, 10}},
    {"neumann", "-ksp_type cg -pc_type neumann", {37, 30, 1}},
    {"neumann-poisson", "-ksp_type cg -pc_type neumann -pc_neumann_type poisson -pc_neumann_drop pattern", {37, 30, 1}},
    {"blockrelax", "-ksp_type cg -pc_type blockrelax", {37, 30, 1}},
    {"blockrelax-3d", "-ksp_type gmres -pc_type blockrelax -pc_blockrelax_type coloured", {11, 9, 10}},
    {"deflation", "-ksp_type cg -pc_type jacobi -ksp_deflation block", {37, 30, 1}},
    {"deflation-def1",
     "-ksp_type cg -pc_type neumann -ksp_deflation levelset -ksp_deflation_variant def1",
     {37, 30, 1}},
};

struct Memory { // in bytes
  double resident, petsc, device;
};

Memory now() {
  Memory m{0, 0, 0};
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    long pages = 0, shared = 0;
    // without what comes from files, such as code that is read late
    if (std::fscanf(file, "%*s %ld %ld", &pages, &shared) == 2)
      m.resident = double(pages - shared) * double(sysconf(_SC_PAGESIZE));
    std::fclose(file);
  }
  ok(PetscMallocGetCurrentUsage(&m.petsc));
#if defined(PETSC_HAVE_CUDA)
  std::size_t free_bytes = 0, total = 0;
  if (backend.device && cudaMemGetInfo(&free_bytes, &total) == 0) m.device = double(total - free_bytes);
#endif
  return m;
}

class Soak {
public:
  explicit Soak(const Kind &kind) {
    const bool deep = kind.n[2] > 1;
    if (deep)
      ok(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                      kind.n[0], kind.n[1], kind.n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr,
                      nullptr, array_.put()));
    else
      ok(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, kind.n[0], kind.n[1],
                      PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, array_.put()));
    ok(DMSetMatType(array_, backend.mat));
    ok(DMSetVecType(array_, backend.vec));
    ok(DMSetUp(array_));
    ok(DMCreateMatrix(array_, A_.put()));
    fill(kind);
    ok(MatCreateVecs(A_, x_.put(), b_.put()));
    ok(VecSetRandom(b_, nullptr));
    ok(PetscOptionsInsertString(nullptr, kind.options));
    make();
  }

  void make() {
    ok(KSPCreate(PETSC_COMM_WORLD, ksp_.put()));
    ok(KSPSetOperators(ksp_, A_, A_));
    ok(KSPSetTolerances(ksp_, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
    ok(KSPSetFromOptions(ksp_));
  }

  void solve() { ok(KSPSolve(ksp_, b_, x_)); }
  void refresh() { ok(MatScale(A_, ++turn_ % 2 ? 2.0 : 0.5)); }

private:
  void fill(const Kind &kind) {
    DMDALocalInfo box;
    ok(DMDAGetLocalInfo(array_, &box));
    for (PetscInt k = box.zs; k < box.zs + box.zm; ++k)
      for (PetscInt j = box.ys; j < box.ys + box.ym; ++j)
        for (PetscInt i = box.xs; i < box.xs + box.xm; ++i) {
          MatStencil row{}, column{};
          row.i = i, row.j = j, row.k = k;
          const int by[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
          double diagonal = 0;
          for (const auto &step : by) {
            if (kind.n[2] == 1 && step[2]) continue;
            column.i = i + step[0], column.j = j + step[1], column.k = k + step[2];
            const double a = i + j > 30 ? 100 : 1;
            diagonal += 100;
            const bool inside = column.i >= 0 && column.i < box.mx && column.j >= 0 && column.j < box.my &&
                                column.k >= 0 && column.k < box.mz;
            const bool same = (column.i + column.j > 30) == (i + j > 30);
            const PetscScalar coupling = same ? -a : -1;
            if (inside) ok(MatSetValuesStencil(A_, 1, &row, 1, &column, &coupling, INSERT_VALUES));
          }
          ok(MatSetValuesStencil(A_, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
        }
    ok(MatAssemblyBegin(A_, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(A_, MAT_FINAL_ASSEMBLY));
  }

  Array array_;
  Matrix A_;
  Vector b_, x_;
  Solver ksp_;
  long turn_ = 0;
};

// Whether memory stays where it is from a third of the turns on.
template <class Turn> bool constant(const char *name, const char *what, long count, const Turn &turn) {
  Memory begin{};
  const double start = MPI_Wtime();
  for (long i = 0; i < count; ++i) {
    if (i == count / 3) begin = now();
    turn();
  }
  const Memory end = now();
  const double resident = end.resident - begin.resident, petsc = end.petsc - begin.petsc,
               device = end.device - begin.device;
  const double others = ranks() > 1 ? 1e6 : 3e5; // MPI's buffers for messages, and the like
  const bool bad = petsc > 0 || device > 2e6 || resident > others + 32.0 * double(count);
  int any = bad;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (rank() == 0)
    std::printf("%s %s %s: %ld in %.1f s, memory grew by %.0f kB, PETSc's by %.0f bytes, the device's by %.0f kB\n",
                any ? "BAD" : "good", name, what, count, MPI_Wtime() - start, resident / 1024, petsc, device / 1024),
        std::fflush(stdout);
  return !any;
}

bool run(const Kind &kind, long count) {
  bool good = true;
  {
    Soak soak(kind);
    good = constant(kind.name, "refreshed", count, [&] { soak.refresh(), soak.solve(); });
    good = constant(kind.name, "made", count, [&] { soak.make(), soak.solve(); }) && good;
  }
  ok(PetscOptionsClear(nullptr));
  return good;
}

} // namespace

int main(int argc, char **argv) {
  const long count = number_after(argc, argv, "-count", 10000);
  const char *only = nullptr;
  for (int i = 1; i + 1 < argc; ++i)
    if (!std::strcmp(argv[i], "-only")) only = argv[i + 1];
  if (!start(&argc, &argv, "soak")) return 2;
  bool good = true;
  try {
    for (const Kind &kind : kinds)
      if (!only || !std::strcmp(only, kind.name)) good = run(kind, count) && good;
  } catch (const Refused &) {
    std::printf("BAD: error %d in %s: %s\n", int(raised.code), raised.function.c_str(), raised.message.c_str());
    good = false;
  }
  stop();
  return good ? 0 : 1;
}
