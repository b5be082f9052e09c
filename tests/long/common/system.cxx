// The matrices of the cases, each row by the rank that has it.
#include "cases.hpp"

#include <cmath>
#include <cstdint>

namespace longtest {

// Between 0 and 1, the same on any rank.
static double hashed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return double((x ^ x >> 31) >> 11) * 0x1p-53;
}

static PetscErrorCode create_da(const int n[3], int dimensions, bool around, bool corners, DM *da) {
  const auto x = around ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  return dimensions == 2
             ? DMDACreate2d(PETSC_COMM_WORLD, x, DM_BOUNDARY_NONE, corners ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, n[0],
                            n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, da)
             : DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                            n[0], n[1], n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, nullptr,
                            da);
}

// Whole lines or planes on each rank, or a fifth of the rows by chance.
static void create_rows(const int n[3], Mat *A) {
  const int lines = n[2] > 1 ? n[2] : n[1], length = n[0] * n[1] * n[2] / lines;
  const int mine = (lines * (rank() + 1) / ranks() - lines * rank() / ranks()) * length;
  ok(MatCreate(PETSC_COMM_WORLD, A));
  ok(MatSetSizes(*A, mine, mine, PETSC_DETERMINE, PETSC_DETERMINE));
  ok(MatSetType(*A, backend.mat));
  ok(MatSeqAIJSetPreallocation(*A, 9, nullptr));
  ok(MatMPIAIJSetPreallocation(*A, 9, nullptr, 9, nullptr));
}

System::System(const Case &c, int size) : what(c) {
  const bool cube = c.rows == Rows::seven || c.rows == Rows::cube;
  dimensions_ = cube ? 3 : 2;
  around_ = c.rows == Rows::around;
  n_[0] = (cube ? 9 : 24) * size;
  n_[1] = (cube ? 8 : 20) * size;
  n_[2] = cube ? 7 * size : 1;
  if (c.rows == Rows::lines || c.rows == Rows::loose) {
    create_rows(n_, A.put());
  } else {
    ok(create_da(n_, dimensions_, around_, c.rows == Rows::nine, da_.put()));
    ok(DMSetMatType(da_, backend.mat));
    ok(DMSetVecType(da_, backend.vec));
    ok(DMSetUp(da_));
    ok(DMCreateMatrix(da_, A.put()));
  }
  number_rows();
  set_values(0);
  if (c.flags & Case::other_amat) ok(MatDuplicate(A, MAT_COPY_VALUES, other.put()));
  attach_spaces();
}

bool System::inside(int p[3]) const {
  if (around_) p[0] = (p[0] + n_[0]) % n_[0];
  for (int d = 0; d < 3; ++d)
    if (p[d] < 0 || p[d] >= n_[d]) return false;
  return true;
}

// The rows' numbers in PETSc, by their numbers in natural order.
void System::number_rows() {
  AO order;
  const PetscInt rows = PetscInt(n_[0]) * n_[1] * n_[2];
  for (PetscInt q = 0; q < rows; ++q) numbers_.push_back(what.rows == Rows::loose ? q * 7919 % rows : q);
  if (!static_cast<DM>(da_)) return;
  ok(DMDAGetAO(da_, &order));
  ok(AOApplicationToPetsc(order, rows, numbers_.data()));
}

// Of the face between p and its neighbour q, which may be outside.
double System::coefficient(int version, const int p[3], const int q[3]) const {
  if (what.rows == Rows::constant || what.rows == Rows::cube) return 1 + version;
  const auto cell = [&](const int c[3]) {
    const double value = 1 + 3 * hashed(natural(c) * 16 + unsigned(version));
    return what.rows == Rows::phases && (c[0] / 7 + c[1] / 6) % 2 ? 1000 * value : value;
  };
  int other[3] = {q[0], q[1], q[2]};
  if (!inside(other)) return what.rows == Rows::neumann ? 0 : cell(p);
  const double along = what.rows == Rows::strong && p[0] != q[0] ? 100 : 1;
  return along * 2 * cell(p) * cell(other) / (cell(p) + cell(other));
}

double System::scaling(const int p[3]) const { return what.rows == Rows::near ? 0.5 + hashed(natural(p)) : 1; }

