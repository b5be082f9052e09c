// One matrix over the ranks of PETSC_COMM_WORLD, in any distribution: mpiexec -n 3 build/tests/petsc. On one rank, too.
#pragma once

#include "support.hpp"
#include "unit/neumann_support.hpp"

#include <functional>
#include <vector>

namespace petsctest::distributed {

int rank();
int ranks();

// The matrix, and the number in natural order of each row that this rank has.
struct Distributed {
  Matrix A;
  std::vector<int> natural;
  Array da; // where it has one
};

struct Partition {
  int x, y, z;
};
// All with as many parts as there are ranks, and no more than points.
std::vector<Partition> partitions(const Shape &);

Distributed on_dmda(const reference::Matrix &, const Shape &, const Partition &);
// rows[r] rows on rank r, numbered as the matrix is
Distributed by_rows(const reference::Matrix &, const std::vector<int> &rows, MatType type = backend.mpi_mat);
std::vector<int> uneven_rows(int n);        // all have some, where there are enough
std::vector<int> rows_without_first(int n); // but for one rank alone
// Each of-th of some cases, from a certain one on: pairs of cases instead of all products.
struct Turn {
  int from = 0, of = 1;
};
// Every distribution that there is for it, the DMDA's first; `words` says which
void each_distribution(const reference::Matrix &, const Shape &,
                       const std::function<void(const Distributed &, const std::string &)> &, Turn turn = {});
void set_new_values(const Distributed &, const reference::Matrix &); // of the same pattern

reference::Vector own_part(const Distributed &, const reference::Vector &all);
Vector vector_on(const Distributed &, const reference::Vector &all);
// What this rank has of M^-1 r
reference::Vector applied_on(PC pc, const Distributed &, const reference::Vector &r,
                             PetscErrorCode (*apply)(PC, Vec, Vec) = PCApply);
Solve solve_on(KSP ksp, const Distributed &, const reference::Vector &b, const reference::Vector &x0 = {});
std::string view_on_first(PC pc); // empty on the other ranks
std::string view_on_first(KSP ksp);
double largest_over_ranks(double value);

} // namespace petsctest::distributed
