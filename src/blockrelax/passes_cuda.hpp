// The launches that a sweep takes on a device.
#pragma once

#include "blocks_cuda.hpp"
#include "passes.hpp"

namespace petscrrb::blockrelax {

struct Launch {
  int first, count; // of the blocks
};

struct Launches {
  std::vector<DeviceBlock> blocks;
  std::vector<Launch> sweep;
};

// Chaotic relaxation is one launch, in which blocks start colour after colour, but do not wait for one another. What starts
// together is uncoupled then, and sees what was relaxed before: a launch in natural order, or of fewer blocks than a device
// has at a time, would be Jacobi's, undamped, which does not smooth. If all blocks of a colour are there at once the colours
// are launches of their own. resident: how many blocks the device has at a time
inline Launches launches_of(const Layout &l, const Options &options, index_t resident) {
  const bool jacobi = options.order == Order::jacobi, chaotic = options.order == Order::chaotic;
  const int wanted = chaotic ? 0 : options.colours;
  const std::vector<int> colour =
      jacobi ? std::vector<int>(static_cast<std::size_t>(l.blocks())) : colours_of_blocks(l, wanted);
  const int colours = jacobi ? 1 : colours_of(l.patches, l.cut, l.points, l.periodic, wanted).count;
  const BlockOrder order(l, colours, colour);
  Launches made;
  for (index_t t = 0; t < l.blocks(); ++t) made.blocks.push_back(device_block(l, order[t]));
  std::vector<Launch> one;
  bool together = chaotic;
  for (int c = 0; c < colours; ++c) {
    const index_t first = order.first(c), count = order.first(c + 1) - first;
    one.push_back({static_cast<int>(first), static_cast<int>(count)});
    together = together && count >= resident;
  }
  if (together)
    made.sweep = {{0, static_cast<int>(l.blocks())}};
  else
    for (int c : colours_in_turn(colours, options.symmetric && options.order == Order::coloured, options.omega))
      if (one[c].count) made.sweep.push_back(one[c]);
  return made;
}

} // namespace petscrrb::blockrelax
