// What every test through PETSc needs.
#include "support.hpp"

#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace petsctest {

Backend backend;
Raised raised;
const char papers[] = "-ksp_type cg -ksp_norm_type natural -ksp_rtol 1e-6 -pc_type rrb ";

void ok(PetscErrorCode code) {
  if (code != PETSC_SUCCESS)
    throw std::runtime_error("PETSc error " + std::to_string(int(code)) + ": " + raised.message);
}

bool refused(PetscErrorCode code) { return code != PETSC_SUCCESS; }

Matrix matrix_of(const reference::Matrix &A, MatType type, MPI_Comm comm) {
  const PetscInt n = A.size();
  std::vector<PetscInt> stored(n), above(n);
  Matrix out;
  for (PetscInt i = 0; i < n; ++i) {
    stored[i] = PetscInt(A.row[i].size());
    above[i] = PetscInt(std::distance(A.row[i].lower_bound(int(i)), A.row[i].end()));
  }
  ok(MatCreate(comm, out.put()));
  ok(MatSetSizes(out, n, n, n, n));
  ok(MatSetType(out, type));
  ok(MatSetFromOptions(out));
  ok(MatXAIJSetPreallocation(out, 1, stored.data(), nullptr, above.data(), nullptr));
  if (std::string(type).find("sbaij") != std::string::npos)
    ok(MatSetOption(out, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  set_values(out, A);
  return out;
}

Matrix constant_grid(PetscInt nx, PetscInt ny, PetscInt nz) {
  const PetscInt n = nx * ny * nz;
  std::vector<PetscInt> begin{0}, column;
  std::vector<PetscScalar> value;
  const auto put = [&](bool there, PetscInt j, PetscScalar a) {
    if (there) column.push_back(j), value.push_back(a);
  };
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt x = i % nx, y = i / nx % ny, z = i / nx / ny;
    put(z > 0, i - nx * ny, -1), put(y > 0, i - nx, -1), put(x > 0, i - 1, -1);
    put(true, i, 7);
    put(x + 1 < nx, i + 1, -1), put(y + 1 < ny, i + nx, -1), put(z + 1 < nz, i + nx * ny, -1);
    begin.push_back(PetscInt(column.size()));
  }
  Matrix lent, out;
  ok(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, begin.data(), column.data(), value.data(), lent.put()));
  ok(MatConvert(lent, backend.mat, MAT_INITIAL_MATRIX, out.put()));
  return out;
}

void set_constant_null_space(Mat A) {
  MatNullSpace constant;
  ok(MatNullSpaceCreate(PetscObjectComm(PetscObject(A)), PETSC_TRUE, 0, nullptr, &constant));
  ok(MatSetNullSpace(A, constant));
  ok(MatNullSpaceDestroy(&constant));
}

