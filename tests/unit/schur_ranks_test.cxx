// The fused RRB-solver on boxes of several ranks, simulated, against the same on one.
#include "boxes_support.hpp"

#include "pc/rrb/ranks/distributed.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"

using namespace petscrrb::rrb;
using namespace petscrrb::rrbsolver;
using namespace support;
using reference::Vector;

namespace {

using CG = IterationOnHost<SchurCG<petscrrb::Host>>;

constexpr int most = 8;

struct Case {
  Options options;
  int distributed;
  Precision precision = Precision::in_double;
};

struct Iterates {
  std::vector<Numbers> numbers; // of the start, and of each step
  Vector x;                     // after the last one
  bool positive = true, amli = false;
};

Numbers after_start(CG &cg, const double *r0, Norm norm, const CG::Solve &solve) {
  EXPECT_EQ(cg.start(r0, norm, solve), 0);
  return cg.started(norm);
}
Numbers after_step(CG &cg, Norm norm, const CG::Solve &solve) {
  std::vector<Numbers> steps;
  EXPECT_EQ(cg.run(norm, {}, false, solve, steps), 0);
  return steps.back();
}

// r0 and x: of the box. In between somebody applies the preconditioner. enough(numbers): no more steps.
template <class Enough>
Iterates iterate(support::Core &core, CG &cg, petscrrb::Stencil &s, const Vector &r0, Norm norm, const Enough &enough) {
  const CG::Solve solve = LastBlockSolver(core);
  Iterates result;
  Vector z(r0.size());
  result.x.assign(r0.size(), 1.0);
  for (int twice = 0; twice < 2; ++twice) { // a start leaves nothing behind
    cg.refresh(prepared(s), nullptr);
    result.positive = cg.refreshed();
    result.numbers = {after_start(cg, r0.data(), norm, solve)};
    for (int i = 0; !enough(result); ++i) {
      if (i % 3 == 1) {
        Cycle(core).apply(r0.data(), z.data(), Part::whole, solve);
        cg.resume(solve);
      }
      result.numbers.push_back(after_step(cg, norm, solve));
    }
  }
  result.amli = core.amli().used;
  cg.solution(r0.data(), result.x.data(), true);
  return result;
}

petscrrb::Stencil five_points(const reference::Problem &p) { return stencil_of(p.A, grid_of(p.grid), false, p.v); }

Iterates on_one(const reference::Problem &p, const Case &c, const Vector &r0, Norm norm) {
  RealRRB rrb(converted(p), {c.options.levels, 1.0, false, c.options.levels / 2, 8, c.options.amli_grid, c.precision,
                             c.options.amli_apart});
  const petscrrb::Host host;
  CG cg(host, rrb.core());
  petscrrb::Stencil s = five_points(p);
  return iterate(rrb.core(), cg, s, r0, norm, [](const Iterates &i) {
    const double rho = i.numbers.back().rho;
    return i.numbers.size() > most || !(rho > 1e-12 * i.numbers[0].rho);
  });
}

// As many steps as `one` has.
Iterates on_ranks(const reference::Problem &p, const Partition &parts, const Case &c, const Vector &r0, Norm norm,
                  const Iterates &one) {
  const petscrrb::Grid grid = grid_of(p.grid);
  const Boxes boxes(parts.x, parts.y, grid.periodic[0], grid.periodic[1]);
  const petscrrb::Stencil factored = stencil_of(p.A, grid, true, p.v), matrix = five_points(p);
  const int distributed = std::min(c.distributed, most_distributed(boxes, c.options.levels));
  Iterates all;
  all.x.assign(r0.size(), NAN);
  std::mutex mutex;
  SimulatedRanks::run(boxes.count(), [&](Ranks &ranks) {
    const petscrrb::Host host;
    Options options = c.options;
    options.storage_grids = options.levels / 2;
    const auto rrb = make_distributed(host, ranks, boxes, options, distributed, c.precision);
    const Extent x = rrb->extent();
    petscrrb::Stencil own_factored = part_of(factored, grid.n[0], x), own = part_of(matrix, grid.n[0], x);
    rrb->refresh(prepared(own_factored), {});
    EXPECT_TRUE(rrb->outcome().ok);
    Cycle<support::Core>(*rrb).estimate(LastBlockSolver(*rrb));
    CG cg(host, *rrb, rrb.get());
    const Iterates mine = iterate(*rrb, cg, own, part_of(r0, grid.n[0], x), norm,
                                  [&](const Iterates &i) { return i.numbers.size() == one.numbers.size(); });
    const std::lock_guard<std::mutex> lock(mutex);
    put_part(mine.x, grid.n[0], x, all.x);
    if (all.numbers.empty()) all.numbers = mine.numbers;
    for (std::size_t i = 0; i < mine.numbers.size(); ++i) { // all ranks take the same decisions
      EXPECT_EQ(mine.numbers[i].rho, all.numbers[i].rho);
      EXPECT_EQ(mine.numbers[i].curvature, all.numbers[i].curvature);
      EXPECT_EQ(mine.numbers[i].norm, all.numbers[i].norm);
    }
    all.positive &= mine.positive;
    all.amli = mine.amli;
  });
  return all;
}

bool expect_same(const reference::Problem &p, const Partition &parts, Case c, Norm norm, const std::string &what) {
  c.options.levels = std::min(c.options.levels, max_levels(p.grid.nx, p.grid.ny));
  if (c.options.amli_grid >= c.options.levels / 2) c.options.amli_grid = 0;
  const Vector r0 = p.A.multiply(reference::random_vector(p.A.size(), 3));
  const Iterates one = on_one(p, c, r0, norm);
  EXPECT_TRUE(one.positive) << what;
  EXPECT_GT(one.numbers[0].rho, 0) << what;
  const Iterates many = on_ranks(p, parts, c, r0, norm, one);
  SCOPED_TRACE(what + ", " + words(parts) + ", levels " + std::to_string(c.options.levels) + ", AMLI's grid " +
               std::to_string(c.options.amli_grid) + ", " + std::to_string(c.distributed) +
               " grids distributed, norm " + std::to_string(int(norm)));
  EXPECT_TRUE(many.positive);
  EXPECT_EQ(many.amli, one.amli);
  const std::size_t tested = norm == Norm::preconditioned; // from there on there is a norm
  double tolerance = 1e-11, largest = tested ? reference::norm(one.x) : 0.0;
  for (std::size_t i = tested; i < one.numbers.size(); ++i) largest = std::max(largest, one.numbers[i].norm);
  for (std::size_t i = 0; i < one.numbers.size(); ++i, tolerance *= 4) { // what rounding becomes in conjugate gradients
    const Numbers &a = one.numbers[i], &b = many.numbers[i];
    EXPECT_NEAR(a.rho, b.rho, tolerance * one.numbers[0].rho) << i;
    if (i >= 1) {
      EXPECT_NEAR(a.curvature, b.curvature, tolerance * one.numbers[1].curvature) << i;
    }
    if (i >= tested) {
      EXPECT_NEAR(a.norm, b.norm, tolerance * largest) << i;
    }
  }
  EXPECT_LT(reference::difference(many.x, one.x), 1e-10 * reference::norm(one.x));
  return one.amli;
}

Options options_of(int levels, int amli_grid = 0) {
  Options o;
  o.levels = levels;
  o.block = 8;
  o.amli_grid = amli_grid;
  return o;
}

std::vector<std::pair<std::string, reference::Problem>> problems() {
  std::vector<std::pair<std::string, reference::Problem>> all;
  for (auto &entry : reference::zoo()) {
    const bool corners = entry.first.find("nine") == 0 || entry.first.find("periodic") == 0 ||
                         entry.first == "positive couplings" || entry.first == "bilinear" ||
                         entry.first == "diagonal canal" || entry.first == "two by two";
    if (!corners) all.push_back(std::move(entry));
  }
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 5 == 0 || (i > 8 && j > 12); };
  for (const auto &[nx, ny] : {std::pair{5, 3}, {3, 3}, {2, 2}, {23, 29}, {33, 18}, {40, 37}})
    all.push_back(
        {"random faces, " + std::to_string(nx) + " x " + std::to_string(ny), reference::random_faces({nx, ny}, 100)});
  all.push_back({"masked", reference::identity_rows(reference::random_faces({30, 27}, 10), dry, true)});
  for (const auto &[nx, ny] : {std::pair{4, 4}, {8, 6}, {12, 10}, {16, 4}})
    for (const bool in_y : {false, true})
      all.push_back({"around, " + std::to_string(nx) + " x " + std::to_string(ny),
                     reference::periodic({nx, ny, true, in_y}, 0.01)});
  all.push_back({"around, singular", reference::periodic({8, 12, true, true}, 0)});
  return all;
}

