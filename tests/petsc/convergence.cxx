// What applications bring: each kind of problem converges under CG in the known number of iterations, to its solution.
#include "support.hpp"
#include "unit/reference_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

struct Known {
  std::string name;
  std::function<Problem()> problem;
  int twelve, standard; // iterations with 12 levels, and with the default; 0: not looked at
  bool rough = false;   // 88 to 103 have been seen
  // How far counts may be apart: rounding moves slow ones by some; a device sums the dot products in another order, even
  // where M is the host's.
  int slack(int known) const { return 1 + known / (rough ? 9 : backend.device ? 12 : 25); }
};

std::ostream &operator<<(std::ostream &o, const Known &k) { return o << k.name; }

Problem scaled_poisson() { // with signs
  Problem plain = reference::poisson(63);
  reference::Vector D = reference::random_vector(63 * 63, 5);
  for (std::size_t i = 0; i < D.size(); ++i) D[i] = std::pow(10.0, 2 * D[i]) * (i % 3 ? 1 : -1);
  return reference::scaled(plain, D);
}

Problem singular_jumps() {
  Problem problem = reference::random_jumps({63, 63}, 1e6, 4, true);
  problem.null_space.push_back(reference::Vector(63 * 63, 1.0));
  set_random_rhs(problem);
  return problem;
}

Problem dirichlet_rows(bool with_columns) {
  return reference::identity_rows(
      reference::random_faces({65, 60}, 10),
      [](int i, int j) { return i == 0 || i == 64 || j == 0 || j == 59 || (i > 30 && i < 40 && j == 30); },
      with_columns);
}

std::vector<Known> problems() {
  using namespace reference;
  return {
      {"canal", [] { return straight_canal(127, 127, 8); }, 28, 9},
      {"narrow_canal", [] { return straight_canal(64, 64, 9); }, 47, 36},
      {"wet_canal", [] { return straight_canal(64, 64, 9, 1e-3); }, 63, 53},
      {"diagonal_canal", [] { return diagonal_canal(128); }, 14, 11},
      {"bilinear_elements", [] { return bilinear_elements(63, 63, 5, 1); }, 21, 12},
      {"bilinear_elements_the_other_way", [] { return bilinear_elements(127, 90, 1, 5); }, 25, 15},
      {"nine_points",
       [] {
         return random_nine_points({101, 99}, 0);
       },
       20, 20},
      {"positive_couplings",
       [] {
         return random_nine_points({64, 63}, 0.3);
       },
       33, 33},
      {"scaled", scaled_poisson, 14, 8},
      {"periodic_64",
       [] {
         return periodic({64, 64, true, false}, 0);
       },
       15, 8},
      {"periodic_65",
       [] {
         return periodic({65, 65, true, false}, 0);
       },
       28, 15},
      {"periodic_129",
       [] {
         return periodic({129, 129, true, false}, 0);
       },
       39, 23},
      {"torus",
       [] {
         return periodic({64, 64, true, true}, 0);
       },
       16, 7},
      {"odd_torus",
       [] {
         return periodic({64, 65, true, true}, 0);
       },
       29, 14},
      {"anisotropic_in_x", [] { return anisotropic(63, 63, 1000, 1); }, 152, 107},
      {"anisotropic_in_y", [] { return anisotropic(63, 63, 1, 1000); }, 152, 109},
      {"anisotropic_255", [] { return anisotropic(255, 255, 1000, 1); }, 206, 169},
      {"jumps_of_a_million",
       [] {
         return random_jumps({127, 127}, 1e6, 4);
       },
       172, 12},
      {"jumps_from_cell_to_cell",
       [] {
         return random_jumps({63, 63}, 1e3, 1);
       },
       114, 72},
      {"jumps_from_face_to_face",
       [] {
         return random_faces({127, 127}, 1e4);
       },
       94, 90},
      {"neumann", [] { return neumann(127, 127); }, 23, 9},
      {"neumann_with_jumps", singular_jumps, 95, 8, true},
      {"two_ponds", [] { return two_ponds(90, 91); }, 20, 9},
      {"isolated_cells", [] { return isolated_cells(60, 61); }, 18, 8},
      {"dirichlet_rows", [] { return dirichlet_rows(false); }, 14, 11},
      {"dirichlet_rows_with_columns", [] { return dirichlet_rows(true); }, 14, 11},
      {"one_line",
       [] {
         return random_faces({500, 1}, 100);
       },
       1, 1},
      {"one_column",
       [] {
         return random_faces({1, 500}, 100);
       },
       1, 1},
  };
}

