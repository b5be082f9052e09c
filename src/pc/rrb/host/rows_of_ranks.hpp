// The rows of all ranks put together on one of them, on the host: what a graph of several ranks begins with.
#pragma once

#include "exec/host/host.hpp"
#include "grid/csr.hpp"
#include "pc/rrb/graph/couplings.hpp"

#include <vector>

namespace petscrrb::rrb {

// Each rank has its rows as two blocks. What it sends of them follows what the rank before it sends.
struct RowsOfRanks {
  std::vector<index_t> rows;    // of each rank
  host::Buffer<node_t> counts;  // nonzeros of each row: of the first block, and of the second
  host::Buffer<node_t> columns; // of a rank's first block, and of its second one: global
};

struct RowsTogether {
  host::Buffer<PetscInt> ia, ja; // columns ascend in each row
  host::Buffer<node_t> from;     // of each nonzero, its number among those that were sent

  std::size_t bytes() const { return ia.bytes() + ja.bytes() + from.bytes(); }
};

// place[i]: of row i, and of column i, in the order that is wanted: a permutation. May throw.
void put_together(const RowsOfRanks &sent, const PetscInt *place, RowsTogether *all);

// to[i] = values[from[i]]
void take_in_order(const host::Buffer<PetscScalar> &values, const host::Buffer<node_t> &from, PetscScalar *to);

} // namespace petscrrb::rrb
