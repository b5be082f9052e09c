// What every test through PETSc needs: handles that destroy themselves, the backend's Mat and Vec types, a solver with
// options of its own, and the error that PETSc raised last.
#pragma once

#include "petsc/compat.h"
#include "petscrrb.h"
#include "reference/problems.hpp"

#include <petscdmda.h>
#include <petscdmshell.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace petsctest {

// The types that all matrices and vectors of the tests get, chosen by -backend host|cuda.
struct Backend {
  MatType mat = MATAIJ, mpi_mat = MATMPIAIJ, dense = MATDENSE;
  VecType vec = VECSTANDARD;
  bool device = false;
};
extern Backend backend;

#define SKIP_ON_DEVICE(reason)                                                                                         \
  if (petsctest::backend.device) GTEST_SKIP() << "-backend cuda: " << reason
#define SKIP_ON_HOST()                                                                                                 \
  if (!petsctest::backend.device) GTEST_SKIP() << "a test of the device: -backend cuda"

// Where PETSc raised an error last: its code and its own words.
struct Raised {
  PetscErrorCode code = PETSC_SUCCESS;
  std::string message;
};
extern Raised raised;

extern long allocated; // how often C++ memory was, so far

void start_petsc(); // PetscInitialize() and the library's types
void stop_petsc();

void ok(PetscErrorCode code);      // throws what PETSc said, which fails the test
bool refused(PetscErrorCode code); // whether it failed; `raised` says how

// A parameter of tests that is large: GoogleTest copies each several times for each test, in every process that starts.
template <class T> using Shared = std::shared_ptr<const T>;
template <class T> std::vector<Shared<T>> shared(std::vector<T> all) {
  std::vector<Shared<T>> out;
  for (T &one : all) out.push_back(std::make_shared<const T>(std::move(one)));
  return out;
}

template <class T, PetscErrorCode (*destroy)(T *)> class Handle {
public:
  Handle() = default;
  explicit Handle(T object) : object_(object) {}
  Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_) (void)destroy(&object_);
  }
  operator T() const { return object_; }
  operator PetscObject() const { return reinterpret_cast<PetscObject>(object_); }
  T *put() { // for PETSc to write to
    if (object_) ok(destroy(&object_));
    return &object_;
  }

private:
  T object_ = nullptr;
};

// Options under a prefix of their own, which no other test sees; a failure when they go and one of them was never used.
class Options {
public:
  Options() = default;
  explicit Options(const std::string &text);
  Options(Options &&other) noexcept : prefix_(std::move(other.prefix_)), names_(std::exchange(other.names_, {})) {}
  Options &operator=(Options &&other) noexcept {
    std::swap(prefix_, other.prefix_);
    std::swap(names_, other.names_);
    return *this;
  }
  ~Options();
  const char *prefix() const { return prefix_.c_str(); }

private:
  std::string prefix_;
  std::set<std::string> names_;
};

template <class T, PetscErrorCode (*destroy)(T *)> class WithOptions : public Handle<T, destroy> {
public:
  WithOptions() = default;
  explicit WithOptions(const std::string &text) : options_(text) {}
  const char *prefix() const { return options_.prefix(); }

private:
  Options options_;
};

using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;
using Preconditioner = WithOptions<PC, PCDestroy>;
using Solver = WithOptions<KSP, KSPDestroy>;
using Array = Handle<DM, DMDestroy>;

// Entries that the reference stores are stored, zeros too.
Matrix matrix_of(const reference::Matrix &A, MatType type = backend.mat, MPI_Comm comm = PETSC_COMM_SELF);
void set_constant_null_space(Mat A);
void set_values(Mat A, const reference::Matrix &values); // over the old ones, of the same pattern
Vector vector_of(const reference::Vector &values, MPI_Comm comm = PETSC_COMM_SELF, VecType type = backend.vec);
// Columns that lie `lda` apart, with what `values` has between them; zeros where there are no values.
Matrix dense_of(PetscInt n, PetscInt columns, const reference::Vector &values = {}, PetscInt lda = 0);
reference::Vector values_of_dense(Mat A, PetscInt lda = 0);
Vector like(Vec other, double value = 0);
reference::Vector values_of(Vec x);

std::string grid_option(const reference::Problem &problem);     // where the matrix of a small grid fits several
void set_null_spaces(Mat A, const reference::Problem &problem); // the null space and the near-null-space vector
Matrix matrix_of(const reference::Problem &problem);            // with them

Matrix constant_grid(PetscInt nx, PetscInt ny, PetscInt nz); // 7 points: 7 on the diagonal, -1 beside it; however large
Solver ksp_of(Mat A, const std::string &options, Mat P = nullptr);
Preconditioner pc_of(Mat P, const std::string &options = ""); // of type rrb, not set up
PC pc_of(KSP ksp);
reference::Vector applied(PC pc, const reference::Vector &r);
std::string view(PC pc);
std::string view(KSP ksp);

struct Solve {
  int iterations = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  reference::Vector x;
};
Solve solve(KSP ksp, const reference::Vector &b, const reference::Vector &x0 = {}); // from x0, or from zero

// With the papers' stopping test: CG, natural norm, rtol 1e-6, from zero; unless `options` says otherwise.
extern const char papers[];
Solve solve(const reference::Problem &problem, const std::string &options = "");

double largest_difference(const reference::Vector &x, const reference::Vector &y); // relative to the largest of y
double relative_residual(const reference::Matrix &A, const reference::Vector &b, const reference::Vector &x);
double relative_residual(const reference::Problem &problem, const reference::Vector &x);

// Bytes of PetscMalloc() that every further call of `use` leaves: what PETSc's own pools and tables grow by, in one call
// or another, is not lost.
template <class Use> PetscLogDouble lost_at_each(const Use &use) {
  PetscLogDouble used[3];
  for (PetscLogDouble &now : used) {
    use();
    ok(PetscMallocGetCurrentUsage(&now));
  }
  return std::min(used[1] - used[0], used[2] - used[1]);
}

class Threads { // as many as asked for, as long as this lives
public:
  explicit Threads(int threads);
  ~Threads();

private:
  int before_;
};

} // namespace petsctest
