// What the tests of PCRRB and KSPRRB on several ranks share: problems, the choices that they take in turn, solves and who looks at them.
#pragma once

#include "ranks_support.hpp"
#include "rrbsolver_support.hpp"

#include <cmath>

namespace petsctest::distributed {

struct Case {
  std::string name;
  reference::Problem problem;
  int points;

  Shape shape() const {
    const reference::Grid &g = problem.grid;
    return {g.nx, g.ny, 1, g.periodic_x && g.nx > 2, g.periodic_y && g.ny > 2, false, points};
  }
  // what is needed where there is no DMDA: small grids fit several
  std::string grid() const { return grid_option(problem); }
};

inline std::vector<Case> cases() {
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 5 == 0 || (i > 8 && j > 12); };
  const auto rim = [](int i, int j) { return i == 0 || j == 0; };
  reference::Vector D = reference::random_vector(13 * 10, 7);
  for (double &value : D) value = std::pow(10.0, value);
  using namespace reference;
  return {{"five points", random_faces({5, 3}, 10), 5},
          {"more of them", random_faces({24, 31}, 100), 5},
          {"nine points", random_nine_points({33, 18}, 0), 9},
          {"positive couplings", random_nine_points({10, 9}, 0.4), 9},
          {"even rings", random_nine_points({16, 12, true, true}, 0), 9},
          {"odd rings", random_nine_points({9, 7, true, true}, 0), 9},
          {"five points around", periodic({12, 10, true, true}, 0.01), 5},
          {"masked", identity_rows(random_nine_points({30, 27}, 0), dry, true), 9},
          {"columns of known values", identity_rows(random_faces({17, 13}, 10), rim, false), 5},
          {"scaled", scaled(random_faces({13, 10}, 10), D), 5},
          {"singular", neumann(9, 7), 5},
          {"two ponds", two_ponds(10, 8), 5}};
}

const std::vector<std::string> choices{
    "",
    "-pc_rrb_levels 1",
    "-pc_rrb_levels 3 -pc_rrb_gather_size 0",
    "-pc_rrb_levels 6 -pc_rrb_gather_size 0",
    "-pc_rrb_levels 6 -pc_rrb_gather_size 60 -pc_rrb_lumping 0.7 -pc_rrb_lump_nodes both",
    "-pc_rrb_levels 8 -pc_rrb_gather_size 0 -pc_rrb_cycle amli",
    "-pc_rrb_levels 8 -pc_rrb_gather_size 60 -pc_rrb_cycle amli",
    "-pc_rrb_levels 8 -pc_rrb_gather_size 1000000 -pc_rrb_cycle amli",
    "-pc_rrb_levels 7 -pc_rrb_gather_size 200 -pc_rrb_storage naive",
    "-pc_rrb_levels 4 -pc_rrb_gather_size 0 -pc_rrb_coarse inverse",
    "-pc_rrb_levels 9 -pc_rrb_red_nodes support -pc_rrb_cycle amli"};

// Each call gives the next one.
class Turns {
public:
  const std::string &next() { return choices[turn_++ % choices.size()]; }

private:
  std::size_t turn_ = 0;
};

inline void set_null_spaces_on(const Distributed &d, const reference::Problem &problem) {
  using Space = Handle<MatNullSpace, MatNullSpaceDestroy>;
  const auto space_of = [&](const std::vector<reference::Vector> &all) {
    std::vector<Vector> vectors;
    std::vector<Vec> basis;
    Space space;
    for (const reference::Vector &v : all) {
      vectors.push_back(vector_on(d, v));
      ok(VecNormalize(vectors.back(), nullptr));
      basis.push_back(vectors.back());
    }
    ok(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, PetscInt(basis.size()), basis.data(), space.put()));
    return space;
  };
  if (!problem.v.empty()) ok(MatSetNearNullSpace(d.A, space_of({problem.v})));
  if (!problem.null_space.empty()) ok(MatSetNullSpace(d.A, space_of(problem.null_space)));
}

// Whole lines on each rank, as even as can be.
inline std::vector<int> whole_lines(const reference::Grid &g) {
  std::vector<int> rows;
  for (int r = 0; r < ranks(); ++r) rows.push_back(g.nx * (g.ny * (r + 1) / ranks() - g.ny * r / ranks()));
  return rows;
}

// Boxes, and then lines: whole ones, parts, or none on the first rank. Each time in another way: many ranks share few
// cores in tests.
inline void some_distributions(const Case &c, const std::function<void(const Distributed &, const std::string &)> &f) {
  static std::size_t turn = 0;
  const int n = c.problem.A.size();
  const std::vector<Partition> boxes = partitions(c.shape());
  const std::vector<int> rows[] = {whole_lines(c.problem.grid), uneven_rows(n), rows_without_first(n)};
  const char *const words[] = {"lines", "parts of lines", "none on the first rank"};
  const auto use = [&](const Distributed &d, const std::string &what) {
    set_null_spaces_on(d, c.problem);
    f(d, c.name + ", " + what);
  };
  if (!boxes.empty()) {
    const Partition &p = boxes[turn % boxes.size()];
    use(on_dmda(c.problem.A, c.shape(), p), std::to_string(p.x) + " x " + std::to_string(p.y) + " boxes");
  }
  use(by_rows(c.problem.A, rows[turn % 3]), words[turn % 3]);
  ++turn;
}

inline Recorded recorded_on(KSP ksp, const Distributed &d, const reference::Vector &b,
                            const reference::Vector &x0 = {}) {
  const PetscReal *history;
  PetscInt length;
  ok(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
  Recorded out{solve_on(ksp, d, b, x0), {}};
  ok(KSPGetResidualHistory(ksp, &history, &length));
  out.history.assign(history, history + length);
  return out;
}

// A monitor that applies the preconditioner, and builds the solution and its residual.
inline PetscErrorCode disturb(KSP ksp, PetscInt, PetscReal norm, void *context) {
  Vec b, x, r;
  PC pc;
  PetscReal size;
  PetscFunctionBegin;
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetPC(ksp, &pc));
  const Vector z = like(b), work = like(b), residual = like(b);
  PetscCall(PCApply(pc, b, z));
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  PetscCall(KSPBuildResidual(ksp, work, residual, &r));
  PetscCall(VecNorm(r, NORM_2, &size));
  EXPECT_NEAR(size, norm, 1e-8 * norm + 1e-13 * *static_cast<PetscReal *>(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctest::distributed
