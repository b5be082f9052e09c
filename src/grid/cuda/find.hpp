// find_grid() and check_grid() for rows that lie on a device. Messages are made from a copy on the host.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/find.hpp"
#include "grid/pattern.hpp"

#include <functional>
#include <memory>

namespace petscrrb::cuda {

// As their namesakes for rows on the host. For setups: they allocate, and wait for the stream several times. Fewer than
// 2^32 rows.
std::string find_grid(const Csr &device_rows, Widest, const char *option, Grid &grid, cudaStream_t);
std::string check_grid(const Csr &device_rows, Widest, const char *option, Grid &grid, cudaStream_t);

// What one of several ranks' rows say, which are on the device but for ghost_places, so many. stream: called before each use of
// it. Rows and stream must outlive this.
std::unique_ptr<RankPattern> make_rank_pattern(const RankRows &, PetscInt ghosts, std::function<cudaStream_t()> stream);

} // namespace petscrrb::cuda
