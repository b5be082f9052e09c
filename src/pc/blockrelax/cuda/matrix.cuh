// The matrix as relaxation wants it on a device: couplings within patches as arrays, or as one stencil where all cells are
// alike, and links for the rest.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "pc/blockrelax/core/blocks.hpp"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::blockrelax {

// A coupling that leaves its patch, goes around a periodic side or leads to an identity row.
struct DeviceLink {
  PetscInt to; // a row of the same patch, or ~row of another
  int within;  // the cell of the same block that it leads to, or -1; identity rows are none
  double a;
};

// The links of cells that have some, sorted by block as blocks are in a sweep.
struct DeviceLinks {
  const DeviceLink *link;
  const int *first;      // of each such cell; and the number of links
  const index_t *sum;    // where each such cell's sum lies: place of its block times most_cells, and the cell
  const int *first_cell; // of each block with links; and the number of such cells
};

struct DevicePatches {
  const Patch *patch;
  const index_t *first_block;
  int count;
  Cut cut;
};

template <int steps> struct DeviceRows;

class DeviceMatrix {
public:
  // A range of blocks is what lies between two successive bounds in the order of blocks.
  DeviceMatrix(const Layout &, const BlockOrder &, const std::vector<index_t> &bounds);

  // Waits for the stream.
  RowFacts read(const Csr &, cudaStream_t);

  bool constant() const { return constant_; }
  // Those of a cell in the middle of the largest patch; if constant, of all cells.
  const Couplings &common() const { return common_; }
  DeviceValues values() const;
  DeviceValues common_values() const;
  // Of each block, by its number: 0 if all its cells, and what couples them with others, have the common couplings.
  const unsigned char *varying() const { return varying_.data(); }
  const DeviceBlock *blocks() const { return blocks_.data(); } // in their order
  const int *place() const { return place_.data(); }           // of each block in that order
  DeviceLinks links() const { return {link_.data(), first_.data(), sum_at_.data(), first_cell_.data()}; }

  // What other patches have, until the next call.
  void keep_ghosts(const double *x, cudaStream_t);
  // For a range of blocks, by values as they are, or as they were when ghosts were kept.
  void sum_links(int range, const double *x, bool kept, cudaStream_t);
  const double *link_sums() const { return sum_.data(); }

  double bytes() const;

private:
  struct Totals {
    unsigned long long cells, links; // that have links, and these
  };
  void find_pairs();
  void set_up_blocks(const BlockOrder &);
  template <int steps> DeviceRows<steps> rows_of(const Csr &) const;
  void survey(const Csr &, bool store, cudaStream_t);
  template <int steps> void survey(const Csr &, bool store, cudaStream_t);
  void make_links(const Csr &, int cells, int links, cudaStream_t);
  template <int steps> void fill_links(const Csr &, cudaStream_t);
  DevicePatches patches() const { return {patch_.data(), first_block_.data(), int(l_.patches.size()), l_.cut}; }

  const Layout &l_;
  const std::vector<index_t> bounds_;
  cuda::Buffer<Patch> patch_;
  cuda::Buffer<index_t> first_block_;
  cuda::Buffer<DeviceBlock> blocks_;
  cuda::Buffer<int> place_;

  bool constant_ = false;
  Couplings common_;
  PetscInt slack_ = 0, middle_ = 0; // middle: the row whose couplings are common
  cuda::Buffer<PetscInt> pair_;     // rows whose coupling is that of a direction
  cuda::Report<Couplings> read_common_;
  cuda::Report<SharedFacts> found_;
  cuda::Report<Totals> totals_;
  cuda::Buffer<unsigned char> identity_, varying_;
  cuda::Buffer<double> diagonal_, ahead_[most_neighbours]; // empty as long as all matrices were constant

  int linked_ = 0, link_count_ = 0; // cells that have links, and these
  std::vector<int> linked_at_;      // where the cells of a range begin
  cuda::Buffer<int> count_;         // of each row's links
  cuda::Buffer<PetscInt> row_;
  cuda::Buffer<int> row_unsorted_, key_, key_sorted_, counts_, first_, has_, index_, first_cell_, found_at_;
  cuda::Buffer<index_t> bound_, sum_at_;
  cuda::Buffer<DeviceLink> link_;
  cuda::Buffer<double> ghost_, sum_;
  cuda::Buffer<char> cub_;
};

// f(cell, other cell, a) for each coupling within a block, once; the diagonal is such a coupling. By `size` threads, of which
// this has this rank.
template <class F>
__device__ void within_block(const DeviceBlock &block, const Neighbours &near, const DeviceValues &values,
                             const DeviceLinks &links, int most_cells, int rank, int size, const F &f) {
  const int cells = block.n[0] * block.n[1] * block.n[2];
  for (int cell = rank; cell < cells; cell += size) {
    const int i = cell % block.n[0], j = cell / block.n[0] % block.n[1], k = cell / block.n[0] / block.n[1];
    const index_t row = block.first + index_t(k) * block.plane + index_t(j) * block.line + i;
    const double d = values.constant ? values.diagonal : values.diagonals[row];
    f(cell, cell, d == 0 ? 1 : d); // zero: of an identity row
    for (int m = 0; m < near.count; ++m) {
      const Step s = near.step[m];
      const int x = i + s.x, y = j + s.y, z = k + s.z;
      if (x < 0 || x >= block.n[0] || y < 0 || y >= block.n[1] || z >= block.n[2]) continue;
      f(cell, cell + offset(block.n, s), values.constant ? values.ahead[m] : values.aheads[m][row]);
    }
  }
  if (block.links < 0) return;
  for (int c = links.first_cell[block.links] + rank; c < links.first_cell[block.links + 1]; c += size) {
    const int cell = int(links.sum[c] % most_cells);
    for (int l = links.first[c]; l < links.first[c + 1]; ++l)
      if (links.link[l].within >= 0 && links.link[l].within < cell) f(cell, links.link[l].within, links.link[l].a);
  }
}

} // namespace petscrrb::blockrelax