void set_values(Mat A, const reference::Matrix &values) {
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> row;
  for (PetscInt i = 0; i < values.size(); ++i) {
    columns.clear(), row.clear();
    for (const auto &[j, a] : values.row[i]) columns.push_back(j), row.push_back(a);
    ok(MatSetValues(A, 1, &i, PetscInt(row.size()), columns.data(), row.data(), INSERT_VALUES));
  }
  ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

Vector vector_of(const reference::Vector &values, MPI_Comm comm, VecType type) {
  Vector out;
  PetscScalar *x;
  ok(VecCreate(comm, out.put()));
  ok(VecSetSizes(out, PetscInt(values.size()), PETSC_DETERMINE));
  ok(VecSetType(out, type));
  ok(VecSetFromOptions(out));
  ok(VecGetArrayWrite(out, &x));
  std::copy(values.begin(), values.end(), x);
  ok(VecRestoreArrayWrite(out, &x));
  return out;
}

static std::size_t stored(Mat A, PetscInt lda) {
  PetscInt n, columns;
  ok(MatGetSize(A, &n, &columns));
  return std::size_t(std::max(n, lda) * columns);
}

Matrix dense_of(PetscInt n, PetscInt columns, const reference::Vector &values, PetscInt lda) {
  Matrix out;
  PetscScalar *a;
  ok(MatCreate(PETSC_COMM_SELF, out.put()));
  ok(MatSetSizes(out, n, columns, n, columns));
  ok(MatSetType(out, backend.dense));
  if (lda) ok(MatDenseSetLDA(out, lda));
  ok(MatSetUp(out));
  ok(MatDenseGetArrayWrite(out, &a));
  if (values.empty())
    std::fill_n(a, stored(out, lda), 0.0);
  else
    std::copy(values.begin(), values.end(), a);
  ok(MatDenseRestoreArrayWrite(out, &a));
  ok(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
  return out;
}

reference::Vector values_of_dense(Mat A, PetscInt lda) {
  const PetscScalar *a;
  ok(MatDenseGetArrayRead(A, &a));
  reference::Vector out(a, a + stored(A, lda));
  ok(MatDenseRestoreArrayRead(A, &a));
  return out;
}

Vector like(Vec other, double value) {
  Vector out;
  ok(VecDuplicate(other, out.put()));
  ok(VecSet(out, value));
  return out;
}

reference::Vector values_of(Vec x) {
  const PetscScalar *a;
  PetscInt n;
  ok(VecGetLocalSize(x, &n));
  ok(VecGetArrayRead(x, &a));
  reference::Vector out(a, a + n);
  ok(VecRestoreArrayRead(x, &a));
  return out;
}

std::string grid_option(const reference::Problem &problem) {
  return "-pc_rrb_grid " + std::to_string(problem.grid.nx) + "," + std::to_string(problem.grid.ny) + " ";
}

void set_null_spaces(Mat A, const reference::Problem &problem) {
  using Space = Handle<MatNullSpace, MatNullSpaceDestroy>;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  if (!problem.v.empty()) {
    const Vector v = vector_of(problem.v, comm);
    const Vec basis = v;
    Space near;
    ok(VecNormalize(v, nullptr));
    ok(MatNullSpaceCreate(comm, PETSC_FALSE, 1, &basis, near.put()));
    ok(MatSetNearNullSpace(A, near));
  }
  if (problem.null_space.empty()) return;
  std::vector<Vector> vectors;
  std::vector<Vec> basis;
  for (const reference::Vector &w : problem.null_space) {
    vectors.push_back(vector_of(w, comm));
    ok(VecNormalize(vectors.back(), nullptr));
    basis.push_back(vectors.back());
  }
  Space space;
  ok(MatNullSpaceCreate(comm, PETSC_FALSE, PetscInt(basis.size()), basis.data(), space.put()));
  ok(MatSetNullSpace(A, space));
}

Matrix matrix_of(const reference::Problem &problem) {
  Matrix A = matrix_of(problem.A);
  set_null_spaces(A, problem);
  return A;
}

// What holds where a test says nothing else: the papers' cycle and precision, which the tests know by numbers, and the transport of the
// command line.
static const char *const cycle = "-pc_rrb_cycle", *const red_nodes = "-pc_rrb_red_nodes",
                         *const precision = "-pc_rrb_precision", *const transport = "-pc_rrb_transport",
                         *const transport_of_multigrid = "-pc_gridmg_transport";

Options::Options(const std::string &text) {
  static int count = 0;
  char chosen[16] = "auto";
  prefix_ = "test" + std::to_string(++count) + "_";
  ok(PetscOptionsGetString(nullptr, nullptr, transport, chosen, sizeof chosen, nullptr));
  ok(PetscOptionsPrefixPush(nullptr, prefix()));
  const std::string common = std::string(cycle) + " v " + red_nodes + " plain " + precision + " double " + transport +
                             " " + chosen + " " + transport_of_multigrid + " " + chosen +
                             " "; // a later option takes its place
  ok(PetscOptionsInsertString(nullptr, (common + text).c_str()));
  ok(PetscOptionsPrefixPop(nullptr));
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word.size() > 1 && word[0] == '-' && std::isalpha(word[1])) names_.insert(prefix_ + word.substr(1));
}

Options::~Options() {
  for (const std::string &name : names_) {
    PetscBool used = PETSC_TRUE;
    (void)PetscOptionsUsed(nullptr, name.c_str(), &used);
    (void)PetscOptionsClearValue(nullptr, ("-" + name).c_str());
    if (!used && !std::uncaught_exceptions()) ADD_FAILURE() << "the option -" << name << " was never used";
  }
  for (const char *name : {cycle, red_nodes, precision, transport, transport_of_multigrid})
    if (!prefix_.empty()) (void)PetscOptionsClearValue(nullptr, ("-" + prefix_ + (name + 1)).c_str());
}

Solver ksp_of(Mat A, const std::string &options, Mat P) {
  Solver ksp(options);
  ok(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, P ? P : A));
  ok(KSPSetFromOptions(ksp));
  return ksp;
}

