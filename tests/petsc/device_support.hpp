// What the tests of a device share: matrices that are assembled there, the host's for comparison, what -info says.
#pragma once

#include "support.hpp"

#include <sstream>

namespace petsctest {

// As long as it lives, matrices and vectors are the host's.
class OnTheHost {
public:
  OnTheHost() : before_(std::exchange(backend, Backend{})) {}
  ~OnTheHost() { backend = before_; }

private:
  Backend before_;
};

inline reference::Vector entries_of(const reference::Matrix &A) {
  reference::Vector values;
  for (const auto &row : A.row)
    for (const auto &entry : row) values.push_back(entry.second);
  return values;
}

// From a device's vector, so that the values never are on the host.
inline void assemble_on_device(Mat A, const reference::Vector &values) {
  const Vector v = vector_of(values);
  const PetscScalar *a;
  PetscMemType where;
  ok(VecGetArrayReadAndMemType(v, &a, &where));
  EXPECT_TRUE(PetscMemTypeDevice(where));
  ok(MatSetValuesCOO(A, a, INSERT_VALUES));
  ok(VecRestoreArrayReadAndMemType(v, &a));
}

inline Matrix assembled_on_device(const reference::Matrix &values) {
  std::vector<PetscInt> rows, columns;
  for (PetscInt i = 0; i < values.size(); ++i)
    for (const auto &entry : values.row[i]) rows.push_back(i), columns.push_back(entry.first);
  const PetscInt n = values.size();
  Matrix A;
  ok(MatCreate(PETSC_COMM_SELF, A.put()));
  ok(MatSetSizes(A, n, n, n, n));
  ok(MatSetType(A, backend.mat));
  ok(MatSetPreallocationCOO(A, PetscCount(rows.size()), rows.data(), columns.data()));
  assemble_on_device(A, entries_of(values));
  return A;
}

// Not into a file of PETSc's: PETSc 3.18 forgets that it has closed it, and cannot be finalized a second time.
inline std::string info_of(const std::function<void()> &work) {
  ok(PetscInfoSetFile(nullptr, nullptr));
  ok(PetscInfoAllow(PETSC_TRUE));
  testing::internal::CaptureStdout();
  try {
    work();
  } catch (...) {
    (void)testing::internal::GetCapturedStdout();
    (void)PetscInfoAllow(PETSC_FALSE);
    throw;
  }
  ok(PetscInfoAllow(PETSC_FALSE));
  return testing::internal::GetCapturedStdout();
}

inline bool says_that_it_copies(const std::string &info) {
  std::istringstream lines(info);
  const auto has = [](const std::string &line, const char *word) { return line.find(word) != std::string::npos; };
  for (std::string line; std::getline(lines, line);)
    if ((has(line, "RRB") || has(line, "NEUMANN") || has(line, "MIC") || has(line, "BLOCKRELAX")) &&
        has(line, "host") && has(line, "device") && has(line, "cop"))
      return true;
  return false;
}

} // namespace petsctest
