// What the tests of RRB on boxes share: how points are dealt out to ranks, and what of a problem is in a box.
#pragma once

#include "reference_support.hpp"
#include "rrb_support.hpp"
#include "simulated_ranks.hpp"

#include "pc/rrb/ranks/boxes.hpp"

#include <gtest/gtest.h>

namespace support {

using petscrrb::rrb::Boxes;
using petscrrb::rrb::Extent;
using petscrrb::rrb::Part;
using Cuts = std::vector<index_t>;

inline Cuts even_cuts(index_t n, index_t parts) {
  Cuts cuts;
  for (index_t i = 0; i <= parts; ++i) cuts.push_back(n / parts * i + std::min(i, n % parts));
  return cuts;
}
inline Cuts random_cuts(index_t n, int parts, reference::Random &random) {
  Cuts cuts{0, n};
  for (int i = 1; i < parts; ++i) cuts.push_back(index_t(random() * double(n + 1)));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

struct Partition {
  Cuts x, y;
};
inline std::vector<Partition> partitions(const reference::Grid &g, reference::Random &random) {
  return {{{0, g.nx}, {0, g.ny}},
          {{0, g.nx}, even_cuts(g.ny, 4)},
          {even_cuts(g.nx, 3), {0, g.ny}},
          {even_cuts(g.nx, 2), even_cuts(g.ny, 3)},
          {random_cuts(g.nx, 3, random), random_cuts(g.ny, 3, random)}};
}

inline std::string words(const Partition &p) {
  std::string s = "x";
  for (index_t c : p.x) s += " " + std::to_string(c);
  s += " y";
  for (index_t c : p.y) s += " " + std::to_string(c);
  return s;
}

inline petscrrb::Grid grid_of(const reference::Grid &g) {
  petscrrb::Grid grid;
  grid.n[0] = g.nx, grid.n[1] = g.ny;
  grid.periodic[0] = g.periodic_x && g.nx > 2, grid.periodic[1] = g.periodic_y && g.ny > 2;
  return grid;
}

// The part of a stencil in a box.
inline petscrrb::Stencil part_of(const petscrrb::Stencil &s, index_t nx, const Extent &x) {
  petscrrb::Stencil part;
  for (const auto field : {&petscrrb::Stencil::C, &petscrrb::Stencil::E, &petscrrb::Stencil::N, &petscrrb::Stencil::NE,
                           &petscrrb::Stencil::NW, &petscrrb::Stencil::v})
    for (index_t b = x.y.lo; b < x.y.hi && !(s.*field).empty(); ++b)
      for (index_t a = x.x.lo; a < x.x.hi; ++a) (part.*field).push_back((s.*field)[b * nx + a]);
  return part;
}

// Of a vector, likewise, and back.
inline reference::Vector part_of(const reference::Vector &v, index_t nx, const Extent &x) {
  reference::Vector part;
  for (index_t b = x.y.lo; b < x.y.hi; ++b)
    for (index_t a = x.x.lo; a < x.x.hi; ++a) part.push_back(v[b * nx + a]);
  return part;
}
inline void put_part(const reference::Vector &part, index_t nx, const Extent &x, reference::Vector &v) {
  const double *from = part.data();
  for (index_t b = x.y.lo; b < x.y.hi; ++b)
    for (index_t a = x.x.lo; a < x.x.hi; ++a) v[b * nx + a] = *from++;
}

class LastBlockSolver {
public:
  explicit LastBlockSolver(Core &core) : core_(core) {
    const auto &block = core.last_block();
    reference::Graph graph(block.size());
    reference::Vector scale(block.size());
    for (int i = 0; i < block.size(); ++i) {
      for (int q = block.ia[i]; q < block.ia[i + 1]; ++q) graph[i][block.ja[q]] = block.a[q];
      scale[i] = graph[i][i];
    }
    EXPECT_LT(last_.factor(graph, scale), 0);
  }
  int operator()(Part part) const { // its halves are all and nothing
    reference::Vector x(core_.coarse_r(), core_.coarse_r() + core_.last_block().size());
    if (part != Part::right) last_.solve(x);
    std::copy(x.begin(), x.end(), core_.coarse_z());
    return 0;
  }

private:
  Core &core_;
  reference::LastBlock last_;
};

} // namespace support
