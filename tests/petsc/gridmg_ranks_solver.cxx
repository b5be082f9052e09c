// KSPRRB around PCGRIDMG on several ranks is what it is on one: mpiexec -n 3 build/tests/petsc --gtest_filter='GridMGRanksSolver*'
#include "neumann_support.hpp"
#include "rrb_ranks_support.hpp"
#include "reference/problems3d.hpp"

#include <cmath>

using namespace petsctest;
using namespace petsctest::distributed;
using reference::Grid3D;
using reference::Problem3D;

namespace {

// With red-black points on the black ones, but where red points couple around a periodic side; else on all.
const char schur[] = "on the first Schur complement, of the black points, in the finest grid's arrays",
           all[] = "on all nodes, fused", unfused[] = "on all nodes, by PETSc's products";
// So small that many grids are on boxes.
const std::string common = "-ksp_type rrb -pc_type gridmg -pc_gridmg_coarse_size 1 -pc_gridmg_gather_size 0 ";

struct Case3D {
  Problem3D problem;
  const char *points, *lines; // the form with these; NULL: another one where ranks gather it at once
};
std::vector<Case3D> cases_3d() {
  using namespace reference;
  const auto random = [](int x, int y, int z, bool rx, bool ry, bool rz, double excess = 0.1) {
    return random_couplings(Grid3D{{x, y, z}, {rx, ry, rz}}, 20, excess);
  };
  return {
      {random(12, 8, 9, false, false, false), schur, all},     {random(17, 13, 11, false, false, false), schur, all},
      {random(16, 12, 8, true, true, true), schur, all},       {random(16, 12, 8, false, true, true, 0), schur, all},
      {random(9, 16, 12, true, false, false), all, all},       {problem3d("identity rows", 12), schur, all},
      {random(21, 18, 1, false, false, false), schur, all},    {random(8, 25, 1, true, false, false), schur, all},
      {random(8, 7, 4, false, false, false), schur, all},      {random(8, 4, 4, true, true, true), schur, all},
      {random(3, 2, 2, false, false, false), nullptr, nullptr}};
}

Shape shape_of(const Problem3D &p) {
  const Grid3D &g = p.grid;
  const auto ring = [&](int q) { return g.periodic[q] && g.n[q] > 2; };
  return {g.n[0], g.n[1], g.n[2], ring(0), ring(1), ring(2), g.n[2] > 1 ? 7 : 5};
}
std::string grid_of(const Problem3D &p) {
  return "-pc_gridmg_grid " + std::to_string(p.grid.n[0]) + "," + std::to_string(p.grid.n[1]) + "," +
         std::to_string(p.grid.n[2]) + " ";
}

// Boxes, PETSc's own cuts in the middle of a line, no rows on the first rank: each time in another way.
void some_distributions(const Problem3D &p, const std::function<void(const Distributed &, const std::string &)> &f) {
  static std::size_t turn = 0;
  const auto use = [&](const Distributed &d, const std::string &what) {
    set_null_spaces_on(d, {{}, p.A, p.b, p.v, p.null_space});
    f(d, what);
  };
  const std::vector<Partition> boxes = partitions(shape_of(p));
  if (!boxes.empty()) {
    const Partition &b = boxes[turn % boxes.size()];
    use(on_dmda(p.A, shape_of(p), b),
        std::to_string(b.x) + " x " + std::to_string(b.y) + " x " + std::to_string(b.z) + " boxes");
  }
  use(by_rows(p.A, turn % 2 ? rows_without_first(p.A.size()) : uneven_rows(p.A.size())), "rows");
  ++turn;
}

void expect_form(KSP ksp, const std::string &form) {
  const std::string text = view_on_first(ksp);
  EXPECT_TRUE(rank() > 0 || text.find(form) != std::string::npos) << text;
}

TEST(GridMGRanksSolver, IsThatOfOneRank) {
  const std::vector<std::string> choices{
      "-pc_gridmg_smoother points -pc_gridmg_precision double ",
      "-pc_gridmg_smoother lines -pc_gridmg_precision double ",
      "-pc_gridmg_smoother points -pc_gridmg_precision single ",
      "-pc_gridmg_smoother points -pc_gridmg_smooths 2 -pc_gridmg_precision double ",
      "-pc_gridmg_smoother points -pc_gridmg_coarsening semi -pc_gridmg_precision double ",
      "-pc_gridmg_smoother points -pc_gridmg_precision double -pc_gridmg_gather_size 100 "};
  const std::vector<std::string> norms{"natural", "unpreconditioned", "preconditioned"};
  std::size_t turn = std::size_t(ranks());
  for (const Case3D &c : cases_3d())
    for (int i = 0; i < 3; ++i, ++turn) {
      const std::string options = common + grid_of(c.problem) + choices[turn % choices.size()] + "-ksp_norm_type " +
                                  norms[turn / 2 % norms.size()] + " -ksp_rtol 1e-8";
      const bool single = options.find("single") != std::string::npos,
                 lines = options.find("lines") != std::string::npos;
      const Matrix A = matrix_of({{}, c.problem.A, c.problem.b, c.problem.v, c.problem.null_space});
      const reference::Vector x0 = i ? reference::random_vector(c.problem.A.size(), 4) : reference::Vector();
      const Solver one = ksp_of(A, options);
      const Recorded alone = recorded(one, c.problem.b, x0);
      some_distributions(c.problem, [&](const Distributed &d, const std::string &what) {
        SCOPED_TRACE(what + ", " + options);
        const Solver many = ksp_of(d.A, options);
        const Recorded together = recorded_on(many, d, c.problem.b, x0);
        if (c.points) expect_form(many, lines ? c.lines : c.points);
        EXPECT_EQ(together.reason, alone.reason);
        EXPECT_NEAR(together.iterations, alone.iterations, single || !c.points ? 1 : 0);
        for (std::size_t k = 0;
             c.points && k < std::min({together.history.size(), alone.history.size(), std::size_t(8)}); ++k)
          EXPECT_NEAR(together.history[k], alone.history[k],
                      (single ? 1e-2 : 1e-7) * alone.history[k] + (single ? 1e-7 : 1e-13) * alone.history[0])
              << k;
        EXPECT_LT(largest_difference(together.x, own_part(d, alone.x)), 1e-5);
      });
    }
}

TEST(GridMGRanksSolver, SaysWhyItIsNotFused) {
  Problem3D kept = reference::random_couplings(Grid3D{{9, 8, 7}, {}}, 20, 0.1);
  kept.v = reference::random_vector(kept.A.size(), 3);
  for (double &v : kept.v) v = std::pow(2, v);
  for (std::size_t p = 0; p < kept.v.size(); ++p)
    for (auto &[q, a] : kept.A.row[p]) a /= kept.v[p] * kept.v[std::size_t(q)];
  some_distributions(kept, [&](const Distributed &d, const std::string &) {
    const Solver ksp = ksp_of(d.A, common + grid_of(kept));
    EXPECT_GT(solve_on(ksp, d, kept.b).reason, 0);
    expect_form(ksp, unfused);
    expect_form(ksp, "the preconditioner keeps a near null space");
  });
}

TEST(GridMGRanksSolver, MayBeWatched) {
  const Problem3D p = reference::random_couplings(Grid3D{{17, 13, 11}, {}}, 20, 0.1);
  const reference::Vector x0 = reference::random_vector(p.A.size(), 4);
  PetscReal size = reference::norm(p.b) + reference::norm(p.A.multiply(x0));
  for (const char *smoother : {"points", "lines"})
    some_distributions(p, [&](const Distributed &d, const std::string &what) {
      const std::string options = common + grid_of(p) +
                                  "-ksp_norm_type unpreconditioned -ksp_rtol 1e-8 "
                                  "-pc_gridmg_precision double -pc_gridmg_smoother " +
                                  smoother;
      const Solver alone = ksp_of(d.A, options), watched = ksp_of(d.A, options);
      ok(KSPMonitorSet(watched, disturb, &size, nullptr));
      const Recorded a = recorded_on(alone, d, p.b, x0), b = recorded_on(watched, d, p.b, x0);
      EXPECT_GT(a.iterations, 3) << what;
      EXPECT_EQ(a.history, b.history) << what << ", " << options;
      EXPECT_EQ(a.x, b.x) << what << ", " << options;
    });
}

TEST(GridMGRanksSolver, FollowsNewValuesAndRightHandSides) {
  const auto random = [](double far) { return reference::random_couplings(Grid3D{{12, 8, 9}, {}}, far, 0.1); };
  const Problem3D before = random(20), after = random(5);
  const std::string options = common + grid_of(before) + "-ksp_rtol 1e-8";
  some_distributions(before, [&](const Distributed &d, const std::string &what) {
    const Solver ksp = ksp_of(d.A, options);
    for (const Problem3D *p : {&before, &after, &before}) {
      set_new_values(d, p->A);
      const Solver fresh = ksp_of(d.A, options);
      for (unsigned seed = 1; seed < 3; ++seed) {
        const reference::Vector b = reference::random_vector(p->A.size(), seed);
        const Recorded again = recorded_on(ksp, d, b), expected = recorded_on(fresh, d, b);
        EXPECT_EQ(again.history, expected.history) << what;
        EXPECT_EQ(again.x, expected.x) << what;
      }
    }
  });
}

PetscReal relative_residual(const Distributed &d, Vec b, Vec x) {
  const Vector r = like(b);
  PetscReal residual, size;
  ok(MatMult(d.A, x, r));
  ok(VecAYPX(r, -1, b));
  ok(VecNorm(r, NORM_2, &residual));
  ok(VecNorm(b, NORM_2, &size));
  return residual / size;
}

// The preconditioner is that of other values; then the matrix has another pattern, too, on its grid and off it.
TEST(GridMGRanksSolver, MayBeNewerThanThePreconditioner) {
  const auto random = [](double far) { return reference::random_couplings(Grid3D{{12, 8, 9}, {}}, far, 0.1); };
  const Problem3D before = random(20), after = random(5);
  some_distributions(before, [&](const Distributed &d, const std::string &what) {
    const Solver ksp = ksp_of(d.A, common + grid_of(before) +
                                       "-ksp_rtol 1e-10 -ksp_norm_type unpreconditioned "
                                       "-pc_gridmg_smoother points");
    const Vector b = vector_on(d, before.b), x = like(b);
    ok(KSPSolve(ksp, b, x));
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    set_new_values(d, after.A);
    ok(KSPSolve(ksp, b, x));
    EXPECT_LT(relative_residual(d, b, x), 1e-9) << what;
    expect_form(ksp, schur);
    ok(MatSetOption(d.A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    ok(MatSetOption(d.A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    for (const double value : {0.0, -0.01}) { // a stored zero changes the pattern alone
      const PetscInt last = before.A.size() - 1;
      if (rank() == 0) {
        ok(MatSetValue(d.A, 0, last, value, INSERT_VALUES));
        ok(MatSetValue(d.A, last, 0, value, INSERT_VALUES));
      }
      ok(MatAssemblyBegin(d.A, MAT_FINAL_ASSEMBLY));
      ok(MatAssemblyEnd(d.A, MAT_FINAL_ASSEMBLY));
      ok(KSPSolve(ksp, b, x));
      EXPECT_LT(relative_residual(d, b, x), 1e-9) << what << ", " << value;
      expect_form(ksp, value == 0 ? schur : unfused);
    }
  });
}

} // namespace