// |e|_A / |x|_A: what CG makes small, and no null vector counts in it.
double energy_error(const Problem &problem, const reference::Vector &x, const reference::Vector &exact) {
  reference::Vector e = x;
  for (std::size_t i = 0; i < e.size(); ++i) e[i] -= exact[i];
  return std::sqrt(reference::dot(e, problem.A.multiply(e)) / reference::dot(exact, problem.A.multiply(exact)));
}

class Every : public testing::TestWithParam<Known> {};

void expect_count(const Problem &problem, const std::string &options, int known, int slack) {
  const Solve result = solve(problem, grid_option(problem) + options);
  EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL);
  EXPECT_NEAR(result.iterations, known, slack) << options;
}

TEST_P(Every, ConvergesAsKnown) {
  const Known &known = GetParam();
  const Problem problem = known.problem();
  expect_count(problem, "-pc_rrb_levels 12", known.twelve, known.slack(known.twelve));
  if (!backend.device)
    expect_count(problem, "", known.standard, known.slack(known.standard)); // a device's last block may be larger
  expect_count(problem, "-pc_rrb_levels 12 -pc_rrb_storage naive", known.twelve, known.slack(known.twelve));
}

// How far two counts may be apart by rounding. On a device not even PETSc's products and sums are the same in each run.
int slack(int iterations) {
  if (backend.device) return std::max(1, iterations / 8);
  return iterations < 90 ? 1 : iterations / 12;
}

TEST_P(Every, TakesNoMoreIterationsWithAmli) {
  const Problem problem = GetParam().problem();
  for (const std::string levels : {"-pc_rrb_levels 6 ", "-pc_rrb_levels 8 ", "-pc_rrb_levels 12 "})
    for (const std::string norm : {"", "-ksp_norm_type unpreconditioned "}) {
      const std::string options = grid_option(problem) + levels + norm;
      const Solve v = solve(problem, options), amli = solve(problem, options + "-pc_rrb_cycle amli");
      EXPECT_EQ(amli.reason, v.reason) << options;
      EXPECT_LE(amli.iterations, v.iterations + (backend.device ? slack(v.iterations) : 1)) << options;
    }
}

// From a known solution, which is 0 where the matrix has identity rows.
TEST_P(Every, ConvergesToTheSolution) {
  Problem problem = GetParam().problem();
  reference::Vector exact = reference::random_vector(problem.A.size(), 21);
  for (int p = 0; p < problem.A.size(); ++p) {
    bool coupled = false;
    for (const auto &[q, a] : problem.A.row[p]) coupled |= q != p && a != 0;
    if (!coupled) exact[p] = 0;
  }
  problem.b = problem.A.multiply(exact);
  for (const char *cycle : {"v", "amli"}) {
    const Solve result =
        solve(problem, grid_option(problem) + "-ksp_rtol 1e-10 -pc_rrb_levels 8 -pc_rrb_cycle " + cycle);
    EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << cycle;
    EXPECT_LT(energy_error(problem, result.x, exact), 1e-9) << cycle;
  }
}

// Single precision of the factor, or of its coarser grids, costs at most one more iteration, and nothing of the true residual. Where
// coefficients jump by 1e6 rounding alone moves the count: in double, lumping that is less by 1e-11 takes 95 instead of 100 iterations.
TEST_P(Every, InSinglePrecisionIsAsGood) {
  const Problem problem = GetParam().problem();
  const std::string options = grid_option(problem) + "-ksp_norm_type unpreconditioned -pc_rrb_levels 12 ";
  const Solve exact = solve(problem, options);
  for (const char *precision : {"single", "mixed"}) {
    const Solve done = solve(problem, options + "-pc_rrb_precision " + precision);
    EXPECT_EQ(done.reason, exact.reason) << precision;
    EXPECT_LE(done.iterations, exact.iterations + slack(exact.iterations)) << precision;
    EXPECT_LT(relative_residual(problem, done.x), 1.1 * std::max(1e-6, relative_residual(problem, exact.x)))
        << precision;
  }
}

