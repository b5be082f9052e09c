// Rows of several ranks, put together on each, are those of one, in any order.
#include "exec/host/host.hpp"
#include "pc/rrb/graph/matrix_reader.hpp"

#include "reference/problems.hpp"
#include "simulated_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace {

using petscrrb::index_t;

struct Case {
  std::vector<index_t> rows; // of each rank
  int longest;               // row
};

using Rows = std::vector<std::map<int, double>>;

// What a rank has of them, as PETSc has it: two blocks, and the numbers of the others' rows.
struct Blocks {
  std::vector<PetscInt> ia[2] = {{0}, {0}}, ja[2], ghosts;
  std::vector<double> a[2];

  Blocks(const Rows &A, int first, int end) {
    for (int i = first; i < end; i++)
      for (const auto &[j, value] : A[i])
        if (j < first || j >= end) ghosts.push_back(j);
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    for (int i = first; i < end; i++) {
      for (const auto &[j, value] : A[i]) {
        const bool others = j < first || j >= end;
        ja[others].push_back(others ? PetscInt(std::lower_bound(ghosts.begin(), ghosts.end(), j) - ghosts.begin())
                                    : j - first);
        a[others].push_back(value);
      }
      for (int b : {0, 1}) ia[b].push_back(PetscInt(ja[b].size()));
    }
  }
  petscrrb::RankRows rows() const {
    petscrrb::RankRows rows;
    petscrrb::Csr *const blocks[] = {&rows.own, &rows.others};
    rows.n = PetscInt(ia[0].size()) - 1;
    for (int b : {0, 1})
      if (!ja[b].empty()) *blocks[b] = {rows.n, ia[b].data(), ja[b].data(), a[b].data()};
    return rows;
  }
};

class RowsOfRanks : public testing::TestWithParam<Case> {};

TEST_P(RowsOfRanks, AreThoseOfOne) {
  const auto &[rows, longest] = GetParam();
  const int n = int(std::accumulate(rows.begin(), rows.end(), index_t(0))), ranks = int(rows.size());
  reference::Random random(5);
  Rows A(n), changed(n);
  std::vector<PetscInt> place(n), row(n);
  for (int i = 0; i < n; i++)
    for (int k = int(random() * longest); k > 0; k--) A[i][int(random() * n)] = random();
  changed = A;
  for (auto &entries : changed)
    for (auto &[j, a] : entries) a = random();
  std::iota(place.begin(), place.end(), 0);
  for (int i = n - 1; i > 0; i--) std::swap(place[i], place[int(random() * (i + 1))]);
  for (int i = 0; i < n; i++) row[place[i]] = i;
  std::vector<Blocks> at_first, then;
  std::vector<index_t> nonzeros;
  std::vector<int> begin;
  for (int r = 0, first = 0; r < ranks; first += int(rows[r++])) {
    begin.push_back(first);
    at_first.emplace_back(A, first, first + int(rows[r]));
    then.emplace_back(changed, first, first + int(rows[r]));
    nonzeros.push_back(index_t(at_first[r].ja[0].size() + at_first[r].ja[1].size()));
  }
  const petscrrb::Host host;
  support::SimulatedRanks::lend(ranks, [&](std::unique_ptr<petscrrb::rrb::Ranks> of) {
    const int me = of->rank();
    const auto all = petscrrb::rrb::make_rows_of_ranks(host, std::move(of), rows, nonzeros);
    all->pack(at_first[me].rows(), index_t(at_first[me].ja[0].size()), begin[me], at_first[me].ghosts, place);
    all->gather();
    all->put_together();
    for (const auto &[blocks, values] : {std::pair(&at_first, &A), std::pair(&then, &changed)}) {
      const petscrrb::Csr found = all->gather_values((*blocks)[me].rows());
      ASSERT_EQ(found.n, n);
      for (int p = 0, e = 0; p < n; p++) {
        std::map<PetscInt, double> expected;
        for (const auto &[j, a] : (*values)[row[p]]) expected[place[j]] = a;
        ASSERT_EQ(found.ia[p], e);
        ASSERT_EQ(found.ia[p + 1], e + int(expected.size()));
        for (const auto &[j, a] : expected) {
          ASSERT_EQ(found.ja[e], j) << "row " << p;
          ASSERT_EQ(found.a[e++], a) << "row " << p;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, RowsOfRanks,
                         testing::Values(Case{{1}, 1}, Case{{3, 0, 2}, 4}, Case{{40, 60, 33}, 9}, Case{{0, 0, 7}, 8},
                                         Case{{1000, 1000}, 1200}, Case{{9000, 8000, 3000}, 12}));

} // namespace
