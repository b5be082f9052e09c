// The shape of kernels whose warps march through rows of a box.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace petscrrb::cuda {

// how many blocks of a kernel the device holds at a time
template <class Kernel> int resident_blocks(Kernel *kernel, int threads, int shared = 0) {
  static thread_local std::map<std::pair<int, const void *>, int> known;
  int device, processors, blocks;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int &n = known[{device, reinterpret_cast<const void *>(kernel)}];
  if (n) return n;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  if (shared) allow_shared(kernel, shared);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return n = std::max(1, blocks * processors);
}

// The rows that a thread marches through: many, because each part repeats some of the row before it, but so many parts
// that the device is full, a whole number of times if possible. repeated: of a row's work.
inline int rows_of_part(int across, int along, int resident, int most, double repeated) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= most; ++rows) {
    const double blocks = double(across) * ((along + rows - 1) / rows);
    const double time = std::ceil(blocks / resident) * (rows + repeated);
    if (time < least) least = time, best = rows;
  }
  return std::max(best, (along + 65534) / 65535); // a grid of blocks has no more rows
}

} // namespace petscrrb::cuda
