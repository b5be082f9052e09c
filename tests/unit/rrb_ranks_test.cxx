// RRB on boxes of several ranks, simulated, against RRB on one.
#include "boxes_support.hpp"
#include "by_support.hpp"

#include "exec/host/sums.hpp"
#include "pc/rrb/host/box_sweeps.hpp"
#include "pc/rrb/ranks/distributed_apply.hpp"
#include "pc/rrb/ranks/distributed_factor.hpp"
#include "pc/rrb/ranks/gathered_graph.hpp"
#include "pc/rrb/host/grid_product.hpp"

using namespace petscrrb::rrb;

namespace {

using petscrrb::index_t;
using namespace support;

struct Case {
  Options options;
  Lumping lumping;
  int distributed;
  std::vector<Part> parts{Part::whole}; // one applied to the other's result
};

struct Result {
  reference::Vector z;
  Outcome outcome;
};

// z = M^-1 r by the ranks together.
Result apply(const reference::Problem &p, const Partition &parts, const Case &c, const reference::Vector &r) {
  const petscrrb::Grid grid = grid_of(p.grid);
  const Boxes boxes(parts.x, parts.y, grid.periodic[0], grid.periodic[1]);
  const petscrrb::Stencil whole = support::stencil_of(p.A, grid, true, p.v);
  Result all{reference::Vector(r.size(), NAN), {}};
  std::mutex mutex;
  SimulatedRanks::run(boxes.count(), [&](Ranks &ranks) {
    const petscrrb::Host host;
    const int distributed = std::min(c.distributed, most_distributed(boxes, c.options.levels));
    DistributedRrb<petscrrb::Host, double> rrb(host, ranks, boxes, c.options, distributed);
    const Extent x = rrb.extent();
    const petscrrb::Stencil mine = part_of(whole, grid.n[0], x);
    const reference::Vector own_r = part_of(r, grid.n[0], x);
    reference::Vector own_z(x.nodes());
    Outcome outcome;
    petscrrb::Stencil overwritten;
    for (int twice = 0; twice < 2; ++twice) { // a refresh leaves nothing behind
      overwritten = mine;
      rrb.refresh(prepared(overwritten), c.lumping);
      outcome = rrb.outcome();
      if (!outcome.ok) continue;
      const LastBlockSolver solve(rrb);
      Cycle(rrb).estimate(solve);
      reference::Vector x = own_r;
      for (const Part part : c.parts) {
        Cycle(rrb).apply(x.data(), own_z.data(), part, solve);
        x = own_z;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    if (ranks.rank() == 0) all.outcome = outcome;
    put_part(own_z, grid.n[0], x, all.z);
  });
  return all;
}

void expect_same(const reference::Problem &p, const Partition &parts, Case c, const std::string &what) {
  c.options.levels = std::min(c.options.levels, max_levels(p.grid.nx, p.grid.ny));
  const int amli = c.options.amli_grid < c.options.levels / 2 ? c.options.amli_grid : 0;
  c.options.amli_grid = amli;
  c.options.storage_grids = std::min(c.options.storage_grids, c.options.levels / 2);
  support::Choice choice{c.options.levels, c.lumping.omega, c.lumping.both, 0, 8, amli};
  choice.test = c.lumping.test;
  choice.amli_apart = c.options.amli_apart;
  support::RealRRB one(support::converted(p), choice);
  ASSERT_TRUE(one.outcome().ok && !one.redone()) << what;
  const reference::Vector r = reference::random_vector(p.A.size(), 3), z = one.apply(r);
  const Result many = apply(p, parts, c, r);
  const std::string where = what + ", " + words(parts) + ", levels " + std::to_string(c.options.levels) + ", " +
                            std::to_string(c.distributed) + " grids distributed";
  EXPECT_LT(reference::difference(many.z, z), 1e-12 * reference::norm(z)) << where;
  EXPECT_EQ(many.outcome.unlumped, one.outcome().unlumped) << where;
  EXPECT_EQ(many.outcome.null, one.outcome().null) << where;
  EXPECT_EQ(many.outcome.unsupported, one.outcome().unsupported) << where;
}

Options options_of(int levels) {
  Options o;
  o.levels = levels;
  o.block = 8;
  return o;
}

// visit(name, problem, partition, turn): a test takes another one of its choices at each turn, since threads cost more than
// what they do here. There are five partitions of each problem.
template <class Visit> void each_partition(unsigned seed, const Visit &visit) {
  reference::Random random(seed);
  int turn = 0;
  for (const auto &[name, problem] : reference::zoo_and_rings())
    for (const Partition &parts : partitions(problem.grid, random)) visit(name, problem, parts, turn++);
}

TEST(RrbRanks, AreTheSameOperatorAsOne) {
  const std::pair<int, int> choices[] = {{2, 1}, {3, 1}, {5, 2}, {6, 2}, {6, 3}, {99, 99}}; // levels, distributed
  each_partition(7, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    const auto &[levels, distributed] = choices[turn % 6];
    expect_same(problem, parts, {options_of(levels), {}, distributed}, name);
  });
}

TEST(RrbRanks, AreTheSameWithOtherLumping) {
  each_partition(8, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    expect_same(problem, parts, turn % 2 ? Case{options_of(5), {0.7, true}, 2} : Case{options_of(99), {1, true}, 99},
                name);
  });
}

// Plain red nodes: the same ones fail, also those whose couplings reach across a cut.
TEST(RrbRanks, TestTheirRedNodesAsOne) {
  const Lumping tested{1.0, false, true};
  each_partition(12, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    expect_same(problem, parts, {options_of(6), tested, 1 + turn % 3}, name);
  });
  reference::Random random(13);
  for (const auto &[name, problem] : reference::rough_problems())
    for (const Partition &parts : partitions(problem.grid, random))
      expect_same(problem, parts, {options_of(8), tested, 3}, name);
}

