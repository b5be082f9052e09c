// What the rows of several ranks say about the nonzeros of a matrix, together, is what those of one say.
#include "grid/reach.hpp"
#include "cut_rows.hpp"
#include "small_matrix.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace petscrrb;
using namespace cut_rows;

namespace {

void expect_same_fit(const AllRanks &ranks, HostPattern &all, const Grid &g) {
  const Fit expected = all.fit(g);
  Fit found;
  for (std::size_t r = 0; r < ranks.count(); ++r) {
    const Fit f = ranks.pattern(r).fit(g);
    if (!f.ok() && (found.ok() || f.row < found.row)) found.row = f.row, found.column = f.column;
    found.seen |= f.seen;
    for (int x = 0; x < 3; ++x) found.seam[x] |= f.seam[x];
  }
  EXPECT_EQ(found.row, expected.row);
  if (!expected.ok()) {
    double value = 0;
    for (std::size_t r = 0; r < ranks.count(); ++r) value += ranks.pattern(r).coupling(found.row, found.column);
    EXPECT_EQ(value, all.coupling(found.row, found.column));
    return; // what is seen up to there depends on who looks
  }
  EXPECT_EQ(found.seen, expected.seen);
  for (int x = 0; x < 3; ++x) EXPECT_EQ(found.seam[x], expected.seam[x]);
  bool complete = true;
  for (std::size_t r = 0; r < ranks.count(); ++r) {
    bool of_rank;
    const auto missing = ranks.pattern(r).missing(g, expected, &of_rank);
    complete = complete && of_rank;
    for (const PetscInt place : missing)
      for (std::size_t owner = 0; owner < ranks.count(); ++owner)
        complete = complete && !ranks.pattern(owner).has_coupled(place);
  }
  EXPECT_EQ(complete, all.is_complete(g, expected));
}

void expect_same(SmallMatrix &matrix, const Shape &s, const std::vector<Part> &parts) {
  const Csr A = matrix.csr();
  HostPattern all(A);
  const AllRanks ranks(A, parts);
  EXPECT_EQ(ranks.finite(), all.mark_identity().empty());
  for (const std::size_t most : {std::size_t(2), most_distances, most_distances_of_box}) {
    std::vector<index_t> found;
    bool too_many = false;
    for (std::size_t r = 0; r < ranks.count(); ++r) {
      const Distances d = ranks.pattern(r).distances(most);
      too_many |= d.too_many;
      for (const index_t x : d.all)
        if (std::find(found.begin(), found.end(), x) == found.end()) found.push_back(x);
    }
    std::sort(found.begin(), found.end());
    const Distances expected = all.distances(most);
    EXPECT_EQ(too_many || found.size() > most, expected.too_many);
    if (!expected.too_many) {
      EXPECT_EQ(found, expected.all);
    }
  }
  for (Grid g : {grid_of(s), grid_of({s.ny, s.nx, 1, s.py, s.px, false, s.points})})
    for (const int points : {5, 9}) {
      g.points = points;
      expect_same_fit(ranks, all, g);
      expect_same_fit(ranks, all, all_around(g));
    }
}

std::vector<std::vector<Part>> partitions(const Shape &s) {
  std::vector<std::vector<Part>> all{boxes(s.nx, s.ny, 1, 1)};
  if (s.nx > 1) all.push_back(boxes(s.nx, s.ny, 2, 1));
  if (s.ny > 2) all.push_back(boxes(s.nx, s.ny, 1, 3));
  if (s.nx > 2 && s.ny > 1) all.push_back(boxes(s.nx, s.ny, 3, 2));
  all.push_back(slabs({0, s.size() / 3, s.size() - s.size() / 3}));
  all.push_back(slabs({1, s.size() - 1, 0}));
  return all;
}

std::string words(const Shape &s, std::size_t partition) {
  return std::to_string(s.nx) + " x " + std::to_string(s.ny) + (s.px ? " px" : "") + (s.py ? " py" : "") + " " +
         std::to_string(s.points) + ", partition " + std::to_string(partition);
}

} // namespace

TEST(RankPattern, IsThatOfOneRank) {
  unsigned seed = 0;
  for (const int points : {5, 9})
    for (const int nx : {1, 2, 3, 5, 8})
      for (const int ny : {1, 2, 4, 7})
        for (int periodic = 0; periodic < 4; ++periodic) {
          const Shape s{nx, ny, 1, (periodic & 1) != 0, (periodic & 2) != 0, false, points};
          if ((s.px && nx < 3) || (s.py && ny < 3)) continue;
          const auto all = partitions(s);
          for (std::size_t k = 0; k < all.size(); ++k) {
            SCOPED_TRACE(words(s, k));
            SmallMatrix A = random_matrix(s, ++seed);
            expect_same(A, s, all[k]);
            for (int p = 0; p < s.size(); p += 4) A.make_identity(p, p % 8 == 0);
            expect_same(A, s, all[k]);
            if (s.size() > 6) A.set_both(1, s.size() - 2, seed % 2 ? -1.0 : 0.0);
            if (s.size() > 2) A.erase(s.size() / 2, s.size() / 2 - 1);
            expect_same(A, s, all[k]);
          }
        }
}

TEST(RankPattern, SeesWhatIsNotFinite) {
  const Shape s{5, 4};
  SmallMatrix A = random_matrix(s);
  A.set(13, 12, std::numeric_limits<double>::quiet_NaN());
  for (const auto &parts : partitions(s)) EXPECT_FALSE(AllRanks(A.csr(), parts).finite());
}
