// Red nodes chosen by support, through PETSc: when they are used, what says so, and what they are worth.
#include "device_support.hpp"
#include "reference/hard_problems.hpp"
#include "support.hpp"
#include "unit/reference_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

// a later option takes the place of the tests' own
const std::string by_choice = "-pc_rrb_red_nodes auto -pc_rrb_cycle amli ",
                  by_support = "-pc_rrb_red_nodes support -pc_rrb_cycle amli ",
                  unpreconditioned = "-ksp_norm_type unpreconditioned -ksp_rtol 1e-6 ",
                  natural = "-ksp_norm_type natural -ksp_rtol 1e-6 ";

PC pc_in(KSP ksp) {
  PC pc;
  ok(KSPGetPC(ksp, &pc));
  return pc;
}
bool is_by_support(PC pc) { return view(pc).find("red nodes: by support") != std::string::npos; }

struct Known {
  const char *name;
  int natural, unpreconditioned;
};
// by the prototype of the method, on 255 x 255 points, right-hand side of ones
const Known known[] = {{"poisson", 8, 10},
                       {"anisotropy 10 in x", 9, 12},
                       {"anisotropy 100 in x", 9, 11},
                       {"anisotropy 1000 in x", 8, 10},
                       {"anisotropy 10000 in x", 6, 7},
                       {"anisotropy 1000 in y", 8, 10},
                       {"stretched in y to 30", 11, 14},
                       {"stretched in y to 1000", 9, 11},
                       {"stretched in x and y to 30", 11, 14},
                       {"stretched in x and y to 1000", 10, 12},
                       {"tanh in x and y", 10, 13},
                       {"checkerboard", 10, 14},
                       {"channels at 1 mod 4", 10, 12},
                       {"channels at 2 mod 4", 7, 8},
                       {"channels at 1 mod 2", 9, 10},
                       {"elements 10 in x", 15, 21},
                       {"elements 100 in x", 14, 19}};

TEST(RedNodes, TakeTheKnownIterations) {
  const auto problems = reference::hard_problems(255);
  for (std::size_t i = 0; i < std::size(known); i++) {
    SCOPED_TRACE(known[i].name);
    ASSERT_EQ(problems[i].first, known[i].name);
    const Problem &problem = problems[i].second;
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, "-ksp_type cg -pc_type rrb " + by_support + natural + grid_option(problem));
    EXPECT_LE(solve(ksp, problem.b).iterations, known[i].natural + 1);
    EXPECT_TRUE(is_by_support(pc_in(ksp)));
    for (const char *type : {"-ksp_type cg ", "-ksp_type rrb ", "-ksp_type cg -pc_rrb_precision single "}) {
      const Solver other =
          ksp_of(A, std::string("-pc_type rrb ") + type + by_support + unpreconditioned + grid_option(problem));
      const Solve done = solve(other, problem.b);
      EXPECT_GT(done.reason, 0);
      EXPECT_LE(done.iterations, known[i].unpreconditioned + 1) << type;
    }
  }
}

TEST(RedNodes, AreChosenByNeed) {
  const auto used = [](const Problem &problem, const std::string &options) {
    const Matrix A = matrix_of(problem);
    const Preconditioner pc = pc_of(A, grid_option(problem) + options);
    ok(PCSetUp(pc));
    return is_by_support(pc);
  };
  const Problem smooth = reference::poisson(40), strong = reference::anisotropic(40, 40, 1, 200);
  EXPECT_FALSE(used(smooth, "-pc_rrb_red_nodes auto -pc_rrb_levels 6"));
  EXPECT_TRUE(used(smooth, "-pc_rrb_red_nodes support -pc_rrb_levels 6"));
  EXPECT_FALSE(used(reference::anisotropic(40, 40, 1, 20), "-pc_rrb_red_nodes auto -pc_rrb_levels 6"));
  EXPECT_TRUE(used(reference::anisotropic(40, 40, 1, 70), "-pc_rrb_red_nodes auto -pc_rrb_levels 6"));
  EXPECT_TRUE(
      used(reference::anisotropic(40, 40, 70, 1), "-pc_rrb_red_nodes auto -pc_rrb_levels 6 -pc_rrb_storage naive"));
  EXPECT_TRUE(used(strong, "-pc_rrb_red_nodes auto -pc_rrb_levels 6"));
  EXPECT_FALSE(used(strong, "-pc_rrb_red_nodes plain -pc_rrb_levels 6"));
  EXPECT_FALSE(used(strong, "-pc_rrb_red_nodes auto -pc_rrb_levels 1")); // which is exact
  EXPECT_FALSE(used(strong, "-pc_rrb_red_nodes auto -pc_rrb_levels 6 -pc_rrb_lump_nodes both"));
}

