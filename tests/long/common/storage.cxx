// A problem as PETSc's objects.
#include "storage.hpp"

#include <algorithm>
#include <numeric>

namespace longtest {

namespace {

// How many of `n` rows each rank has: even, or random, by whole lines or not; ranks may have none.
std::vector<PetscInt> parts(Random &random, int n, int line, bool &whole_lines) {
  const int p = ranks();
  std::vector<PetscInt> out(p, 0);
  const int kind = random.integer(0, 3), unit = kind == 3 ? 1 : std::max(line, 1), units = n / unit;
  if (kind == 0 || n % unit) { // as PETSc would
    for (int r = 0; r < p; ++r) out[r] = n / p + (r < n % p);
    whole_lines = p == 1 || n % (p * line) == 0;
    return out;
  }
  whole_lines = unit % line == 0 || p == 1;
  std::vector<int> cuts{0, units};
  for (int r = 1; r < p; ++r) cuts.push_back(kind == 1 ? units * r / p : random.integer(0, units));
  std::sort(cuts.begin(), cuts.end());
  for (int r = 0; r < p; ++r) out[r] = PetscInt(cuts[r + 1] - cuts[r]) * unit;
  return out;
}

DMBoundaryType boundary(bool periodic) { return periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE; }

} // namespace

void Numbering::use_array(Random &random, const Problem &p) {
  const bool box = p.points == 9 || p.points == 27 || random.chance(0.2);
  const DMDAStencilType stencil = box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  if (p.dimensions == 2)
    ok(DMDACreate2d(PETSC_COMM_WORLD, boundary(p.periodic[0]), boundary(p.periodic[1]), stencil, p.n[0], p.n[1],
                    PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, array_.put()));
  else
    ok(DMDACreate3d(PETSC_COMM_WORLD, boundary(p.periodic[0]), boundary(p.periodic[1]), boundary(p.periodic[2]),
                    stencil, p.n[0], p.n[1], p.n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr,
                    nullptr, array_.put()));
  ok(DMSetMatType(array_, backend.mat));
  ok(DMSetVecType(array_, backend.vec));
  ok(DMSetUp(array_));
  AO order;
  ok(DMDAGetAO(array_, &order));
  ok(AOApplicationToPetsc(order, PetscInt(place_.size()), place_.data()));
  Vector v;
  ok(DMCreateGlobalVector(array_, v.put()));
  ok(VecGetLocalSize(v, &rows_));
  columns_ = rows_;
}

Numbering::Numbering(Random &random, const Problem &p, std::string &words) {
  place_.resize(std::max(p.size(), p.columns));
  std::iota(place_.begin(), place_.end(), 0);
  bool fits = p.size() > 0 && p.columns == p.size(); // a stencil must not reach a rank beyond the next
  for (int d = 0; d < p.dimensions; ++d)
    fits = fits && p.n[d] >= (ranks() == 1 ? (p.periodic[d] ? 2 : 1) : 2 * ranks());
  if (fits && random.chance(ranks() == 1 ? 0.15 : 0.5)) {
    words += ", a DMDA";
    use_array(random, p);
    return;
  }
  const int line = p.dimensions == 2 ? p.n[0] : p.n[0] * p.n[1];
  const auto part = parts(random, p.size(), std::max(line, 1), whole_lines_);
  rows_ = part[rank()];
  columns_ = rows_ + (rank() == 0 ? p.columns - p.size() : 0);
  if (ranks() > 1) {
    words += ", rows";
    for (PetscInt n : part) words += " " + std::to_string(n);
  }
  if (p.columns != p.size() || !random.chance(0.02)) return;
  for (int i = p.size() - 1; i > 0; --i) std::swap(place_[i], place_[random.integer(0, i)]);
  any_ = true;
  words += ", numbered at random";
}

Vector Numbering::vector(const reference::Vector &values, Mat like, bool left) const {
  Vector out;
  PetscScalar *a;
  PetscInt first, last;
  if (left)
    ok(MatCreateVecs(like, nullptr, out.put()));
  else
    ok(MatCreateVecs(like, out.put(), nullptr));
  ok(VecSet(out, 0)); // an array that is only to be written may hold anything
  ok(VecGetOwnershipRange(out, &first, &last));
  ok(VecGetArray(out, &a));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (place_[i] >= first && place_[i] < last) a[place_[i] - first] = values[i];
  ok(VecRestoreArray(out, &a));
  return out;
}

reference::Vector Numbering::values(Vec x) const {
  PetscInt local, global;
  const PetscScalar *a;
  ok(VecGetLocalSize(x, &local));
  ok(VecGetSize(x, &global));
  std::vector<int> count(ranks()), first(ranks());
  const int mine = int(local);
  MPI_Allgather(&mine, 1, MPI_INT, count.data(), 1, MPI_INT, PETSC_COMM_WORLD);
  std::partial_sum(count.begin(), count.end() - 1, first.begin() + 1);
  reference::Vector all(global), out(global);
  ok(VecGetArrayRead(x, &a));
  MPI_Allgatherv(a, mine, MPI_DOUBLE, all.data(), count.data(), first.data(), MPI_DOUBLE, PETSC_COMM_WORLD);
  ok(VecRestoreArrayRead(x, &a));
  for (PetscInt i = 0; i < global; ++i) out[i] = all[place_[i]];
  return out;
}

Storage random_storage(Random &random, const Problem &p, std::string &words) {
  Storage s;
  s.type = backend.mat;
  s.from_array = random.chance(0.5);
  if (random.chance(0.2)) s.type = random.of({"baij", "sbaij", "dense", "aijperm", "aij", "baij", "sbaij"});
  if (!p.symmetric && s.type == "sbaij") s.type = "baij"; // which would be another matrix
  if (p.columns != p.size() && s.type == "sbaij") s.type = "aij";
  if (backend.device && s.type == backend.mat && random.chance(0.1)) s.bound_to_cpu = true;
  words += ", " + s.type + (s.bound_to_cpu ? " bound to the CPU" : "");
  return s;
}

void set_values(Mat A, const Problem &p, const Numbering &numbering) {
  PetscInt first, last;
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> row;
  ok(MatGetOwnershipRange(A, &first, &last));
  for (int i = 0; i < p.size(); ++i) {
    const PetscInt at = numbering.place(i);
    if (at < first || at >= last) continue;
    columns.clear(), row.clear();
    for (const auto &[j, a] : p.A.row[i]) columns.push_back(numbering.place(j)), row.push_back(a);
    ok(MatSetValues(A, 1, &at, PetscInt(row.size()), columns.data(), row.data(), INSERT_VALUES));
  }
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

Matrix matrix_of(const Problem &p, const Numbering &numbering, const Storage &storage) {
  Matrix out;
  if (numbering.array() && storage.from_array && storage.type == backend.mat) {
    ok(DMCreateMatrix(numbering.array(), out.put()));
  } else {
    ok(MatCreate(PETSC_COMM_WORLD, out.put()));
    ok(MatSetSizes(out, numbering.rows(), numbering.columns(), p.size(), p.columns));
    ok(MatSetType(out, storage.type.c_str()));
    // no more than the rows of small problems may have
    const PetscInt most = 40, own = numbering.columns(), others = p.columns - own;
    const std::vector<PetscInt> here(numbering.rows(), std::min(own, most)),
        there(numbering.rows(), std::min(others, most));
    ok(MatXAIJSetPreallocation(out, 1, here.data(), there.data(), here.data(), there.data()));
    ok(MatSetUp(out));
  }
  if (storage.bound_to_cpu) ok(MatBindToCPU(out, PETSC_TRUE));
  ok(MatSetOption(out, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (storage.type == "sbaij") ok(MatSetOption(out, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  set_values(out, p, numbering);
  attach_spaces(out, p, numbering);
  return out;
}

void attach_spaces(Mat A, const Problem &p, const Numbering &numbering) {
  ok(MatSetNearNullSpace(A, nullptr));
  if (!p.near_null.empty()) {
    Space near;
    const Vector v = numbering.vector(p.near_null, A, false);
    const Vec basis = v;
    ok(VecNormalize(v, nullptr));
    ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &basis, near.put()));
    ok(MatSetNearNullSpace(A, near));
  }
  ok(MatSetNullSpace(A, nullptr));
  if (p.null_space.empty()) return;
  Space space;
  ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, space.put())); // all of them have one: constants
  ok(MatSetNullSpace(A, space));
}

} // namespace longtest