// To the bit: every rank factors what one does, and applications are shared or not.
TEST(RrbRanks, HaveTheRedNodesBySupportOfOne) {
  reference::Random random(14);
  for (const auto &[name, problem] : reference::rough_problems()) {
    support::Choice choice;
    choice.levels = 99, choice.support = true, choice.amli_grid = 1;
    support::RealRRB one(support::converted(problem), choice);
    ASSERT_TRUE(one.outcome().ok && !one.redone()) << name;
    const reference::Vector r = reference::random_vector(problem.A.size(), 3), z = one.apply(r);
    const petscrrb::Grid grid = grid_of(problem.grid);
    const petscrrb::Stencil whole = support::stencil_of(problem.A, grid, true, problem.v, petscrrb::Positive::stays);
    index_t gathered = 0;
    for (const Partition &parts : partitions(problem.grid, random)) {
      const Boxes boxes(parts.x, parts.y, grid.periodic[0], grid.periodic[1]);
      gathered = gathered ? gathered * 10 % 99999 : 1; // 1, 10, ..., 10000
      reference::Vector together(r.size(), NAN);
      std::mutex mutex;
      SimulatedRanks::run(boxes.count(), [&](Ranks &ranks) {
        const petscrrb::Host host;
        const auto rrb = make_graph_on_ranks(host, ranks, boxes, true);
        petscrrb::Stencil mine = part_of(whole, grid.n[0], rrb->extent());
        const reference::Vector own_r = part_of(r, grid.n[0], rrb->extent());
        reference::Vector own_z(own_r.size());
        Options o = options_of(99);
        o.last_unknowns = 1, o.amli_grid = 1;
        rrb->gather(prepared(mine));
        rrb->choose(o, false, {}, gathered);
        rrb->prepare_exchanges();
        for (int twice = 0; twice < 2; ++twice) {
          if (twice) rrb->refresh(prepared(mine), {});
          const LastBlockSolver solve(*rrb);
          Cycle(*rrb).estimate(solve);
          Cycle(*rrb).apply(own_r.data(), own_z.data(), Part::whole, solve);
        }
        const std::lock_guard<std::mutex> lock(mutex);
        EXPECT_EQ(rrb->unknowns_by_level(), one.core().unknowns_by_level()) << name << ", " << words(parts);
        put_part(own_z, grid.n[0], rrb->extent(), together);
      });
      EXPECT_EQ(together, z) << name << ", " << words(parts);
    }
  }
}