constexpr Norm norms[] = {Norm::natural, Norm::unpreconditioned, Norm::preconditioned, Norm::none};

template <class Visit> void each_partition(unsigned seed, const Visit &visit) {
  reference::Random random(seed);
  int turn = 0;
  for (const auto &[name, problem] : problems())
    for (const Partition &parts : partitions(problem.grid, random)) visit(name, problem, parts, turn++);
}

TEST(SchurRanks, HaveTheIteratesOfOne) {
  const std::pair<int, int> choices[] = {{2, 1}, {3, 1},   {5, 2}, {6, 2},
                                         {6, 3}, {99, 99}, {8, 1}}; // levels, distributed
  each_partition(7, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    const auto &[levels, distributed] = choices[turn % 7];
    expect_same(problem, parts, {options_of(levels), distributed, precisions[turn % 5 % 3]}, norms[turn % 4], name);
  });
}

// Below the gathered grid, at it, and above.
TEST(SchurRanks, DoAmliOnAnyGrid) {
  const std::pair<int, int> choices[] = {{2, 1}, {2, 2}, {2, 4}, {1, 1}, {1, 3}}; // AMLI's grid, distributed
  int used = 0;
  each_partition(8, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    const auto &[amli, distributed] = choices[(turn + turn / 5) % 5];
    Options options = options_of(8, amli);
    options.amli_apart = turn % 3; // 0: one step
    used += expect_same(problem, parts, {options, distributed, precisions[turn % 2 ? 2 : 0]}, norms[turn % 4], name);
  });
  EXPECT_GT(used, 30);
}

TEST(SchurRanks, MayHaveOnePointEach) {
  for (const auto &[nx, ny] : {std::pair{5, 3}, {3, 5}, {1, 9}, {8, 1}, {4, 4}})
    expect_same(reference::random_faces({nx, ny}, 10), {even_cuts(nx, nx), even_cuts(ny, ny)}, {options_of(99), 99},
                Norm::natural, "one point each");
  expect_same(reference::periodic({4, 4, true, true}, 0.1), {even_cuts(4, 4), even_cuts(4, 4)}, {options_of(99), 99},
              Norm::unpreconditioned, "one point each, around");
}

// Boxes that are large enough to be swept by several threads.
TEST(SchurRanks, ShareABoxBetweenThreads) {
  const reference::Problem problem = reference::random_faces({300, 281}, 10);
  expect_same(problem, {{0, 300}, {0, 133, 281}}, {options_of(10), 3}, Norm::natural, "threads");
  expect_same(problem, {{0, 149, 300}, {0, 281}}, {options_of(10), 1}, Norm::unpreconditioned, "threads");
}

} // namespace
