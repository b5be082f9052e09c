// The matrix as relaxation wants it on the host: couplings within patches as arrays, or as one stencil where all cells are
// alike, and links for the rest.
#pragma once

#include "exec/host/host.hpp"
#include "pc/blockrelax/core/rows.hpp"

namespace petscrrb::blockrelax {

// A coupling that leaves its patch, goes around a periodic side or leads to an identity row.
struct Link {
  int cell;    // of the block
  PetscInt to; // a row of the same patch, or ~g for ghost g
  double a;
};

class HostMatrix {
public:
  explicit HostMatrix(const Layout &layout)
      : l_(layout), common_rows_(layout), links_at_(static_cast<std::size_t>(layout.blocks() + 1)) {}

  RowFacts read(const Csr &);

  bool constant() const { return constant_; }
  const Couplings &common() const { return common_; } // if constant
  bool is_identity(PetscInt row) const { return identity_[row]; }
  double diagonal(PetscInt row) const { return constant_ ? common_.diagonal : diagonal_.data()[row]; }
  // with the cell that is step m ahead, in an array with room before its first row
  const double *ahead(int m) const { return ahead_[m].data() + slack_; }
  const double *diagonals() const { return diagonal_.data(); }

  const Link *links(index_t block) const { return links_.data() + links_at_[block]; }
  const Link *links_end(index_t block) const { return links_.data() + links_at_[block + 1]; }
  const std::vector<PetscInt> &ghosts() const { return ghosts_; } // rows of other patches that are linked to, sorted

  // f(cell, other cell, a) for each coupling within block b, once; the diagonal is such a coupling.
  template <class F> void within_block(index_t b, const F &f) const;

  double bytes() const;

private:
  PatchRows<0> rows_of(const Csr &) const;
  template <class F> void at_blocks(const F &f, RowFacts &) const;
  void find_identity(const Csr &);
  void survey(const Csr &, RowFacts &);
  void store(const Csr &);
  void number_ghosts();

  const Layout &l_;
  const CommonRows common_rows_;
  std::vector<unsigned char> identity_;
  bool constant_ = false;
  Couplings common_;
  PetscInt slack_ = 0;
  host::Buffer<double> diagonal_, ahead_[most_neighbours]; // empty as long as all matrices were constant
  std::vector<Link> links_;
  std::vector<std::size_t> links_at_; // of each block
  std::vector<PetscInt> ghosts_;
};

template <class F> void HostMatrix::within_block(index_t b, const F &f) const {
  l_.at(b, [&](const Patch &p, const Block &block) {
    at_cells(p, block, [&](int cell, PetscInt row, const PetscInt at[3]) {
      const double d = diagonal(row);
      f(cell, cell, d == 0 && is_identity(row) ? 1 : d);
      for (int m = 0; m < l_.neighbours.count; ++m) {
        const Step s = l_.neighbours.step[m];
        if (!within(block.first, block.n, at, s)) continue;
        f(cell, cell + offset(block.n, s), constant_ ? common_.ahead[m] : ahead(m)[row]);
      }
    });
    for (const Link *link = links(b); link != links_end(b); ++link) {
      if (link->to < 0 || is_identity(link->to)) continue;
      PetscInt to[3];
      point_of(p, link->to, to);
      if (!within(block.first, block.n, to, Step{0, 0, 0})) continue;
      const int other = static_cast<int>(((to[2] - block.first[2]) * block.n[1] + to[1] - block.first[1]) * block.n[0] +
                                         to[0] - block.first[0]);
      if (other < link->cell) f(link->cell, other, link->a);
    }
  });
}

} // namespace petscrrb::blockrelax
