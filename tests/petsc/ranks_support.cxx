// One matrix over the ranks of PETSC_COMM_WORLD.
#include "ranks_support.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>
#include <unistd.h>

namespace petsctest::distributed {

int rank() {
  PetscMPIInt r;
  (void)MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}
int ranks() {
  PetscMPIInt n;
  (void)MPI_Comm_size(PETSC_COMM_WORLD, &n);
  return n;
}

std::vector<Partition> partitions(const Shape &s) {
  const int p = ranks();
  std::vector<Partition> all;
  for (int x = 1; x <= p; ++x)
    for (int y = 1; x * y <= p; ++y) {
      const int z = p / (x * y);
      if (x * y * z == p && x <= s.nx && y <= s.ny && z <= s.nz) all.push_back({x, y, z});
    }
  return all;
}

// The rows that this rank has, under the numbers that `number` gives to natural ones.
static void fill(Mat A, const reference::Matrix &values, const std::vector<int> &natural,
                 const std::vector<PetscInt> &number) {
  for (int p : natural)
    for (const auto &[q, a] : values.row[std::size_t(p)])
      ok(MatSetValue(A, number[std::size_t(p)], number[std::size_t(q)], a, INSERT_VALUES));
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

static std::vector<PetscInt> numbers(const Distributed &d, int n) {
  std::vector<PetscInt> number(static_cast<std::size_t>(n));
  AO order;
  std::iota(number.begin(), number.end(), 0);
  if (!static_cast<DM>(d.da)) return number;
  ok(DMDAGetAO(d.da, &order));
  ok(AOApplicationToPetsc(order, n, number.data()));
  return number;
}

Distributed on_dmda(const reference::Matrix &values, const Shape &s, const Partition &parts) {
  const auto boundary = [](bool around) { return around ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE; };
  Distributed d;
  PetscInt at[3], n[3];
  if (s.points == 7)
    ok(DMDACreate3d(PETSC_COMM_WORLD, boundary(s.px), boundary(s.py), boundary(s.pz), DMDA_STENCIL_STAR, s.nx, s.ny,
                    s.nz, parts.x, parts.y, parts.z, 1, 1, nullptr, nullptr, nullptr, d.da.put()));
  else
    ok(DMDACreate2d(PETSC_COMM_WORLD, boundary(s.px), boundary(s.py),
                    s.points == 9 ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, s.nx, s.ny, parts.x, parts.y, 1, 1, nullptr,
                    nullptr, d.da.put()));
  ok(DMSetMatType(d.da, backend.mat));
  ok(DMSetVecType(d.da, backend.vec));
  ok(DMSetUp(d.da));
  ok(DMCreateMatrix(d.da, d.A.put()));
  ok(DMDAGetCorners(d.da, &at[0], &at[1], &at[2], &n[0], &n[1], &n[2]));
  for (int k = int(at[2]); k < at[2] + n[2]; ++k)
    for (int j = int(at[1]); j < at[1] + n[1]; ++j)
      for (int i = int(at[0]); i < at[0] + n[0]; ++i) d.natural.push_back((k * s.ny + j) * s.nx + i);
  fill(d.A, values, d.natural, numbers(d, values.size()));
  return d;
}

Distributed by_rows(const reference::Matrix &values, const std::vector<int> &rows, MatType type) {
  const int n = values.size(), mine = rows[std::size_t(rank())];
  Distributed d;
  d.natural.resize(std::size_t(mine));
  std::iota(d.natural.begin(), d.natural.end(), std::accumulate(rows.begin(), rows.begin() + rank(), 0));
  ok(MatCreate(PETSC_COMM_WORLD, d.A.put()));
  ok(MatSetSizes(d.A, mine, mine, n, n));
  ok(MatSetType(d.A, type));
  ok(MatSetUp(d.A));
  ok(MatSetOption(d.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (std::string(type).find("sbaij") != std::string::npos)
    ok(MatSetOption(d.A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  fill(d.A, values, d.natural, numbers(d, n));
  return d;
}

std::vector<int> uneven_rows(int n) {
  std::vector<int> rows;
  for (int r = 0; r < ranks(); ++r) rows.push_back(n * (1 + r % 3) / (3 * ranks()));
  rows.back() += n - std::accumulate(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<int> rows_without_first(int n) {
  std::vector<int> rows(std::size_t(ranks()), 0);
  const int others = std::max(1, ranks() - 1);
  for (int r = ranks() - others; r < ranks(); ++r) rows[std::size_t(r)] = n / others;
  rows.back() += n % others;
  return rows;
}

void each_distribution(const reference::Matrix &A, const Shape &s,
                       const std::function<void(const Distributed &, const std::string &)> &f, Turn turn) {
  const std::string size = neumann_support::words(s);
  int count = turn.of - turn.from % turn.of;
  const auto chosen = [&] { return count++ % turn.of == 0; };
  for (const Partition &p : partitions(s))
    if (chosen())
      f(on_dmda(A, s, p),
        size + " over " + std::to_string(p.x) + " x " + std::to_string(p.y) + " x " + std::to_string(p.z) + " ranks");
  if (ranks() == 1) return; // the numbers of the unknowns then tell the grid, or do not
  if (chosen()) f(by_rows(A, uneven_rows(A.size())), size + " by rows");
  if (chosen()) f(by_rows(A, rows_without_first(A.size())), size + " by rows, none on the first rank");
}

void set_new_values(const Distributed &d, const reference::Matrix &values) {
  fill(d.A, values, d.natural, numbers(d, values.size()));
}

reference::Vector own_part(const Distributed &d, const reference::Vector &all) {
  reference::Vector mine;
  for (int p : d.natural) mine.push_back(all[std::size_t(p)]);
  return mine;
}

Vector vector_on(const Distributed &d, const reference::Vector &all) {
  const reference::Vector mine = own_part(d, all);
  Vector x;
  PetscScalar *a;
  ok(MatCreateVecs(d.A, x.put(), nullptr));
  ok(VecGetArrayWrite(x, &a));
  std::copy(mine.begin(), mine.end(), a);
  ok(VecRestoreArrayWrite(x, &a));
  return x;
}

reference::Vector applied_on(PC pc, const Distributed &d, const reference::Vector &r,
                             PetscErrorCode (*apply)(PC, Vec, Vec)) {
  const Vector x = vector_on(d, r), y = like(x, std::nan(""));
  ok(VecLockReadPush(x));
  ok(apply(pc, x, y));
  ok(VecLockReadPop(x));
  return values_of(y);
}

Solve solve_on(KSP ksp, const Distributed &d, const reference::Vector &b, const reference::Vector &x0) {
  Solve out;
  PetscInt iterations;
  const Vector rhs = vector_on(d, b), x = x0.empty() ? like(rhs) : vector_on(d, x0);
  if (!x0.empty()) ok(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  ok(KSPSolve(ksp, rhs, x));
  ok(KSPGetIterationNumber(ksp, &iterations));
  ok(KSPGetConvergedReason(ksp, &out.reason));
  out.iterations = int(iterations);
  out.x = values_of(x);
  return out;
}

template <class T> static std::string view_on_first(T object, PetscErrorCode (*show)(T, PetscViewer)) {
  Handle<PetscViewer, PetscViewerDestroy> viewer;
  // the first rank's file, which no other program's first rank writes meanwhile
  const std::string name = testing::TempDir() + "petscrrb_view_on_ranks_" + std::to_string(getpid());
  ok(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name.c_str(), viewer.put()));
  ok(show(object, viewer));
  viewer = {};
  if (rank() > 0) return "";
  std::string text(8192, ' ');
  std::FILE *file = std::fopen(name.c_str(), "r");
  text.resize(std::fread(&text[0], 1, text.size(), file));
  std::fclose(file);
  std::remove(name.c_str());
  return text;
}

std::string view_on_first(PC pc) { return view_on_first(pc, PCView); }
std::string view_on_first(KSP ksp) { return view_on_first(ksp, KSPView); }

double largest_over_ranks(double value) {
  (void)MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return value;
}

} // namespace petsctest::distributed
