// The order in which a sweep takes the blocks: in passes, each after the one before it.
#pragma once

#include "pc/blockrelax/core/blockrelax.hpp"
#include "pc/blockrelax/core/layout.hpp"

namespace petscrrb::blockrelax {

inline std::vector<int> colours_of_blocks(const Layout &l, int wanted) {
  const Colours all = colours_of(l.patches, l.cut, l.points, l.periodic, wanted);
  std::vector<int> colour(static_cast<std::size_t>(l.blocks()));
  for (index_t b = 0; b < l.blocks(); ++b) {
    const index_t patch = l.patch_of(b);
    colour[b] = all.of(l.patches[patch], l.cut, static_cast<PetscInt>(b - l.first_block[patch]));
  }
  return colour;
}

// All of one colour.
inline BlockOrder natural_order(const Layout &l) {
  return BlockOrder(l, 1, std::vector<int>(static_cast<std::size_t>(l.blocks())));
}
// Colour by colour; Jacobi's blocks have one.
inline BlockOrder order_of_blocks(const Layout &l, const Options &options) {
  if (options.order == Order::jacobi) return natural_order(l);
  const int wanted = options.order == Order::chaotic ? 0 : options.colours; // as few as will do
  return BlockOrder(l, colours_of(l.patches, l.cut, l.points, l.periodic, wanted).count, colours_of_blocks(l, wanted));
}

// A symmetric sweep takes the last colour once where omega is 1: an exact inverse twice in a row is none.
inline std::vector<int> colours_in_turn(int colours, bool symmetric, double omega) {
  std::vector<int> turn;
  for (int c = 0; c < colours; ++c) turn.push_back(c);
  if (symmetric)
    for (int c = omega == 1 ? colours - 1 : colours; c-- > 0;) turn.push_back(c);
  return turn;
}

} // namespace petscrrb::blockrelax
