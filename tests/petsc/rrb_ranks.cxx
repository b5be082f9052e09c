// PCRRB on several ranks is what it is on one: mpiexec -n 3 build/tests/petsc --gtest_filter='RrbRanks*'
#include "rrb_ranks_support.hpp"

#include <limits>
#include <petsc/private/matimpl.h>

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

// On one rank, every rank for itself.
reference::Vector expected(const Case &c, const std::string &options, const reference::Vector &r) {
  const Matrix A = matrix_of(c.problem);
  return applied(pc_of(A, c.grid() + options), r);
}

void expect_same(PC pc, const Distributed &d, const Case &c, const std::string &options, const std::string &what) {
  const reference::Vector r = reference::random_vector(c.problem.A.size(), 3);
  EXPECT_LT(largest_difference(applied_on(pc, d, r), own_part(d, expected(c, options, r))), 1e-11)
      << what << ", " << options;
}

TEST(RrbRanks, AreTheSameAsOne) {
  Turns turns;
  for (const Case &c : cases())
    some_distributions(c, [&](const Distributed &d, const std::string &what) {
      const std::string options = turns.next();
      expect_same(pc_of(d.A, c.grid() + options), d, c, options, what);
    });
}

TEST(RrbRanks, AreSymmetric) {
  const Case c = cases()[2];
  const reference::Vector r = reference::random_vector(c.problem.A.size(), 5);
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = pc_of(d.A, c.grid() + "-pc_rrb_levels 6 -pc_rrb_coarse cholesky -pc_rrb_gather_size 0");
    const reference::Vector z = applied_on(pc, d, r);
    EXPECT_EQ(applied_on(pc, d, r, PCApplyTranspose), z) << what;
    const Vector x = vector_on(d, r), y = like(x), w = like(x);
    ok(PCApplySymmetricLeft(pc, x, y));
    ok(PCApplySymmetricRight(pc, y, w));
    EXPECT_LT(largest_difference(values_of(w), z), 1e-11) << what;
  });
}

TEST(RrbRanks, TakeSeveralColumns) {
  const Case c = cases()[1];
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = pc_of(d.A, c.grid() + "-pc_rrb_levels 5 -pc_rrb_gather_size 50");
    const PetscInt mine = PetscInt(d.natural.size()), n = c.problem.A.size();
    Matrix X, Y;
    for (Matrix *M : {&X, &Y}) ok(MatCreateDense(PETSC_COMM_WORLD, mine, PETSC_DECIDE, n, 3, nullptr, M->put()));
    for (int j = 0; j < 3; ++j) {
      Vec column;
      ok(MatDenseGetColumnVecWrite(X, j, &column));
      ok(VecCopy(vector_on(d, reference::random_vector(int(n), 10 + j)), column));
      ok(MatDenseRestoreColumnVecWrite(X, j, &column));
    }
    ok(PCSetUp(pc));
    ok(PCMatApply(pc, X, Y));
    for (int j = 0; j < 3; ++j) {
      Vec column;
      ok(MatDenseGetColumnVecRead(Y, j, &column));
      EXPECT_EQ(values_of(column), applied_on(pc, d, reference::random_vector(int(n), 10 + j))) << what;
      ok(MatDenseRestoreColumnVecRead(Y, j, &column));
    }
  });
}

TEST(RrbRanks, TakeOtherTypesOfMatrices) {
  const Case c = cases()[1];
  for (MatType type : {MATMPIBAIJ, MATMPISBAIJ}) {
    const Distributed d = by_rows(c.problem.A, uneven_rows(c.problem.A.size()), type);
    expect_same(pc_of(d.A, "-pc_rrb_levels 5 -pc_rrb_gather_size 0"), d, c, "-pc_rrb_levels 5", type);
  }
}

// A refresh and a new set-up give the same bits.
TEST(RrbRanks, FollowNewValues) {
  const Case before{"", reference::random_faces({24, 31}, 100, 1), 5},
      after{"", reference::random_faces({24, 31}, 100, 2), 5};
  const reference::Vector r = reference::random_vector(before.problem.A.size(), 3);
  Turns turns;
  some_distributions(before, [&](const Distributed &d, const std::string &what) {
    const std::string options = turns.next();
    const Preconditioner pc = pc_of(d.A, options);
    expect_same(pc, d, before, options, what);
    set_new_values(d, after.problem.A);
    expect_same(pc, d, after, options, what);
    EXPECT_EQ(applied_on(pc, d, r), applied_on(pc_of(d.A, options), d, r)) << what << ", " << options;
  });
}

// A near null vector that is 0 somewhere says nothing about it.
TEST(RrbRanks, FollowNewNearNullVectors) {
  const Case good = cases()[9];
  Case useless = good;
  useless.problem.v[17] = 0;
  const std::string options = "-pc_rrb_levels 5 -pc_rrb_gather_size 0";
  some_distributions(good, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = pc_of(d.A, good.grid() + options);
    for (const Case *c : std::initializer_list<const Case *>{&good, &useless, &good}) {
      set_null_spaces_on(d, c->problem);
      set_new_values(d, c->problem.A);
      expect_same(pc, d, *c, options, what);
    }
  });
}

