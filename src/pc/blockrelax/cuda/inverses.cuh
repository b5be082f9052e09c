// The inverses of the diagonal blocks on a device. Blocks that are alike share one.
#pragma once

#include "pc/blockrelax/cuda/band.cuh"
#include "pc/blockrelax/core/chunks.hpp"
#include "pc/blockrelax/cuda/matrix.cuh"
#include "pc/blockrelax/core/method.hpp"

#include <map>

namespace petscrrb::blockrelax {

struct DeviceKind {
  index_t at;                 // where its inverse lies, or -1: it has no place
  int block, width;           // block: the place of its first in the order of blocks
  bool chunked;               // it is a factor in chunks, if it has a place
  index_t basis[3], tiles[3]; // tiles: the same bases as tensor cores take them

  // of its inverse, in doubles
  __host__ __device__ index_t size(Method method, index_t cells) const {
    return method == Method::tensor  ? cells
           : method == Method::dense ? cells * cells
           : chunked                 ? Chunks{int(cells), width}.size()
                                     : DeviceBand{int(cells), width}.size();
  }
  bool operator==(const DeviceKind &o) const {
    return at == o.at && block == o.block && width == o.width && chunked == o.chunked &&
           std::equal(basis, basis + 3, o.basis) && std::equal(tiles, tiles + 3, o.tiles);
  }
};

struct MadeInverses {
  unsigned long long bad; // all ones less the first row whose pivot is negative
  int width;              // the largest
  int kinds, without;     // without: those that have no place
  int chunk;              // the widest of factors in chunks, or 0
  int banded;             // whether there are others, or such without a place
  index_t size;           // of the inverses of the others
};

// What a kernel needs to solve with a block.
struct DeviceInverses {
  const DeviceKind *kinds;
  const int *kind_of; // of each block, by its number
  const double *inverse, *bases;
  Neighbours near;
  DeviceValues values; // for kinds without a place
  DeviceLinks links;
  int most_cells;
};

// f(cell, other cell, a) for each coupling within a block, once; the diagonal is such a coupling. By the threads of a group.
template <class Group, class F>
__device__ void within_block(const Group &g, const DeviceInverses &all, const DeviceBlock &block, const F &f) {
  const BlockMatrix A{block, all.near, all.values};
  for (int cell = g.rank(); cell < block.cells(); cell += Group::size) {
    f(cell, cell, A.diagonal(cell));
    A.ahead(cell, [&](int other, double a) { f(cell, other, a); });
  }
  if (block.links < 0) return;
  const DeviceLinks &links = all.links;
  for (int c = links.first_cell[block.links] + g.rank(); c < links.first_cell[block.links + 1]; c += Group::size) {
    const int cell = int(links.sum[c] % all.most_cells);
    for (int l = links.first[c]; l < links.first[c + 1]; ++l)
      if (links.link[l].within >= 0 && links.link[l].within < cell) f(cell, links.link[l].within, links.link[l].a);
  }
}

// Assembles and factors a block; as factor().
template <class Group>
__device__ int factor_block(const Group &g, const DeviceInverses &all, const DeviceBlock &block, int width, double *a,
                            double *window) {
  const DeviceBand band{block.cells(), width};
  for (index_t i = g.rank(); i < band.size(); i += Group::size) a[i] = 0;
  g.sync();
  // what links add may be there before, since no coupling within the block is between the same cells as a link
  within_block(g, all, block, [&](int cell, int other, double value) {
    const int low = cell < other ? cell : other, high = cell < other ? other : cell;
    if (value != 0) band.column(a, low)[high - low] = value;
  });
  g.sync();
  const BlockMatrix A{block, all.near, all.values};
  return factor(g, band, a, window, [&](int j) { return A.diagonal(j); });
}

class BlockInverses {
public:
  static constexpr int longest_tiled = 64; // side, with a basis for tensor cores

  struct Shape {
    int n[3], first; // place of its first block
    index_t row;     // and that block's first row

    int cells() const { return n[0] * n[1] * n[2]; }
  };

  BlockInverses(const Layout &, const BlockOrder &, const DeviceMatrix &, const Options &);

  // Of the matrix as it is now. Returns the first row of a block that is not positive definite, or no_row.
  index_t refresh(cudaStream_t);

  DeviceInverses view() const;
  Method method() const { return method_; }
  index_t kinds() const { return kinds_; }
  const Extent &extent() const { return extent_; }
  const std::vector<Shape> &shapes() const { return shapes_; }
  const std::vector<int> &shape_of() const { return shape_of_; } // of each block
  // Of all blocks of a shape, where the matrix is constant, or null.
  const double *inverse_of_shape(int s) const {
    return host_kinds_[s].at < 0 ? nullptr : inverse_.data() + host_kinds_[s].at;
  }
  // rows of a chunk, the most; 0: no factor is in chunks
  int chunk() const { return chunk_; }
  // of a factor for which there was no place, in doubles; 0 if all have one
  index_t anew() const { return anew_; }
  double *scratch() const { return scratch_.data(); } // so large for each multiprocessor
  double bytes() const;

private:
  void refresh_constant(cudaStream_t);
  void refresh_variable(cudaStream_t);
  void make_tensor(cudaStream_t);
  void make(cudaStream_t);
  void reserve(index_t inverses, bool all_have_place);
  void find_bases();

  const Layout &l_;
  const DeviceMatrix &A_;
  const Options options_;
  Method method_ = Method::factored;
  Extent extent_;
  index_t kinds_ = 0, anew_ = 0;
  int chunk_ = 0;
  bool banded_ = false;      // there are factors that are not in chunks
  bool shapes_used_ = false; // kind_of_ is that of shapes

  std::vector<Shape> shapes_;
  std::vector<int> shape_of_;
  cuda::Buffer<int> shape_of_there_;
  SineBases sine_;
  std::map<int, index_t> tiles_of_; // of the basis of each length
  cuda::Buffer<double> bases_, inverse_, scratch_;
  std::vector<DeviceKind> host_kinds_;
  cuda::Buffer<DeviceKind> kinds_buffer_;

  cuda::Report<MadeInverses> made_;
  cuda::Buffer<int> kind_of_;
  cuda::Buffer<std::uint64_t> hash_room_; // for finding kinds
  cuda::Buffer<int> int_room_;
  cuda::Buffer<index_t> index_room_;
  cuda::Buffer<char> cub_;
};

} // namespace petscrrb::blockrelax
