// The pattern of E = Z^T A Z, from the sums that its entries are made of. No CUDA here.
#pragma once

#include <cstdint>
#include <vector>

namespace petscrrb::deflation {

// A sum is told by its row s and its column t of E as s * (count + 1) + t; column `count` is the sum of the rows' sums.
using SumKey = std::uint64_t;
constexpr SumKey key_of(int s, int t, int count) { return SumKey(s) * SumKey(count + 1) + SumKey(t); }

class CoarsePattern {
public:
  CoarsePattern() = default;
  // keys: of the sums, each once, sorted
  CoarsePattern(int count, const std::vector<SumKey> &keys);

  int size() const { return int(ia.size()) - 1; }

  std::vector<int> ia, ja;      // sorted columns, symmetric, diagonal present
  std::vector<int> from;        // of each entry: the sum that it is, -1: none, it is zero
  std::vector<int> across;      // of each entry: the one across the diagonal
  std::vector<int> excess_from; // of each row: the sum of its rows' sums, -1: none
};

// A grid of boxes, two of whose sides are longer than 1 at most: along these.
struct BoxGrid {
  int n[2] = {0, 0};
  bool periodic[2] = {false, false}; // couplings go around
  std::vector<int> x, y;             // of each subdomain: where its box stands
};

// Whether all couplings of E lead within a box or to neighbours of it. box: the number of each subdomain's; count: boxes
// each way.
bool fits(const CoarsePattern &, const std::vector<int> &box, const int count[3], BoxGrid &);

// The first unknown at which a Cholesky factorization fails, -1: none. For messages.
int first_bad_pivot(const std::vector<int> &ia, const std::vector<int> &ja, const std::vector<double> &a);

} // namespace petscrrb::deflation
