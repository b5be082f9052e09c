// The matrix as relaxation wants it on a device: couplings within patches as arrays, or as one stencil where all cells are
// alike, and links for the rest.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "pc/blockrelax/core/blocks.hpp"
#include "pc/blockrelax/core/rows.hpp"
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
  DeviceMatrix(const Layout &, const BlockOrder &);

  // Waits for the stream.
  RowFacts read(const Csr &, cudaStream_t);

  bool constant() const { return constant_; }
  // Those of a cell in the middle of the largest patch; if constant, of all cells.
  const Couplings &common() const { return common_; }
  DeviceValues values() const;
  // Of each block, by its number: 0 if all its cells, and what couples them with others, have the common couplings.
  const unsigned char *varying() const { return varying_.data(); }
  const DeviceBlock *blocks() const { return blocks_.data(); } // in their order
  const int *place() const { return place_.data(); }           // of each block in that order
  const index_t *bounds() const { return bound_.data(); }      // of the colours
  DeviceLinks links() const { return {link_.data(), first_.data(), sum_at_.data(), first_cell_.data()}; }

  // What other patches have, until the next call.
  void keep_ghosts(const double *x, cudaStream_t);
  // For the blocks of a colour, by values as they are, or as they were when ghosts were kept.
  void sum_links(int colour, const double *x, bool kept, cudaStream_t);
  const double *link_sums() const { return sum_.data(); }

  double bytes() const;

private:
  struct Totals {
    unsigned long long cells, links; // that have links, and these
  };
  template <int steps> DeviceRows<steps> rows_of(const Csr &) const;
  void survey(const Csr &, bool store, cudaStream_t);
  void make_links(const Csr &, int cells, int links, cudaStream_t);
  DevicePatches patches() const { return {patch_.data(), first_block_.data(), int(l_.patches.size()), l_.cut}; }

  const Layout &l_;
  cuda::Buffer<Patch> patch_;
  cuda::Buffer<index_t> first_block_;
  cuda::Buffer<DeviceBlock> blocks_;
  cuda::Buffer<int> place_;

  const CommonRows common_rows_;
  bool constant_ = false;
  Couplings common_;
  PetscInt slack_ = 0;
  cuda::Report<Couplings> read_common_;
  cuda::Report<SharedFacts> found_;
  cuda::Report<Totals> totals_;
  cuda::Buffer<unsigned char> identity_, varying_;
  cuda::Buffer<double> diagonal_, ahead_[most_neighbours]; // empty as long as all matrices were constant

  int linked_ = 0, link_count_ = 0; // cells that have links, and these
  std::vector<int> linked_at_;      // where the cells of a colour begin
  cuda::Buffer<int> count_;         // of each row's links
  cuda::Buffer<int> first_, first_cell_, room_;
  cuda::Buffer<index_t> bound_, sum_at_;
  cuda::Buffer<DeviceLink> link_;
  cuda::Buffer<double> ghost_, sum_;
  cuda::Buffer<char> cub_;
};

} // namespace petscrrb::blockrelax
