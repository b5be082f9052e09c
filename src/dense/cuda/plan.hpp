// How the coarse matrix is substructured for a device: lines of separators, and the small blocks of unknowns between
// them. Symbolic, on the host.
#pragma once

#include "dense/cuda/schedule.hpp"

#include <functional>
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

struct Plan {
  // Throws std::invalid_argument where the pattern is not one of couplings within reach on the grid.
  Plan(int n, const int *ia, const int *ja, const int *x, const int *y, const GridShape &shape);

  int unknowns() const { return n_; }
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

  int n_;
  const int *ia_, *ja_;
  std::vector<int> block_of_, separator_of_; // of each unknown, or -1
};

} // namespace petscrrb::dense