#if defined(PETSC_HAVE_CUDA)
// What is new on the device is read there: the host has none of it.
TEST(RrbRanks, ReadNewValuesOnTheDevice) {
  SKIP_ON_HOST();
  if (ranks() == 1) GTEST_SKIP() << "of several ranks";
  const Case c = cases()[9];
  const reference::Vector r = reference::random_vector(c.problem.A.size(), 3);
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = pc_of(d.A, c.grid() + "-pc_rrb_levels 5 -pc_rrb_gather_size 0");
    reference::Vector half = applied_on(pc, d, r);
    for (double &z : half) z /= 2;
    Mat block[2];
    ok(MatScale(d.A, 2));
    EXPECT_LT(largest_difference(applied_on(pc, d, r), half), 1e-12) << what;
    ok(MatMPIAIJGetSeqAIJ(d.A, &block[0], &block[1], nullptr));
    for (Mat m : block) {
      MatInfo info;
      ok(MatGetInfo(m, MAT_LOCAL, &info));
      EXPECT_TRUE(info.nz_used == 0 || m->offloadmask == PETSC_OFFLOAD_GPU) << what;
    }
  });
}
#endif

// Corners that come and go, and a ring that is cut.
TEST(RrbRanks, BuildAgainForOtherCouplings) {
  const Case nine{"", reference::random_nine_points({12, 10, true, true}, 0), 9};
  Case five = nine;
  for (int p = 0; p < five.problem.A.size(); ++p)
    for (auto &[q, a] : five.problem.A.row[std::size_t(p)]) {
      const int dx = std::abs(p % 12 - q % 12), dy = std::abs(p / 12 - q / 12);
      if (dx + dy > 1) a = 0;
    }
  const std::string options = "-pc_rrb_levels 6 -pc_rrb_gather_size 0";
  some_distributions(nine, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = pc_of(d.A, nine.grid() + options);
    for (const Case *c : std::initializer_list<const Case *>{&nine, &five, &nine}) {
      set_new_values(d, c->problem.A);
      expect_same(pc, d, *c, options, what);
    }
  });
}

// ---- grids and distributions ----

TEST(RrbRanks, FindTheirGridInRowsOfLines) {
  const Case c = cases()[1], around = {"", reference::random_nine_points({16, 25, true, false}, 0), 9};
  for (const Case *one : {&c, &around})
    for (const auto &rows : {whole_lines(one->problem.grid), uneven_rows(one->problem.A.size())}) {
      const Distributed d = by_rows(one->problem.A, rows);
      const Preconditioner pc = pc_of(d.A, "-pc_rrb_levels 6 -pc_rrb_gather_size 0");
      PetscInt nx, ny;
      expect_same(pc, d, *one, "-pc_rrb_levels 6", "by its pattern");
      ok(PCRRBGetGrid(pc, &nx, &ny));
      EXPECT_EQ(nx, one->problem.grid.nx);
      EXPECT_EQ(ny, one->problem.grid.ny);
    }
}

void expect_refused(Mat A, const std::string &options, PetscErrorCode code, const std::string &words) {
  raised = {};
  EXPECT_TRUE(refused(PCSetUp(pc_of(A, options))));
  EXPECT_EQ(raised.code, code);
  EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
}

TEST(RrbRanks, RefuseOtherNumberings) {
  const reference::Problem p = reference::random_faces({12, 10}, 10);
  reference::Matrix mixed(p.A.size());
  const auto number = [](int q) { return q * 7 % 120; };
  for (int q = 0; q < p.A.size(); ++q)
    for (const auto &[r, a] : p.A.row[std::size_t(q)]) mixed.add(number(q), number(r), a);
  const Distributed d = by_rows(mixed, uneven_rows(mixed.size()));
  expect_refused(d.A, "", PETSC_ERR_ARG_WRONG, "pc_rrb_grid nx,ny");
  expect_refused(d.A, "-pc_rrb_grid 12,10", PETSC_ERR_ARG_INCOMP, "does not fit the grid");
  expect_refused(d.A, "-pc_rrb_grid 12,11", PETSC_ERR_ARG_INCOMP, "does not match the matrix");
  if (ranks() == 1) return;
  expect_refused(d.A, "", PETSC_ERR_ARG_WRONG, "rows must be numbered in natural order");
  const Case c{"", p, 5};
  const Distributed boxes = on_dmda(p.A, c.shape(), {ranks() == 6 ? 3 : 1, ranks() == 6 ? 2 : ranks(), 1});
  expect_refused(boxes.A, "-pc_rrb_grid 10,12", PETSC_ERR_ARG_INCOMP, "is not the grid of the Mat's DMDA");
}

