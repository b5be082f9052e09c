// What the tests of the RRB-solver share: solves with their residual history, problems of each kind, and the reference.
#pragma once

#include "support.hpp"

#include "reference/schur_cg_reference.hpp"
#include "unit/reference_support.hpp"

namespace petsctest {

// With the papers' stopping test, from zero; and the method that it is compared with.
extern const char rrb[];
extern const char cg_and_rrb[];

struct Recorded : Solve {
  reference::Vector history;
};
Recorded recorded(KSP ksp, const reference::Vector &b, const reference::Vector &x0 = {});
Recorded recorded(const reference::Problem &problem, const std::string &options, const reference::Vector &x0 = {});

// That solves read a byte for each row of this matrix, but not where values vary, nor at the next change after that; and are those of
// KSPCG with `cg` all the time.
void expect_few_kinds_read(Mat constant, const std::string &options, const std::string &cg, bool waits);

// Five-point matrices whose red nodes do not couple: what the solver takes in its own form.
struct Named {
  std::string name;
  reference::Problem problem;
};
std::vector<Named> five_points(); // symmetric
std::vector<Named> other_forms(); // nine points, odd rings, rows of zeros
std::ostream &operator<<(std::ostream &o, const Named &n);

// A guess with which the red rows hold, random on the black nodes.
reference::Vector guess_with_red_rows(const reference::Problem &problem);

// Random, but where a row knows its value by itself.
reference::Vector guess_with_known_rows(const reference::Problem &problem);

// The reference RRB-solver, with a factor of these options.
reference::CGResult solve_slowly(const reference::Problem &problem, const reference::Options &options,
                                 reference::Norm norm = reference::Norm::natural, const reference::Vector &x0 = {});

// Relative to the values, down to 1e-13 of the first one. After ten iterations the method itself has made much of
// rounding, and only their number is compared.
void expect_near(const reference::Vector &history, const reference::Vector &expected, double relative);

} // namespace petsctest