// Below the gathered grid, in either storage, at it, and above.
TEST(RrbRanks, DoAmliOnAnyGrid) {
  const std::pair<int, int> choices[] = {{1, 0}, {1, 3}, {2, 0}, {4, 0}}; // distributed, in r1/r2/b1/b2 storage
  each_partition(10, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    Options options = options_of(8);
    options.amli_grid = 2;
    options.storage_grids = choices[turn % 4].second;
    expect_same(problem, parts, {options, {}, choices[turn % 4].first}, name);
  });
}

TEST(RrbRanks, DoAmliInSeveralSteps) {
  const std::pair<int, int> choices[] = {{1, 0}, {1, 3}, {2, 0}, {2, 3}, {3, 0}, {4, 0}}; // as above
  each_partition(12, [&](const auto &name, const auto &problem, const Partition &parts, int turn) {
    Options options = options_of(8);
    options.amli_grid = 1;
    options.amli_apart = 1 + turn / 6 % 2;
    options.storage_grids = choices[turn % 6].second;
    expect_same(problem, parts, {options, {}, choices[turn % 6].first}, name);
  });
}

TEST(RrbRanks, HaveHalves) {
  each_partition(11, [&](const auto &name, const auto &problem, const Partition &parts, int) {
    expect_same(problem, parts, {options_of(6), {}, 2, {Part::left, Part::right}}, name);
  });
}

TEST(RrbRanks, MayHaveOnePointEach) {
  for (const auto &[nx, ny] : {std::pair{5, 3}, {4, 4}, {1, 9}, {8, 1}, {3, 3}})
    for (const bool ring : {false, true})
      expect_same(reference::random_nine_points({nx, ny, ring, ring}, 0), {even_cuts(nx, nx), even_cuts(ny, ny)},
                  {options_of(99), {}, 99}, "one point each");
}

// Boxes that are large enough to be swept by several threads.
TEST(RrbRanks, ShareABoxBetweenThreads) {
  const reference::Problem problem = reference::random_nine_points({300, 281}, 0);
  expect_same(problem, {{0, 300}, {0, 133, 281}}, {options_of(10), {}, 3}, "threads");
  expect_same(problem, {{0, 149, 300}, {0, 281}}, {options_of(10), {}, 3, {Part::left, Part::right}}, "threads");
}

// Across a cut of n lines 2 n values go down and n go up, wherever it is.
TEST(RrbRanks, SendAFewLines) {
  const index_t n = 16;
  const auto sent = [](const Boxes &boxes, Exchanged what) {
    std::size_t values = 0;
    for (int rank = 0; rank < boxes.count(); ++rank)
      for (const Plan::Peer &peer : make_plan(boxes, 0, rank, 8, what, 0, 1).peers) {
        EXPECT_NE(peer.rank, rank);
        values += peer.send.size();
      }
    return values;
  };
  for (index_t cut = 3; cut <= 12; ++cut)
    for (const bool in_x : {true, false}) {
      const Cuts one{0, n}, two{0, cut, n};
      const Boxes boxes(in_x ? two : one, in_x ? one : two, false, false);
      EXPECT_EQ(sent(boxes, Exchanged::down), std::size_t(2 * n)) << cut;
      EXPECT_EQ(sent(boxes, Exchanged::solutions), std::size_t(n)) << cut;
    }
}

// The same point, whoever has it.
TEST(RrbRanks, FailTogether) {
  for (const auto &[p, q] : {std::pair{1, 71}, {33, 30}, {30, 30}, {2, 20}, {20, 18}, {20, 20}}) { // of every class
    reference::Problem problem = reference::random_nine_points({9, 8}, 0);
    problem.A.add(p, p, -20);
    problem.A.add(q, q, -20);
    support::RealRRB one(support::converted(problem), {4, 0, false, 0, 8, 0});
    EXPECT_FALSE(one.outcome().ok);
    reference::Random random(9);
    for (const Partition &parts : partitions(problem.grid, random))
      for (const int distributed : {0, 1, 2}) {
        const Result many = apply(problem, parts, {options_of(4), {0, false}, distributed}, reference::Vector(72, 0.0));
        EXPECT_FALSE(many.outcome.ok);
        EXPECT_EQ(many.outcome.failed_level, one.outcome().failed_level) << p << words(parts);
        EXPECT_EQ(many.outcome.failed_i, one.outcome().failed_i) << p << words(parts);
        EXPECT_EQ(many.outcome.failed_j, one.outcome().failed_j) << p << words(parts);
      }
  }
}

} // namespace
