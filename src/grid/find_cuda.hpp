// find_grid() and check_grid() for rows that lie on a device. Messages are made from a copy on the host.
#pragma once

#include "backend/cuda.hpp"
#include "find.hpp"

namespace petscrrb::cuda {

// As their namesakes for rows on the host. For setups: they allocate, and wait for the stream several times. Fewer than
// 2^32 rows.
std::string find_grid(const Csr &device_rows, Widest, const char *option, Grid &grid, cudaStream_t);
std::string check_grid(const Csr &device_rows, Widest, const char *option, Grid &grid, cudaStream_t);

} // namespace petscrrb::cuda
