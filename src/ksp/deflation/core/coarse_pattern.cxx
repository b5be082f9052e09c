// The pattern of E, and what is asked of it.
#include "ksp/deflation/core/coarse_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace petscrrb::deflation {

CoarsePattern::CoarsePattern(int count, const std::vector<SumKey> &keys) : ia(1, 0), excess_from(count, -1) {
  // the columns of each row, and its places in other rows' columns: both sorted, since the keys are
  std::vector<int> column(keys.size()), start(count + 1, 0), end(count + 1, 0), row, back(count + 1, 0);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const int s = int(keys[k] / SumKey(count + 1));
    column[k] = int(keys[k] % SumKey(count + 1));
    ++start[s + 1];
    if (column[k] < count) ++back[column[k] + 1];
  }
  for (int s = 0; s < count; ++s) start[s + 1] += start[s], back[s + 1] += back[s];
  row.resize(back[count]);
  end = back;
  for (int s = 0; s < count; ++s)
    for (int k = start[s]; k < start[s + 1]; ++k)
      if (column[k] < count) row[end[column[k]]++] = s;
  for (int s = 0; s < count; ++s) {
    int k = start[s], b = back[s], stop = start[s + 1];
    bool diagonal = false;
    if (k < stop && column[stop - 1] == count) excess_from[s] = --stop;
    while (k < stop || b < back[s + 1] || !diagonal) {
      int next = diagonal ? count : s;
      if (k < stop) next = std::min(next, column[k]);
      if (b < back[s + 1]) next = std::min(next, row[b]);
      const bool mine = k < stop && column[k] == next;
      ja.push_back(next), from.push_back(mine ? k : -1);
      k += mine, b += b < back[s + 1] && row[b] == next, diagonal = diagonal || next == s;
    }
    ia.push_back(int(ja.size()));
  }
  across.resize(ja.size());
  for (int s = 0; s < count; ++s)
    for (int p = ia[s]; p < ia[s + 1]; ++p)
      across[p] = int(std::lower_bound(ja.begin() + ia[ja[p]], ja.begin() + ia[ja[p] + 1], s) - ja.begin());
}

bool fits(const CoarsePattern &e, const std::vector<int> &box, const int count[3], BoxGrid &grid) {
  int stride[2] = {1, 1}, sides = 0, before = 1;
  grid = BoxGrid();
  grid.n[0] = grid.n[1] = 1;
  for (int d = 0; d < 3; before *= count[d++]) {
    if (count[d] == 1) continue;
    if (sides == 2) return false;
    grid.n[sides] = count[d], stride[sides++] = before;
  }
  for (int b : box) grid.x.push_back(b / stride[0] % grid.n[0]), grid.y.push_back(b / stride[1] % grid.n[1]);
  for (int s = 0; s < e.size(); ++s)
    for (int p = e.ia[s]; p < e.ia[s + 1]; ++p)
      for (int d = 0; d < 2; ++d) {
        const std::vector<int> &at = d ? grid.y : grid.x;
        const int steps = std::abs(at[s] - at[e.ja[p]]);
        if (steps <= 1) continue;
        if (steps != grid.n[d] - 1) return false;
        grid.periodic[d] = true;
      }
  return true;
}

int first_bad_pivot(const std::vector<int> &ia, const std::vector<int> &ja, const std::vector<double> &a) {
  const int n = int(ia.size()) - 1;
  std::vector<std::vector<double>> row(n); // of the factor, from the first column on
  std::vector<int> first(n);
  for (int i = 0; i < n; ++i) {
    first[i] = std::min(i, ja[ia[i]]);
    row[i].assign(i - first[i] + 1, 0.0);
    for (int p = ia[i]; p < ia[i + 1] && ja[p] <= i; ++p) row[i][ja[p] - first[i]] = a[p];
    for (int j = first[i]; j <= i; ++j) {
      double value = row[i][j - first[i]];
      for (int k = std::max(first[i], first[j]); k < j; ++k) value -= row[i][k - first[i]] * row[j][k - first[j]];
      if (j == i && !(value > 0.0)) return i;
      row[i][j - first[i]] = j == i ? std::sqrt(value) : value / row[j][j - first[j]];
    }
  }
  return -1;
}

} // namespace petscrrb::deflation
