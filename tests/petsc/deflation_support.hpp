// What the tests of deflation share: matrices with spaces, as options and as dense references.
#pragma once

#include "reference/deflation_reference.hpp"
#include "reference/two_phase.hpp"
#include "support.hpp"

#include <ostream>

namespace petsctest {

struct Deflated {
  std::string name;
  reference::Matrix A;
  reference::Labels labels;
  std::string options;   // which make these subdomains
  reference::Vector phi; // or empty
};

inline std::ostream &operator<<(std::ostream &o, const Deflated &d) { return o << d.name; }

std::vector<Deflated> deflated_problems();

// With CG, Jacobi, the subdomains and more; not solved with yet.
Solver solver_of(Mat A, const Deflated &problem, const std::string &more, Vec phi = nullptr);

reference::Vector jacobi(const reference::Matrix &A, const reference::Vector &r);
// Random, and what identity rows say it is: 0.
reference::Vector random_guess(const reference::Matrix &A, unsigned seed);
PC inner_of(KSP ksp);

} // namespace petsctest
