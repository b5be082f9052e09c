// The state of one random use, between its steps.
#pragma once

#include "options.hpp"
#include "oracle.hpp"
#include "use.hpp"

#include <map>

namespace longtest {

bool has_nan(const reference::Vector &v); // or Inf

struct Use {
  explicit Use(const Wish &w) : wish(w), random(w.seed, w.number) {}

  const Wish &wish;
  Random random;
  Problem problem;
  Numbering numbering;
  Storage storage;
  Matrix A, P;
  Solver ksp;
  std::string method, fault, story;
  std::vector<std::string> names; // of options
  bool legal = true;              // no option has a value that may be refused
  bool with_array = false;        // the KSP has the DMDA
  bool differ = false;            // A and P
  bool stale = false;             // the preconditioner may be of other values
  bool has_to_work = false;       // the library must not refuse it
  bool has_to_converge = false;   // nor find it indefinite
  bool halves = true;             // M is one product, L D L^T
  bool alone = false;             // each rank has a solver of its own, whose error is its own
  bool leaves = false;            // memory, as PETSc does where an error ends a solve
  int converged = 0, diverged = 0;

  void run();
  void clean_up();
  void say(const std::string &what);
  void take_step(int which); // -1: any

private:
  const char *krylov();
  std::string ours(const std::string &at);
  std::string tests(const std::string &at);
  std::string nested();
  std::string choose_options();
  void put_options(const std::string &text);
  void expect(const std::string &options);
  void prepare();
  void make_matrices();
  void make_solver();

  // use_steps.cxx
  void solve(bool transposed);
  void solve_again();
  void solve_transposed();
  void solve_columns();
  void new_values();
  void zero_rows();
  void new_matrix();
  void new_size();
  void reset();
  void build_inside();
  void as_stored();
  void changed();
  void apply_to_columns(PC pc, const reference::Vector &u, const reference::Vector &alone);
  // use_outer.cxx
  bool has_outer() const;
  void newton();
  void time_steps();
  // use_setters.cxx
  void setters();
  void set_grid(PC pc);
  void set_deflation();
  void set_space();
  void other_tests();
  void other_type();
  void view();
  void apply();
  void apply_halves();
  void error_inside();
  void second_solver();
  void reuse();
};

} // namespace longtest
