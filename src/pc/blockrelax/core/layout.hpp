// The blocks of all patches, numbered patch after patch, their colours, and the order in which a sweep takes them.
#pragma once

#include "pc/blockrelax/core/blockrelax.hpp"

#include <stdexcept>
#include <string>

namespace petscrrb::blockrelax {

// Along a side colours alternate; around a periodic one with an odd number of blocks the last has a colour of its own.
// Where corners are not coupled, the sum of a block's three colours is enough; otherwise each triple is one.
struct Colours {
  int count;
  bool sum;
  int side[3];
  bool periodic[3];

  int of(const Patch &p, const Cut &cut, PetscInt block) const {
    int c[3];
    for (int d = 0; d < 3; ++d) {
      const PetscInt blocks = cut.blocks(p, d), at = block % blocks;
      block /= blocks;
      c[d] = periodic[d] && blocks > 1 && blocks % 2 == 1 && at == blocks - 1 ? 2 : static_cast<int>(at % 2);
    }
    return sum ? (c[0] + c[1] + c[2]) % count : c[0] + side[0] * (c[1] + side[1] * c[2]);
  }
};

// Of as many colours as are wanted, or fewer if that is no use; 0: as few as will do. Throws std::invalid_argument where
// more are needed.
inline Colours colours_of(const Domain &domain, const Cut &cut, int wanted) {
  const bool *const periodic = domain.periodic;
  Colours c{1, false, {1, 1, 1}, {periodic[0], periodic[1], periodic[2]}};
  for (const Patch &p : domain.patches)
    for (int d = 0; d < 3; ++d) {
      const PetscInt blocks = cut.blocks(p, d);
      c.side[d] = std::max(c.side[d], blocks == 1 ? 1 : periodic[d] && blocks % 2 == 1 ? 3 : 2);
    }
  c.count = c.side[0] * c.side[1] * c.side[2];
  const int least = domain.points == 5 || domain.points == 7 ? std::max({c.side[0], c.side[1], c.side[2]}) : c.count;
  if (wanted != 0 && wanted < least)
    throw std::invalid_argument("blocks need at least " + std::to_string(least) + " colours, not " +
                                std::to_string(wanted));
  c.sum = least < c.count && wanted < c.count;
  if (c.sum) c.count = least;
  return c;
}

inline int least_colours(const Domain &domain, const Cut &cut) { return colours_of(domain, cut, 0).count; }

class Layout : public Domain {
public:
  Layout(const Domain &domain, const Cut &wanted) : Domain(domain), cut(wanted), neighbours(points) {
    for (int d = 0; d < 3; ++d) cut.size[d] = static_cast<int>(std::min<PetscInt>(cut.size[d], longest(d)));
    first_block.push_back(0);
    for (const Patch &p : patches) {
      first_block.push_back(first_block.back() + cut.blocks(p));
      rows = std::max(rows, p.first + p.cells());
    }
  }

  index_t blocks() const { return first_block.back(); }
  index_t patch_of(index_t block) const {
    return std::upper_bound(first_block.begin(), first_block.end(), block) - first_block.begin() - 1;
  }
  // Calls use(patch, block) with block b.
  template <class Use> auto at(index_t b, const Use &use) const {
    const index_t patch = patch_of(b);
    const Patch &p = patches[patch];
    return use(p, block_of(p, cut, static_cast<PetscInt>(b - first_block[patch])));
  }
  std::size_t most_cells() const { return std::size_t(cut.size[0]) * cut.size[1] * cut.size[2]; }
  // of a block and the cells around it
  std::size_t most_window() const {
    std::size_t n = 1;
    for (int d = 0; d < 3; ++d) n *= static_cast<std::size_t>(cut.size[d] + 2 * neighbours.halo[d]);
    return n;
  }

