// Boxes of grid points: even blocks, and stripes of grid lines.
#include "ksp/deflation/core/deflation.hpp"

#include <algorithm>

namespace petscrrb::deflation {

namespace {

index_t side(const Grid &g, int d) { return d < g.dim ? g.n[d] : 1; }

// Piece p of `parts` holds the points from p n / parts on.
void even(index_t n, index_t parts, int d, Boxes &boxes) {
  parts = std::clamp<index_t>(parts, 1, n);
  boxes.count[d] = int(parts);
  boxes.piece[d].resize(n);
  for (index_t i = 0; i < n; ++i) boxes.piece[d][i] = int(((i + 1) * parts - 1) / n);
}

} // namespace

Boxes blocks_of(const Grid &g, const index_t parts[3]) {
  Boxes boxes;
  for (int d = 0; d < 3; ++d) even(side(g, d), parts[d], d, boxes);
  return boxes;
}

Boxes stripes_of(const Grid &g, index_t lines, index_t cuts) {
  Boxes boxes;
  const index_t ny = side(g, 1), nz = side(g, 2);
  even(side(g, 0), cuts, 0, boxes);
  even(nz, nz, 2, boxes);
  boxes.count[1] = int((ny - 1) / lines + 1);
  boxes.piece[1].resize(ny);
  for (index_t j = 0; j < ny; ++j) boxes.piece[1][j] = int(j / lines);
  return boxes;
}

} // namespace petscrrb::deflation
