// The order in which the dense matrix on the separators is eliminated: by tiles of 32, all at once that are not coupled,
// as nested dissection gives them. Symbolic, on the host.
#pragma once

#include <vector>

namespace petscrrb::dense {

struct Plan;

constexpr int panel = 32; // rows and columns of a tile

// Where a separator stands in the nested dissection of the grid: separators of one level in different regions are not
// coupled once deeper levels are eliminated.
struct Region {
  int level, x, y;
};

// What a thread block does with tile (i, j), j <= i, of the matrix in a phase. P(i, k): tile (i, k) before the phase, k a
// pivot of it, kept in a slot of its own; D: the pivot tile.
enum class Role : int {
  update,           // minus the sum over pairs of P(i, k) D^-1 P(j, k)^T
  scale,            // P(i, k) D^-1, in column j = k
  scale_transposed, // its transpose, in row i = k
  pivot,            // -D^-1
  next_pivot        // update, and then the inverse, for the next phase
};
struct Task {
  Role role;
  int i, j;
  int first, count;          // pairs
  int copy, transposed_copy; // slots of the next phase that the result goes to, too, or -1; a next pivot's slot
  int last;                  // no more phases: the sign is turned, and both triangles are stored
};
struct Pair {
  int x, y, pivot; // slots of P(i, k), P(j, k) and of D^-1
};

struct Schedule {
  explicit Schedule(const Plan &plan);

  std::vector<int> phase_start; // of tasks; next pivots first
  std::vector<Task> tasks;
  std::vector<Pair> pairs;
  int slots = 0, pivots = 0; // in each of two buffers, for even and for odd phases

  int phases() const { return int(phase_start.size()) - 1; }
};

struct DissectionOrder {
  std::vector<int> rows;       // of the matrix: the separators, -1 for padding
  std::vector<int> tile_level; // tiles hold one region, or several small ones of a level
  int phases = 0;              // that its elimination takes at least
};
DissectionOrder dissection_order(const std::vector<int> &separators, const std::vector<Region> &regions);

} // namespace petscrrb::dense