// amli falls back to v where it would hurt.
TEST_P(Every, InTheAMLICycleIsNotSlower) {
  const Problem problem = GetParam().problem();
  const std::string options = grid_option(problem) + "-ksp_norm_type unpreconditioned -pc_rrb_levels 12 ";
  const Solve v = solve(problem, options + "-pc_rrb_cycle v"), amli = solve(problem, options + "-pc_rrb_cycle amli");
  EXPECT_EQ(amli.reason, v.reason);
  EXPECT_LE(amli.iterations, v.iterations + (backend.device ? slack(v.iterations) : 1));
  EXPECT_LT(relative_residual(problem, amli.x), 1.1 * std::max(1e-6, relative_residual(problem, v.x)));
}

INSTANTIATE_TEST_SUITE_P(Problem, Every, testing::ValuesIn(problems()),
                         [](const auto &info) { return info.param.name; });

// A singular matrix without its null space: M is definite, so that nothing of a right-hand side that has no solution is hidden from a
// Krylov method.
TEST(NoSolution, IsSeen) {
  const std::string rrb = "-pc_type rrb -pc_rrb_levels ", gridmg = "-pc_type gridmg -pc_gridmg_precision ";
  for (const auto &[nx, ny] : {std::pair{2, 1}, {1, 2}, {3, 2}, {6, 3}, {9, 8}}) {
    Problem problem = reference::neumann(nx, ny);
    problem.b = reference::random_vector(nx * ny, 3);
    const Matrix A = matrix_of(problem.A);
    const reference::Vector ones(std::size_t(nx * ny), 1.0);
    for (const std::string &options : {rrb + "1", rrb + "5", rrb + "1 -pc_rrb_coarse inverse",
                                       rrb + "9 -pc_rrb_red_nodes support", gridmg + "single", gridmg + "double"}) {
      SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + ' ' + options);
      const std::string all = options + ' ' + (options.find("rrb_") == options.npos ? "" : grid_option(problem));
      EXPECT_GT(reference::dot(applied(pc_of(A, all), ones), ones), 0.05 * nx * ny);
      for (const char *norm : {"unpreconditioned", "natural"})
        EXPECT_LT(
            solve(ksp_of(A, "-ksp_type rrb -ksp_max_it 100 -ksp_norm_type " + (norm + (' ' + all))), problem.b).reason,
            0);
    }
  }
}

TEST(Variants, AllConverge) {
  const Problem problem = reference::random_faces({63, 63}, 10);
  for (const char *nodes : {"red", "both"})
    for (const char *omega : {"0", "0.5", "0.95", "1"}) {
      const Solve result = solve(problem, std::string("-ksp_rtol 1e-8 -pc_rrb_levels 12 -pc_rrb_lumping ") + omega +
                                              " -pc_rrb_lump_nodes " + nodes);
      EXPECT_EQ(result.reason, KSP_CONVERGED_RTOL) << nodes << ' ' << omega;
      EXPECT_LT(relative_residual(problem, result.x), 1e-6) << nodes << ' ' << omega;
    }
}

TEST(Variants, TheDefaultIsTheBestForPoisson) {
  const Problem problem = reference::poisson(127);
  const auto count = [&](const char *o) { return solve(problem, std::string("-pc_rrb_levels 12 ") + o).iterations; };
  const int standard = count("");
  for (const char *other : {"-pc_rrb_lumping 0", "-pc_rrb_lumping 0.9", "-pc_rrb_lump_nodes both",
                            "-pc_rrb_lump_nodes both -pc_rrb_lumping 0"})
    EXPECT_GT(count(other), standard) << other;
}

} // namespace