  Cut cut;
  const Neighbours neighbours;
  std::vector<index_t> first_block; // of each patch, and the number of blocks
  PetscInt rows = 0;
};

PETSCRRB_HD inline PetscInt row_at(const Patch &p, PetscInt i, PetscInt j, PetscInt k) {
  return p.first + (k * p.n[1] + j) * p.n[0] + i;
}

PETSCRRB_HD inline void point_of(const Patch &p, PetscInt row, PetscInt at[3]) {
  const PetscInt q = row - p.first;
  at[0] = q % p.n[0], at[1] = q / p.n[0] % p.n[1], at[2] = q / p.n[0] / p.n[1];
}
PETSCRRB_HD inline bool has(const Patch &p, PetscInt row) { return row >= p.first && row < p.first + p.cells(); }

// f(cell, row, at): the cells of a block, in natural order.
template <class F> void at_cells(const Patch &p, const Block &b, const F &f) {
  int cell = 0;
  for (int k = 0; k < b.n[2]; ++k)
    for (int j = 0; j < b.n[1]; ++j)
      for (int i = 0; i < b.n[0]; ++i, ++cell) {
        const PetscInt at[3] = {b.first[0] + i, b.first[1] + j, b.first[2] + k};
        f(cell, row_at(p, at[0], at[1], at[2]), at);
      }
}

// Whether the cell that is step s from `at` is among n cells a side from `first` on.
template <class Int>
PETSCRRB_HD inline bool within(const PetscInt first[3], const Int n[3], const PetscInt at[3], Step s) {
  const int step[3] = {s.x, s.y, s.z};
  for (int d = 0; d < 3; ++d)
    if (at[d] + step[d] < first[d] || at[d] + step[d] >= first[d] + n[d]) return false;
  return true;
}
PETSCRRB_HD inline bool within(const Patch &p, const PetscInt at[3], Step s) {
  constexpr PetscInt none[3] = {};
  return within(none, p.n, at, s);
}

// The cell of a block that a row is, or -1.
inline int cell_of(const Patch &p, const Block &b, PetscInt row) {
  PetscInt at[3];
  if (!has(p, row)) return -1;
  point_of(p, row, at);
  if (!within(b.first, b.n, at, Step{0, 0, 0})) return -1;
  return static_cast<int>(((at[2] - b.first[2]) * b.n[1] + at[1] - b.first[1]) * b.n[0] + at[0] - b.first[0]);
}

// Blocks sorted by colour, then by patch: a sweep takes colour after colour.
class BlockOrder {
public:
  BlockOrder(const Layout &l, const Colours &colours)
      : patches_(static_cast<index_t>(l.patches.size())),
        start_(static_cast<std::size_t>(colours.count * patches_ + 1)), block_(static_cast<std::size_t>(l.blocks())) {
    const auto bin = [&](index_t b) {
      const index_t p = l.patch_of(b);
      const int colour = colours.of(l.patches[p], l.cut, static_cast<PetscInt>(b - l.first_block[p]));
      return static_cast<std::size_t>(colour * patches_ + p);
    };
    for (index_t b = 0; b < l.blocks(); ++b) ++start_[bin(b) + 1];
    for (std::size_t s = 1; s < start_.size(); ++s) start_[s] += start_[s - 1];
    std::vector<index_t> next(start_.begin(), start_.end() - 1);
    for (index_t b = 0; b < l.blocks(); ++b) block_[next[bin(b)]++] = b;
  }

  index_t operator[](index_t t) const { return block_[t]; }
  std::vector<int> places() const { // of each block
    std::vector<int> place(block_.size());
    for (std::size_t t = 0; t < block_.size(); ++t) place[block_[t]] = static_cast<int>(t);
    return place;
  }
  index_t first(int colour, index_t patch) const { return start_[colour * patches_ + patch]; }
  index_t first(int colour) const { return first(colour, 0); }
  int colours() const { return static_cast<int>((static_cast<index_t>(start_.size()) - 1) / patches_); }
  // where each colour begins, and the number of blocks
  std::vector<index_t> bounds() const {
    std::vector<index_t> at;
    for (int c = 0; c <= colours(); ++c) at.push_back(first(c));
    return at;
  }
  double bytes() const { return static_cast<double>((start_.size() + block_.size()) * sizeof(index_t)); }

private:
  index_t patches_;
  std::vector<index_t> start_, block_;
};

// All of one colour.
inline BlockOrder natural_order(const Layout &l) { return {l, {1, true, {1, 1, 1}, {}}}; }
// Jacobi's blocks have one colour.
inline BlockOrder order_of_blocks(const Layout &l, const Options &options) {
  if (options.order == Order::jacobi) return natural_order(l);
  const int wanted = options.order == Order::chaotic ? 0 : options.colours; // as few as will do
  return {l, colours_of(l, l.cut, wanted)};
}

// A symmetric sweep takes the last colour once where omega is 1: an exact inverse twice in a row is none.
inline std::vector<int> colours_in_turn(int colours, const Options &o) {
  std::vector<int> turn;
  for (int c = 0; c < colours; ++c) turn.push_back(c);
  if (o.symmetric && o.order == Order::coloured)
    for (int c = o.omega == 1 ? colours - 1 : colours; c-- > 0;) turn.push_back(c);
  return turn;
}

} // namespace petscrrb::blockrelax