Preconditioner pc_of(Mat P, const std::string &options) {
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCRRB));
  ok(PCSetFromOptions(pc));
  return pc;
}

PC pc_of(KSP ksp) {
  PC pc;
  ok(KSPGetPC(ksp, &pc));
  return pc;
}

reference::Vector applied(PC pc, const reference::Vector &r) {
  const Vector x = vector_of(r), y = like(x, std::nan(""));
  ok(VecLockReadPush(x));
  ok(PCApply(pc, x, y));
  ok(VecLockReadPop(x));
  EXPECT_EQ(values_of(x), r) << "PCApply() changed its argument";
  return values_of(y);
}

template <class Show> static std::string shown(const Show &show) {
  Handle<PetscViewer, PetscViewerDestroy> viewer;
  char *buffer = nullptr;
  std::size_t size = 0;
  std::FILE *file = open_memstream(&buffer, &size);
  ok(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, viewer.put()));
  ok(show(viewer));
  viewer = {}; // which would flush a file that is closed
  std::fclose(file);
  const std::string text(buffer, size);
  std::free(buffer);
  return text;
}

std::string view(PC pc) {
  return shown([&](PetscViewer viewer) { return PCView(pc, viewer); });
}
std::string view(KSP ksp) {
  return shown([&](PetscViewer viewer) { return KSPView(ksp, viewer); });
}

Solve solve(KSP ksp, const reference::Vector &b, const reference::Vector &x0) {
  Solve out;
  PetscInt iterations;
  const Vector rhs = vector_of(b), x = x0.empty() ? like(rhs) : vector_of(x0);
  if (!x0.empty()) ok(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  ok(KSPSolve(ksp, rhs, x));
  ok(KSPGetIterationNumber(ksp, &iterations));
  ok(KSPGetConvergedReason(ksp, &out.reason));
  out.iterations = int(iterations);
  out.x = values_of(x);
  return out;
}

Solve solve(const reference::Problem &problem, const std::string &options) {
  const Matrix A = matrix_of(problem);
  return solve(ksp_of(A, papers + options), problem.b);
}

double largest_difference(const reference::Vector &x, const reference::Vector &y) {
  double difference = x.size() == y.size() ? 0 : INFINITY, size = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    difference = std::max(difference, std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY);
    size = std::max(size, std::abs(y[i]));
  }
  return size > 0 ? difference / size : difference;
}

double relative_residual(const reference::Matrix &A, const reference::Vector &b, const reference::Vector &x) {
  reference::Vector r = A.multiply(x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] -= b[i];
  return std::sqrt(reference::dot(r, r) / reference::dot(b, b));
}
double relative_residual(const reference::Problem &problem, const reference::Vector &x) {
  return relative_residual(problem.A, problem.b, x);
}

Threads::Threads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
Threads::~Threads() { omp_set_num_threads(before_); }

} // namespace petsctest
