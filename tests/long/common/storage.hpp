// A problem as PETSc's objects: how its rows are numbered and distributed, and in which type of matrix.
#pragma once

#include "problem.hpp"
#include "support.hpp"

namespace longtest {

// Which row of PETSc's an unknown is: the same, a DMDA's, or any.
class Numbering {
public:
  Numbering() = default;
  Numbering(Random &random, const Problem &problem, std::string &words);
  DM array() const { return array_; }
  PetscInt place(int unknown) const { return place_[unknown]; }
  PetscInt rows() const { return rows_; }         // of this rank
  PetscInt columns() const { return columns_; }   // of this rank
  bool natural_or_array() const { return !any_; } // what this library's types can use
  bool whole_lines() const { return whole_lines_; }

  Vector vector(const reference::Vector &values, Mat like, bool left) const;
  reference::Vector values(Vec x) const; // of all ranks, by unknowns

private:
  void use_array(Random &random, const Problem &problem);
  Array array_;
  std::vector<PetscInt> place_; // empty sizes stay empty
  PetscInt rows_ = 0, columns_ = 0;
  bool any_ = false, whole_lines_ = true;
};

struct Storage {
  std::string type; // PETSc's name, or "shell"
  bool from_array = false, bound_to_cpu = false;
};
Storage random_storage(Random &random, const Problem &problem, std::string &words);

Matrix matrix_of(const Problem &problem, const Numbering &numbering, const Storage &storage);
void set_values(Mat A, const Problem &problem, const Numbering &numbering);
void attach_spaces(Mat A, const Problem &problem, const Numbering &numbering);

} // namespace longtest
