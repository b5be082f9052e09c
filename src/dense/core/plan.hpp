// How a matrix is substructured for a device: lines of separators, and the small blocks of unknowns between them; and the order
// in which the dense matrix on the separators is eliminated: by tiles of 32, all at once that are not coupled, as nested
// dissection gives them. Symbolic, on the host.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace petscrrb::dense {

// The grid on which the unknowns stand, and how many steps a coupling reaches at most: 1 between all points of a grid,
// 2 between its black ones.
struct GridShape {
  int nx = 0, ny = 0;
  bool periodic_x = false, periodic_y = false;
  int reach = 1;
};

constexpr int largest_n = 4096;      // unknowns
constexpr int largest_interior = 64; // unknowns of a block
constexpr int tile = 16;             // rows of a block that are loaded together
constexpr int largest_tiles = 7;     // of a block and its ring
constexpr int largest_strip = 256;   // entries in the rows of a tile
constexpr int largest_row = 32;      // entries in a row of the matrix

// One value of the matrix, and its place.
struct Entry {
  int from; // place in the matrix's values
  int at;   // in a block: 256 * row + column; in a row of the separators' matrix: the column
};

// Unknowns that the separators cut off, and the separators around them (its ring).
struct Block {
  int interior, ring; // how many
  int nodes;          // place in Plan::nodes: interior unknowns, then the ring, as rows of the separators' matrix
  int factor;         // place of its interior x (interior + ring) values: inverse, inverse times coupling to ring
  int transposed;     // place of its ring x interior values: the latter, transposed
  int schur;          // place of its ring x ring share of the separators' matrix
  int condensed;      // place of its interior + ring values in an application
  int strip[largest_tiles + 1]; // entries of each tile of rows
};

constexpr int panel = 32; // rows and columns of a tile

// Where a separator stands in the nested dissection of the grid: separators of one level in different regions are not
// coupled once deeper levels are eliminated.
struct Region {
  int level, x, y;
};

struct DissectionOrder {
  std::vector<int> rows;       // of the matrix: the separators, -1 for padding
  std::vector<int> tile_level; // tiles hold one region, or several small ones of a level
  int phases = 0;              // that its elimination takes at least
};
DissectionOrder dissection_order(const std::vector<int> &separators, const std::vector<Region> &regions);

struct Plan {
  // Of a matrix (sorted columns, symmetric, diagonal present), and where each of its unknowns stands on the grid. Throws
  // std::invalid_argument where the pattern is not one of couplings within reach there.
  Plan(std::vector<int> starts, std::vector<int> columns, const std::vector<int> &x, const std::vector<int> &y,
       const GridShape &shape);

  const std::vector<int> ia, ja;

  int unknowns() const { return int(ia.size()) - 1; }
  int pitch() const { return int(separator.size()); } // rows of the separators' matrix

  std::vector<Block> blocks;
  std::vector<int> nodes;
  std::vector<Entry> entries;     // of blocks
  std::vector<int> separator;     // unknown of each row of the separators' matrix, or -1: padding
  std::vector<int> tile_level;    // in the nested dissection of the grid, of each 32 rows
  std::vector<int> row_start;     // of row_entries
  std::vector<Entry> row_entries; // values between separators
  // Blocks that touch row s: [k * pitch() + s], k < touching; -1: none. And its place in their condensed values.
  int touching = 0;
  std::vector<int> touching_block, touching_place;
  std::vector<int> block_of_condensed;
  int factors = 0, transposed = 0, schurs = 0, condensed = 0; // values in all

private:
  using RegionOf = std::function<Region(int unknown, int deepest_level)>;

  bool number(const std::vector<int> &part, const RegionOf &region);
  void order_separators(const std::vector<int> &unknowns, const RegionOf &region);
  bool fill_block(int b, const std::vector<int> &members);
  void list_separators();

  std::vector<int> block_of_, place_, separator_of_; // of each unknown, or -1; its place among the block's
  // of each row of the separators' matrix: the last block that it is around, and its place in that one's ring
  std::vector<int> ring_of_, ring_place_;
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

// All that is made of a pattern on the host.
struct Substructure {
  Substructure(std::vector<int> ia, std::vector<int> ja, const std::vector<int> &x, const std::vector<int> &y,
               const GridShape &shape)
      : plan(std::move(ia), std::move(ja), x, y, shape), schedule(plan) {}

  const Plan plan;
  const Schedule schedule;
};

} // namespace petscrrb::dense
