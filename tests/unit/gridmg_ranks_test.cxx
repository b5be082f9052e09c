// Multigrid on boxes of simulated ranks: M is that of one rank, whatever the cuts.
#include "deflation_support.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "reference/problems3d.hpp"
#include "simulated_ranks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

using namespace petscrrb;
using deflationtest::Rows;
using gridmg::Cuts;
using reference::Grid3D;
using reference::Vector;
using support::SimulatedRanks;

namespace {

Cuts cuts_of(const Grid3D &g, const std::array<std::vector<index_t>, 3> &inner) {
  Cuts cuts;
  for (int q = 0; q < 3; ++q) {
    cuts.at[q] = {0};
    cuts.at[q].insert(cuts.at[q].end(), inner[q].begin(), inner[q].end());
    cuts.at[q].push_back(g.n[q]);
    cuts.ring[q] = g.periodic[q] && g.n[q] > 2;
  }
  return cuts;
}

// The rows of a rank's box and of what is around it, and one for all others.
struct BoxRows {
  std::vector<PetscInt> ia{0}, ja;
  std::vector<PetscScalar> a;
  std::vector<index_t> own; // their places among all

  BoxRows(const reference::Matrix &A, const Cuts &cuts, int rank) {
    const gridmg::Shape box = cuts.box(rank);
    index_t first[3], end[3];
    for (int q = 0; q < 3; ++q) first[q] = -index_t(box.more_before[q]), end[q] = box.n[q] + box.more_after[q];
    const auto n = cuts.whole().n;
    std::map<index_t, PetscInt> number;
    std::vector<index_t> rows;
    for (index_t k = first[2]; k < end[2]; ++k)
      for (index_t j = first[1]; j < end[1]; ++j)
        for (index_t i = first[0]; i < end[0]; ++i) {
          const index_t at[3] = {i, j, k};
          index_t p = 0;
          bool mine = true;
          for (int q = 2; q >= 0; --q) {
            p = p * n[q] + (cuts.first(rank, q) + at[q] + n[q]) % n[q];
            mine &= at[q] >= 0 && at[q] < box.n[q];
          }
          EXPECT_TRUE(number.emplace(p, PetscInt(rows.size())).second) << "a point is on two sides";
          rows.push_back(p);
          if (mine) own.push_back(p);
        }
    for (const index_t p : rows) {
      std::map<PetscInt, double> row; // in order
      for (const auto &[column, value] : A.row[std::size_t(p)]) {
        const auto there = number.find(column);
        row[there == number.end() ? PetscInt(rows.size()) : there->second] = value;
      }
      for (const auto &[column, value] : row) ja.push_back(column), a.push_back(value);
      ia.push_back(PetscInt(ja.size()));
    }
    ja.push_back(0), a.push_back(1.0);
    ia.push_back(PetscInt(ja.size()));
  }
  Csr csr() const { return {PetscInt(ia.size()) - 1, ia.data(), ja.data(), a.data()}; }
};

void together(rrb::Ranks &ranks, const std::function<void()> &f) {
  std::string what;
  try {
    f();
  } catch (const std::exception &e) {
    what = e.what();
  }
  double failed = 0;
  for (const double x : ranks.gather_numbers({what.empty() ? 0.0 : 1.0})) failed += x;
  if (failed > 0) throw std::runtime_error(what.empty() ? "another rank's error" : what);
}

void agree(rrb::Ranks &ranks, RowFacts &f) {
  const std::vector<double> all =
      ranks.gather_numbers({double(f.identity_rows), f.asymmetry, double(f.not_finite), double(f.foreign), f.norm});
  f.identity_rows = 0;
  for (std::size_t i = 0; i < all.size(); i += 5) {
    f.identity_rows += index_t(all[i]);
    f.asymmetry = std::max(f.asymmetry, all[i + 1]), f.norm = std::max(f.norm, all[i + 4]);
    f.not_finite |= all[i + 2] > 0, f.foreign |= all[i + 3] > 0;
  }
}

std::vector<BoxRows> on_boxes(const reference::Matrix &A, const Cuts &cuts) {
  std::vector<BoxRows> boxes;
  for (int rank = 0; rank < cuts.count(); ++rank) boxes.emplace_back(A, cuts, rank);
  return boxes;
}

// M^-1 r on ranks, and the grids of rank 0. before: a matrix that there are two refreshes of before two of A.
Vector on_ranks(const std::vector<BoxRows> &A, const Cuts &cuts, const gridmg::Options &o, index_t gather_size,
                bool single, const Vector &r, std::vector<gridmg::GridReport> *report,
                const std::vector<BoxRows> *before = nullptr) {
  Vector z(r.size(), std::nan(""));
  SimulatedRanks::run(cuts.count(), [&](rrb::Ranks &ranks) {
    gridmg::Dealt dealt{&ranks, cuts, gather_size, [&](const auto &f) { together(ranks, f); },
                        [&](RowFacts &f) { agree(ranks, f); }};
    const auto M = gridmg::make_gridmg(dealt, 7, o, single);
    const auto rank = std::size_t(ranks.rank());
    const BoxRows &rows = A[rank], &others = before ? (*before)[rank] : rows;
    for (int n = before ? 0 : 3; n < 4; ++n) {
      const gridmg::Findings found = M->refresh(n < 2 ? others.csr() : rows.csr());
      ASSERT_EQ(found.read.result(), ReadResult::ok);
      ASSERT_FALSE(found.failed);
    }
    Vector mine, solution(rows.own.size());
    for (const index_t p : rows.own) mine.push_back(r[std::size_t(p)]);
    M->apply(mine.data(), solution.data());
    for (std::size_t i = 0; i < rows.own.size(); ++i) z[std::size_t(rows.own[i])] = solution[i];
    if (ranks.rank() == 0) *report = M->report();
  });
  return z;
}

struct Case {
  Grid3D g;
  std::array<std::vector<index_t>, 3> cuts;
  int dealt; // grids that are smoothed on boxes, with points everywhere and full coarsening, down to 4 points
};
const std::vector<Case> cases = {
    {{{16, 16, 16}, {}}, {{{8}, {}, {}}}, 3},
    {{{16, 16, 16}, {}}, {{{8}, {8}, {8}}}, 3},
    {{{16, 12, 18}, {}}, {{{4, 8}, {8}, {}}}, 2},
    {{{17, 15, 13}, {}}, {{{8}, {4}, {8}}}, 2},
    {{{16, 16, 16}, {true, true, true}}, {{{8}, {}, {8}}}, 3},
    {{{16, 9, 7}, {true, true, false}}, {{{4, 8}, {}, {4}}}, 1},
    {{{10, 12, 8}, {false, true, true}}, {{{}, {4}, {4}}}, 2},
    {{{12, 8, 8}, {}}, {{{5}, {}, {}}}, 0},                     // cut at an odd point
    {{{16, 16, 1}, {true, false, false}}, {{{8}, {8}, {}}}, 3}, // 2D
    {{{16, 6, 6}, {}}, {{{0, 8, 16}, {}, {}}}, 2},              // ranks without points
    {{{4, 4, 4}, {true, true, true}}, {{{2}, {2}, {2}}}, 1},
    {{{3, 5, 3}, {false, true, false}}, {{{}, {}, {2}}}, 0}, // a box without a coarse point
};

TEST(GridMGOnBoxes, IsThatOfOneRank) {
  int turn = 0; // what is gathered elsewhere goes with a third of the choices
  for (const Case &c : cases) {
    const reference::Matrix A = reference::random_couplings(c.g, 10.0, 0.1).A;
    const Cuts cuts = cuts_of(c.g, c.cuts);
    const auto boxes = on_boxes(A, cuts), before = on_boxes(reference::random_couplings(c.g, 1000.0, 0.1).A, cuts);
    const Rows rows(A);
    const Vector r = reference::random_vector(A.size(), 3);
    for (const auto smoother : {gridmg::Smoother::points, gridmg::Smoother::automatic, gridmg::Smoother::lines})
      for (const auto coarsening : {gridmg::Coarsening::full, gridmg::Coarsening::automatic, gridmg::Coarsening::semi})
        for (const int smooths : {1, 2})
          for (const index_t gather_size : {4, 100, 100000}) {
            if (gather_size != 4 && (smooths == 2 || ++turn % 3)) continue;
            gridmg::Options o;
            o.smoother = smoother, o.coarsening = coarsening, o.smooths = smooths, o.coarse_size = 1;
            const auto one = gridmg::make_gridmg(gridmg::Dealt{nullptr, cuts_of(c.g, {})}, 7, o, false);
            ASSERT_FALSE(one->refresh(rows.csr()).failed);
            Vector expected(r.size());
            one->apply(r.data(), expected.data());
            std::vector<gridmg::GridReport> report;
            const Vector z = on_ranks(boxes, cuts, o, gather_size, false, r, &report, smooths == 2 ? &before : nullptr);
            double most = 0;
            for (const double x : expected) most = std::max(most, std::fabs(x));
            const std::string what = std::to_string(c.g.n[0]) + " x " + std::to_string(c.g.n[1]) + " x " +
                                     std::to_string(c.g.n[2]) + ", " + std::to_string(cuts.count()) +
                                     " ranks, smoother " + std::to_string(int(smoother)) + " coarsening " +
                                     std::to_string(int(coarsening)) + " smooths " + std::to_string(smooths) +
                                     " gather " + std::to_string(gather_size);
            for (std::size_t i = 0; i < z.size(); ++i)
              ASSERT_NEAR(z[i], expected[i], 1e-12 * most) << what << ", at " << i;
            const auto grids = one->report();
            ASSERT_EQ(report.size(), grids.size()) << what;
            int dealt = 0;
            for (std::size_t i = 0; i < grids.size(); ++i) {
              EXPECT_EQ(report[i].n, grids[i].n) << what;
              EXPECT_EQ(report[i].lines, grids[i].lines) << what;
              dealt += report[i].dealt && report[i].smooth;
            }
            if (gather_size == 4 && smoother != gridmg::Smoother::automatic && coarsening == gridmg::Coarsening::full) {
              EXPECT_EQ(dealt, c.dealt) << what;
            }
            if (gather_size == 100000) {
              EXPECT_EQ(dealt, 0) << what;
            }
            std::vector<gridmg::GridReport> of_single;
            const Vector single = on_ranks(boxes, cuts, o, gather_size, true, r, &of_single);
            for (std::size_t i = 0; i < z.size(); ++i) ASSERT_NEAR(single[i], z[i], 1e-3 * most) << what << ", single";
          }
  }
}

} // namespace
