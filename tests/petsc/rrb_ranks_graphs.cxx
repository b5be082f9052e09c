// PCRRB of matrices on no 2D grid on several ranks, each of which has all rows, whether or not they share applications: it is what it is on
// one.
#include "rrb_ranks_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

const std::string by_choice = "-pc_rrb_red_nodes auto -pc_rrb_cycle amli ";
const std::string shared = "-pc_rrb_levels 9 -pc_rrb_gather_size ";

// Nodes that couple with near ones, numbered without an order, and one without couplings.
reference::Matrix graph(int n, std::uint32_t seed) {
  reference::Random random(seed);
  std::vector<int> number(static_cast<std::size_t>(n));
  for (int p = 0; p < n; p++) number[std::size_t(p)] = p;
  for (int p = n - 1; p > 0; p--) std::swap(number[std::size_t(p)], number[std::size_t(random() * (p + 1))]);
  reference::Matrix A(n);
  for (int p = 0; p + 1 < n; p++) {
    for (int k = 0; k < 3; k++)
      if (const int q = p + 1 + int(random() * 9); q + 1 < n)
        couple(A, number[std::size_t(p)], number[std::size_t(q)], std::pow(10.0, 3 * random()));
    if (p % 17 == 0) A.add(number[std::size_t(p)], number[std::size_t(p)], 1);
  }
  A.add(number[std::size_t(n) - 1], number[std::size_t(n) - 1], 2);
  return A;
}

const Shape box{6, 5, 9, false, false, false, 7};
reference::Matrix in_space(std::uint32_t seed) {
  reference::Random random(seed);
  reference::Matrix A(6 * 5 * 9);
  for (int p = 0; p < A.size(); p++) {
    if (p % 6 < 5) couple(A, p, p + 1, std::pow(10.0, 3 * random()));
    if (p / 6 % 5 < 4) couple(A, p, p + 6, std::pow(10.0, 3 * random()));
    if (p / 30 < 8) couple(A, p, p + 30, std::pow(10.0, 3 * random()));
    if (p % 6 == 0) A.add(p, p, 1);
  }
  return A;
}

// On boxes, and by rows of which the first rank has few or none.
void each_distribution(const reference::Matrix &A, bool space, const std::function<void(const Distributed &)> &f) {
  if (space)
    for (const Partition &p : partitions(box)) f(on_dmda(A, box, p));
  f(by_rows(A, uneven_rows(A.size())));
  f(by_rows(A, rows_without_first(A.size())));
}

// Other couplings, and the same sums of rows.
reference::Matrix bent(const reference::Matrix &A) {
  reference::Matrix B = A;
  for (int p = 0; p < A.size(); p++)
    for (const auto &[q, a] : A.row[std::size_t(p)])
      if (q != p) B.add(p, q, 0.2 * a * std::cos(p + q)), B.add(p, p, -0.2 * a * std::cos(p + q));
  return B;
}

TEST(RrbRanksGraphs, AreTheSameAsOneAndFollowNewValues) {
  for (bool space : {false, true})
    for (const std::string &more : {std::string(), std::string("-pc_rrb_levels 3 -pc_rrb_coarse inverse"), shared + "1",
                                    shared + "60 -pc_rrb_precision single"}) {
      const std::string options = by_choice + more;
      const reference::Matrix A = space ? in_space(1) : graph(300, 1), B = bent(A);
      const reference::Vector r = reference::random_vector(A.size(), 3);
      const Matrix alone = matrix_of(A), other = matrix_of(B);
      const Preconditioner one = pc_of(alone, options);
      const reference::Vector before = applied(one, r);
      ok(MatCopy(other, alone, SAME_NONZERO_PATTERN));
      ok(PCSetUp(one));
      const reference::Vector after = applied(one, r);
      EXPECT_GT(largest_difference(before, after), 1e-3);
      each_distribution(A, space, [&](const Distributed &d) {
        const Preconditioner pc = pc_of(d.A, options);
        EXPECT_LT(largest_difference(applied_on(pc, d, r), own_part(d, before)), 1e-11) << options;
        for (bool new_values : {true, false}) {
          set_new_values(d, new_values ? B : A);
          ok(PCSetUp(pc));
          EXPECT_LT(largest_difference(applied_on(pc, d, r), own_part(d, new_values ? after : before)), 1e-11)
              << options;
        }
      });
    }
}

TEST(RrbRanksGraphs, SolveInTheIterationsOfOne) {
  for (bool space : {false, true}) {
    const reference::Matrix A = space ? in_space(3) : graph(500, 2);
    const reference::Vector b = reference::random_vector(A.size(), 4);
    for (const std::string &type : {std::string("-ksp_type cg "), "-ksp_type cg " + shared + "30 ",
                                    "-ksp_type rrb -pc_type rrb " + shared + "1 "}) {
      const bool share = type.find(shared) != std::string::npos;
      const std::string options = by_choice + type + "-ksp_rtol 1e-9 -ksp_norm_type unpreconditioned";
      const Matrix alone = matrix_of(A);
      const Solve one = solve(ksp_of(alone, options + " -pc_type rrb"), b);
      EXPECT_GT(one.reason, 0);
      each_distribution(A, space, [&](const Distributed &d) {
        const Solver ksp = ksp_of(d.A, options + " -pc_type rrb");
        const Solve found = solve_on(ksp, d, b);
        EXPECT_EQ(found.iterations, one.iterations) << options;
        EXPECT_LT(largest_difference(found.x, own_part(d, one.x)), 1e-6) << options;
        const std::string text = view(pc_of(ksp));
        EXPECT_EQ(text.find("all of it is on every rank") != std::string::npos, ranks() > 1);
        EXPECT_EQ(text.find("they share its applications") != std::string::npos, ranks() > 1 && share);
      });
    }
  }
}

TEST(RrbRanksGraphs, RefuseTogether) {
  reference::Matrix A = graph(200, 5);
  for (int p = 0; p < A.size(); p++)
    for (auto &[q, a] : A.row[std::size_t(p)])
      if (q != p) a = -a;
  for (int trial = 0; trial < 2; trial++) {
    const Distributed d = by_rows(A, uneven_rows(A.size()));
    raised = {};
    EXPECT_TRUE(refused(PCSetUp(pc_of(d.A, by_choice))));
    EXPECT_EQ(raised.code, PETSC_ERR_ARG_WRONG);
    EXPECT_NE(raised.message.find(trial ? "not symmetric" : "are positive"), std::string::npos) << raised.message;
    A = graph(200, 5);
    A.row[150].begin()->second *= 2;
  }
}

} // namespace