void System::set_row(Mat to, int version, const int p[3]) const {
  const bool corners = what.rows == Rows::nine;
  const PetscInt row = number(p);
  double diagonal = 0;
  if (what.rows == Rows::known && p[0] == 0) {
    ok(MatSetValue(to, row, row, 1, INSERT_VALUES));
    return;
  }
  for (int k = dimensions_ == 3 ? -1 : 0; k <= (dimensions_ == 3 ? 1 : 0); ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int steps = std::abs(i) + std::abs(j) + std::abs(k);
        if (!steps || steps > (corners ? 2 : 1)) continue;
        int q[3] = {p[0] + i, p[1] + j, p[2] + k};
        const double a = coefficient(version, p, q) / (steps == 2 ? 4 : 1);
        diagonal += a;
        if (inside(q)) ok(MatSetValue(to, row, number(q), -a * scaling(p) * scaling(q), INSERT_VALUES));
      }
  ok(MatSetValue(to, row, row, diagonal * scaling(p) * scaling(p), INSERT_VALUES));
}

void System::set_values(int version) {
  PetscInt first, end;
  ok(MatGetOwnershipRange(A, &first, &end));
  for (Mat to : {Mat(A), Mat(other)}) {
    if (!to) continue;
    for (int k = 0; k < n_[2]; ++k)
      for (int j = 0; j < n_[1]; ++j)
        for (int i = 0; i < n_[0]; ++i) {
          const int p[3] = {i, j, k};
          const PetscInt row = number(p);
          if (row >= first && row < end) set_row(to, version, p);
        }
    ok(MatAssemblyBegin(to, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(to, MAT_FINAL_ASSEMBLY));
  }
}

void System::attach_spaces() {
  PetscInt first, end;
  Space space;
  Vector v;
  ok(MatCreateVecs(A, v.put(), b.put()));
  ok(VecGetOwnershipRange(b, &first, &end));
  for (PetscInt i = first; i < end; ++i) ok(VecSetValue(b, i, hashed(std::uint64_t(i) + 77) - 0.5, INSERT_VALUES));
  ok(VecAssemblyBegin(b));
  ok(VecAssemblyEnd(b));
  if (what.rows == Rows::neumann) {
    ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, space.put()));
    ok(MatSetNullSpace(A, space));
    ok(MatNullSpaceRemove(space, b));
  }
  if (what.rows != Rows::near) return;
  for (int j = 0; j < n_[1]; ++j)
    for (int i = 0; i < n_[0]; ++i) {
      const int p[3] = {i, j, 0};
      const PetscInt row = number(p);
      if (row >= first && row < end) ok(VecSetValue(v, row, 1 / scaling(p), INSERT_VALUES));
    }
  ok(VecAssemblyBegin(v));
  ok(VecAssemblyEnd(v));
  ok(VecNormalize(v, nullptr));
  const Vec basis = v;
  ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &basis, space.put()));
  ok(MatSetNearNullSpace(A, space));
}

// Eight columns, each 1 on some rows.
static void set_space(KSP ksp, Mat A) {
  Matrix Z;
  PetscInt mine, first, end, all;
  ok(MatGetLocalSize(A, &mine, nullptr));
  ok(MatGetSize(A, &all, nullptr));
  ok(MatGetOwnershipRange(A, &first, &end));
  ok(MatCreateDense(PETSC_COMM_WORLD, mine, PETSC_DECIDE, all, 8, nullptr, Z.put()));
  for (PetscInt i = first; i < end; ++i) ok(MatSetValue(Z, i, i * 8 / all, 1, INSERT_VALUES));
  ok(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
  ok(KSPDeflationSetSpace(ksp, Z));
}

static void set_level_set(KSP ksp, Vec b) {
  Vector phi;
  PetscInt first, end;
  ok(VecDuplicate(b, phi.put()));
  ok(VecGetOwnershipRange(phi, &first, &end));
  for (PetscInt i = first; i < end; ++i) ok(VecSetValue(phi, i, i / 40 % 2 ? 1 : -1, INSERT_VALUES));
  ok(VecAssemblyBegin(phi));
  ok(VecAssemblyEnd(phi));
  ok(KSPDeflationSetLevelSet(ksp, phi));
}

Solver System::solver() const {
  Solver ksp;
  ok(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  ok(KSPSetOperators(ksp, Mat(other) ? Mat(other) : Mat(A), A));
  ok(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  if (what.flags & Case::space) set_space(ksp, A);
  if (what.flags & Case::level_set) set_level_set(ksp, b);
  ok(KSPSetFromOptions(ksp));
  return ksp;
}

double System::residual(Vec x) const {
  Vector r;
  PetscReal norm, size;
  ok(VecDuplicate(b, r.put()));
  ok(MatMult(A, x, r));
  ok(VecAYPX(r, -1, b));
  ok(VecNorm(r, NORM_2, &norm));
  ok(VecNorm(b, NORM_2, &size));
  return std::isfinite(norm) ? norm / size : INFINITY;
}

} // namespace longtest
