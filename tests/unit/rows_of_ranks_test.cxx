// Rows of several ranks, put together, are those of one, in any order.
#include "pc/rrb/host/rows_of_ranks.hpp"

#include "reference/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace {

using petscrrb::index_t;
using petscrrb::rrb::node_t;

struct Case {
  std::vector<index_t> rows; // of each rank
  int longest;               // row
};

class RowsOfRanks : public testing::TestWithParam<Case> {};

TEST_P(RowsOfRanks, AreThoseOfOne) {
  const auto &[rows, longest] = GetParam();
  const int n = int(std::accumulate(rows.begin(), rows.end(), index_t(0)));
  reference::Random random(5);
  std::vector<std::map<int, double>> A(n); // what each entry is called
  std::vector<PetscInt> place(n);
  std::iota(place.begin(), place.end(), 0);
  for (int i = n - 1; i > 0; i--) std::swap(place[i], place[int(random() * (i + 1))]);
  petscrrb::rrb::RowsOfRanks sent;
  std::vector<node_t> columns;
  std::vector<double> values;
  sent.rows = rows;
  sent.counts.resize(2 * n);
  for (int r = 0, first = 0; r < int(rows.size()); first += int(rows[r++])) {
    const int end = first + int(rows[r]);
    for (int i = first; i < end; i++)
      for (int k = int(random() * longest); k > 0; k--) A[i][int(random() * n)] = random();
    for (int block : {0, 1})
      for (int i = first; i < end; i++)
        for (const auto &[j, a] : A[i])
          if ((j >= first && j < end) == (block == 0)) {
            sent.counts.data()[2 * i + block]++;
            columns.push_back(j);
            values.push_back(a);
          }
  }
  sent.columns.assign(columns);
  petscrrb::rrb::RowsTogether all;
  put_together(sent, place.data(), &all);
  petscrrb::host::Buffer<PetscScalar> from(values.size()), to(values.size());
  std::copy(values.begin(), values.end(), from.data());
  petscrrb::rrb::take_in_order(from, all.from, to.data());

  ASSERT_EQ(all.ja.size(), values.size());
  std::vector<PetscInt> row(n);
  for (int i = 0; i < n; i++) row[place[i]] = i;
  for (int p = 0, e = 0; p < n; p++) {
    std::map<PetscInt, double> expected;
    for (const auto &[j, a] : A[row[p]]) expected[place[j]] = a;
    ASSERT_EQ(all.ia.data()[p], e);
    for (const auto &[j, a] : expected) {
      ASSERT_EQ(all.ja.data()[e], j) << "row " << p;
      ASSERT_EQ(to.data()[e], a) << "row " << p;
      e++;
    }
  }
  EXPECT_EQ(all.ia.data()[n], PetscInt(values.size()));
}

INSTANTIATE_TEST_SUITE_P(, RowsOfRanks,
                         testing::Values(Case{{1}, 1}, Case{{3, 0, 2}, 4}, Case{{40, 60, 33}, 9}, Case{{0, 0, 7}, 8},
                                         Case{{1500, 1500}, 1200}, Case{{9000, 8000, 3000}, 12}));

} // namespace