TEST(RrbRanks, RefuseSeveralUnknownsAPointAnd3D) {
  Array two, cube;
  Matrix A;
  ok(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 7, 6, PETSC_DECIDE,
                  PETSC_DECIDE, 2, 1, nullptr, nullptr, two.put()));
  ok(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 4, 3, 5,
                  PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, nullptr, cube.put()));
  for (const auto &[da, words] : {std::pair{&two, "has dof = 2"}, {&cube, "the DMDA is 3D"}}) {
    ok(DMSetUp(*da));
    ok(DMCreateMatrix(*da, A.put()));
    ok(MatShift(A, 4));
    expect_refused(A, "", PETSC_ERR_SUP, words);
  }
}

// ---- bad values: all ranks hear of them, though one alone has the entry ----

TEST(RrbRanks, RefuseTogether) {
  const Case c = cases()[1];
  const auto rows = uneven_rows(c.problem.A.size());
  const int cut = ranks() > 1 ? rows[0] : 100;
  for (const auto &[p, q] : {std::pair{240, 241}, {cut - 1, cut + 23}}) {
    reference::Matrix A = c.problem.A;
    A.row[std::size_t(p)][q] *= 2;
    expect_refused(by_rows(A, rows).A, "", PETSC_ERR_ARG_WRONG, "not symmetric: row " + std::to_string(p) + " at (");
    EXPECT_EQ(raised.message.find("on rank ") != std::string::npos, ranks() > 1) << raised.message;
    A = c.problem.A; // a row that is far larger, and the other one does not store the coupling
    A.row[std::size_t(p)][p] = 1e300;
    A.row[std::size_t(q)].erase(p);
    expect_refused(by_rows(A, rows).A, "", PETSC_ERR_ARG_WRONG, "not symmetric: row " + std::to_string(p) + " at (");
    A = c.problem.A;
    A.row[std::size_t(p)][q] = NAN;
    expect_refused(by_rows(A, rows).A, "", PETSC_ERR_ARG_WRONG, "not finite: row " + std::to_string(p));
    const Distributed d = by_rows(c.problem.A, rows);
    const Preconditioner pc = pc_of(d.A);
    ok(PCSetUp(pc));
    set_new_values(d, A);
    EXPECT_TRUE(refused(PCSetUp(pc)));
    set_new_values(d, c.problem.A);
    expect_same(pc, d, c, "", "after a refusal");
  }
}

TEST(RrbRanks, FailTogether) {
  reference::Problem problem = reference::random_nine_points({9, 8}, 0);
  for (const int p : {30, 71}) problem.A.row[std::size_t(p)][p] = 0.01; // with couplings far above that
  const Case c{"", problem, 9};
  const Matrix alone = matrix_of(problem.A);
  const Preconditioner one = pc_of(alone, c.grid());
  ok(PCSetErrorIfFailure(one, PETSC_TRUE));
  EXPECT_TRUE(refused(PCSetUp(one)));
  const std::string same = raised.message;
  some_distributions(c, [&](const Distributed &d, const std::string &what) {
    for (const char *size : {"0", "20", "1000"}) {
      const std::string options = c.grid() + "-pc_rrb_gather_size " + size;
      const Preconditioner pc = pc_of(d.A, options), strict = pc_of(d.A, options);
      PCFailedReason reason;
      ok(PCSetUp(pc));
      ok(PCGetFailedReason(pc, &reason));
      EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT) << what;
      for (double z : applied_on(pc, d, problem.b)) EXPECT_EQ(z, std::numeric_limits<double>::infinity());
      ok(PCSetErrorIfFailure(strict, PETSC_TRUE));
      EXPECT_TRUE(refused(PCSetUp(strict)));
      EXPECT_EQ(raised.code, PETSC_ERR_MAT_CH_ZRPVT);
      EXPECT_EQ(raised.message, same) << what;
    }
  });
}

// ---- the view ----

TEST(RrbRanks, AreInTheView) {
  const Case c = cases()[7];
  const Preconditioner alone = pc_of(matrix_of(c.problem), c.grid() + "-pc_rrb_levels 6");
  ok(PCSetUp(alone));
  const auto line = [](const std::string &text, const char *name) {
    const std::size_t at = text.find(name);
    return text.substr(at, text.find('\n', at) - at);
  };
  some_distributions(c, [&](const Distributed &d, const std::string &) {
    const Preconditioner pc = pc_of(d.A, c.grid() + "-pc_rrb_levels 6 -pc_rrb_gather_size 100");
    PetscInt size;
    ok(PCSetUp(pc));
    ok(PCRRBGetGatherSize(pc, &size));
    EXPECT_EQ(size, 100);
    const std::string text = view_on_first(pc), one = view(alone);
    if (rank() > 0) return;
    for (const char *name : {"levels: ", "last block: ", "cycle: ", "identity rows"})
      EXPECT_EQ(line(text, name), line(one, name));
    const std::string said = "the same operator as on one rank, on " + std::to_string(ranks()) + " ranks: ";
    EXPECT_EQ(text.find(said) != std::string::npos, ranks() > 1) << text;
    const bool says = text.find("grids 0 to 1 are distributed, grid 2 (8 x 7) is on every rank\n") != std::string::npos;
    EXPECT_EQ(says, ranks() > 1) << text;
  });
}

} // namespace
