// The order of the host's wavefronts.
#pragma once

#include "pc/mic/core/mic.hpp"
#include "pc/mic/core/order.hpp"

#include <utility>

namespace petscrrb::mic {

// The march goes along the lines of memory, unless they are short: at its ends not all lanes have a point.
inline Order host_order(const Grid &g, const Options &options) {
  constexpr index_t short_march = 16, many = 8;
  int axis[3] = {1, 2, 0};
  const auto shorter = [&](int a, int b) { return g.n[axis[a]] < g.n[axis[b]]; };
  if (shorter(0, 1) && g.n[axis[0]] < many) std::swap(axis[0], axis[1]);
  if (g.n[0] < short_march) {
    const int longest = shorter(0, 1) ? 1 : 0;
    if (shorter(2, longest)) std::swap(axis[2], axis[longest]);
    if (shorter(0, 1)) std::swap(axis[0], axis[1]);
  }
  index_t lines = g.n[axis[0]];
  if (axis[0] == g.dim - 1 && options.block_lines > 0) lines = std::min(lines, options.block_lines);
  return make_order(g, options.block_lines, axis, lines > 4 ? 8 : lines > 1 ? 4 : 1, 1);
}

} // namespace petscrrb::mic