// Kept while its tests hold; then another one.
TEST(RedNodes, FollowTheValues) {
  const Problem smooth = reference::random_faces({64, 60}, 1.5, 1), in_x = reference::anisotropic(64, 60, 300, 1),
                in_y = reference::anisotropic(64, 60, 1, 300);
  for (const char *type : {"-ksp_type cg ", "-ksp_type rrb "}) {
    const std::string options =
        type + ("-pc_type rrb -pc_rrb_levels 12 " + by_choice + unpreconditioned + grid_option(smooth));
    const Matrix A = matrix_of(smooth);
    const Solver ksp = ksp_of(A, options);
    for (const Problem *problem : {&smooth, &in_x, &in_y, &smooth, &in_y, &in_x}) {
      set_values(A, problem->A);
      const Solve done = solve(ksp, problem->b);
      EXPECT_GT(done.reason, 0);
      EXPECT_LE(done.iterations, 15);
      EXPECT_EQ(is_by_support(pc_in(ksp)), problem != &smooth);
      const Matrix fresh = matrix_of(*problem);
      EXPECT_EQ(solve(ksp_of(fresh, options), problem->b).x, done.x); // to the bit
    }
  }
}

TEST(RedNodes, HalvesMakeTheWhole) {
  const Problem problem = reference::random_faces({31, 28}, 1e4);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc =
      pc_of(A, "-pc_rrb_red_nodes support -pc_rrb_coarse cholesky -pc_rrb_levels 7 " + grid_option(problem));
  const Vector r = vector_of(problem.b), y = like(r), z = like(r);
  ok(PCApplySymmetricLeft(pc, r, y));
  ok(PCApplySymmetricRight(pc, y, z));
  EXPECT_LT(largest_difference(values_of(z), applied(pc, problem.b)), 1e-12);
}

TEST(RedNodes, OfASingularProblem) {
  for (const Problem &problem : {reference::neumann(40, 37), reference::isolated_cells(20, 21)}) {
    const Matrix A = matrix_of(problem);
    set_null_spaces(A, problem);
    const Solver ksp =
        ksp_of(A, "-ksp_type cg -pc_type rrb -pc_rrb_levels 9 " + by_support + unpreconditioned + grid_option(problem));
    const Solve done = solve(ksp, problem.b);
    EXPECT_GT(done.reason, 0);
    EXPECT_LE(done.iterations, 15);
  }
}

// The same decisions, and numbers to rounding.
TEST(RedNodes, AreThoseOfTheHost) {
  SKIP_ON_HOST();
  for (const Problem &problem : {reference::random_faces({90, 83}, 1e6), reference::random_nine_points({70, 81}, 0.2),
                                 reference::channels(75, 71, 1, 4), reference::random_faces({64, 60, true, true}, 1e4),
                                 reference::anisotropic(90, 83, 100, 1), reference::anisotropic(37, 120, 1, 2000)})
    for (const char *more : {"", "-pc_rrb_precision single "}) {
      const std::string options =
          grid_option(problem) + "-pc_rrb_red_nodes support -pc_rrb_levels 9 -pc_rrb_cycle amli " + more;
      const Matrix A = matrix_of(problem), on_host = matrix_of(problem.A, MATAIJ);
      const Preconditioner pc = pc_of(A, options), of_host = pc_of(on_host, options);
      const Vector r = vector_of(problem.b, PETSC_COMM_SELF, VECSTANDARD), z = like(r);
      const reference::Vector here = applied(pc, problem.b);
      ok(PCApply(of_host, r, z));
      EXPECT_LT(largest_difference(here, values_of(z)), *more ? 1e-5 : 1e-10);
      const auto unknowns = [](PC of) {
        const std::string text = view(of);
        const std::size_t at = text.find("unknowns left:");
        return text.substr(at, text.find('\n', at) - at);
      };
      EXPECT_EQ(unknowns(pc), unknowns(of_host));
    }
}

TEST(RedNodes, AreShown) {
  const Problem problem = reference::random_faces({63, 63}, 1e5);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, grid_option(problem) + "-pc_rrb_red_nodes auto -pc_rrb_levels 6");
  const std::string info = info_of([&] { ok(PCSetUp(pc)); }), text = view(pc);
  for (const char *words :
       {"red nodes are chosen by support", "Level 0: 3969 unknowns, 3.9 couplings each, chosen red nodes: 1984\n"})
    EXPECT_NE(info.find(words), std::string::npos) << words << "\n" << info;
  for (const char *words : {"red nodes: by support, since ", " plain ones fail the test",
                            "couplings per unknown, level by level: 3.9 ", "levels: 6, unknowns left: 3969 1985 "})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;

  const Matrix strong = matrix_of(reference::anisotropic(63, 63, 1, 100));
  const Preconditioner halved = pc_of(strong, grid_option(problem) + "-pc_rrb_red_nodes auto -pc_rrb_levels 6");
  const std::string told = info_of([&] { ok(PCSetUp(halved)); }), shown = view(halved);
  EXPECT_NE(told.find("strong couplings is halved before plain red nodes are used: yyy"), std::string::npos) << told;
  EXPECT_NE(shown.find("strong couplings is halved first: yyy; then red nodes are plain"), std::string::npos) << shown;
}

TEST(RedNodes, RefuseWhatTheyAreNotFor) {
  const Problem problem = reference::anisotropic(20, 20, 1, 100);
  const Matrix A = matrix_of(problem);
  const Preconditioner both =
      pc_of(A, grid_option(problem) + "-pc_rrb_red_nodes support -pc_rrb_levels 4 -pc_rrb_lump_nodes both");
  EXPECT_TRUE(refused(PCSetUp(both)));
  EXPECT_EQ(raised.code, PETSC_ERR_SUP);
  EXPECT_NE(raised.message.find("-pc_rrb_lump_nodes red"), std::string::npos) << raised.message;
}

} // namespace
