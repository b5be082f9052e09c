// Every type with every choice that it has, each on a matrix that it is for: what the parts go through that do not look
// for new problems, but for what may go wrong in known ones.
#pragma once

#include "support.hpp"

#include <string>
#include <vector>

namespace longtest {

enum class Rows {
  five,     // 2D, coefficients vary
  constant, // 2D, they do not
  nine,     // 2D, with corners
  around,   // 2D, periodic in x
  neumann,  // 2D, singular, with its null space
  known,    // 2D, one side's rows are those of the identity, and their columns are kept
  near,     // 2D, scaled, with its near null vector
  phases,   // 2D, two materials
  strong,   // 2D, one direction couples 100 times as strongly as the other
  lines,    // 2D as `five`, without a DMDA
  seven,    // 3D, coefficients vary
  cube,     // 3D, they do not
  loose     // on no grid
};

struct Case {
  const char *name;
  Rows rows;
  const char *options;
  enum {
    none = 0,
    space = 1,
    other_amat = 2,
    level_set = 4,
    guess = 8
  };
  int flags = none; // a deflation space, an Amat that is not Pmat, a level set is given, the guess is not zero
};

const std::vector<Case> &cases();
const Case *find_case(const std::string &name);

// The system of a case over the ranks of PETSC_COMM_WORLD; `size` multiplies each side of the grid.
class System {
public:
  System(const Case &, int size = 1);
  void set_values(int version); // others for each version
  Solver solver() const;        // with the case's options, not set up
  double residual(Vec x) const; // relative, of the system that was given

  const Case &what;
  Matrix A, other; // other: of the same values, where Pmat is not Amat
  Vector b;

private:
  void attach_spaces();
  double coefficient(int version, const int p[3], const int q[3]) const;
  double scaling(const int p[3]) const;
  void set_row(Mat to, int version, const int p[3]) const;
  void number_rows();
  std::size_t natural(const int p[3]) const { return (std::size_t(p[2]) * n_[1] + p[1]) * n_[0] + p[0]; }
  PetscInt number(const int p[3]) const { return numbers_[natural(p)]; }
  bool inside(int p[3]) const;

  int n_[3], dimensions_;
  bool around_ = false;
  Array da_;
  std::vector<PetscInt> numbers_;
};

} // namespace longtest
