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

  // Twice, block by block: to find out about it, and to store what is not the same everywhere.
  RowFacts read(const Csr &A) {
    find_identity(A);
    for (int m = 0; m <= most_neighbours; ++m) ReadCommon{A, common_rows_, &common_}(m);
    const RowFacts all = survey(A);
    constant_ = !all.varies;
    if (all.result() != ReadResult::ok) return all;
    for (std::size_t b = 1; b < links_at_.size(); ++b) links_at_[b] += links_at_[b - 1];
    store(A);
    number_ghosts();
    return all;
  }

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
  template <class F> void within_block(index_t b, const F &f) const {
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
        const int other = cell_of(p, block, link->to);
        if (other >= 0 && other < link->cell && !is_identity(link->to)) f(link->cell, other, link->a);
      }
    });
  }

  double bytes() const {
    std::size_t sum = identity_.size() + diagonal_.bytes() + links_.size() * sizeof(Link) +
                      links_at_.size() * sizeof(std::size_t) + ghosts_.size() * sizeof(PetscInt);
    for (const auto &a : ahead_) sum += a.bytes();
    return static_cast<double>(sum);
  }

private:
  PatchRows<0> rows_of(const Csr &A) const {
    return {A, l_.neighbours, {l_.periodic[0], l_.periodic[1], l_.periodic[2]}, identity_.data()};
  }

  // f(block, patch, Block, facts): what all of them found
  template <class F> RowFacts at_blocks(const F &f) const {
    RowFacts all;
#pragma omp parallel if (l_.rows >= rows_for_threads)
    {
      RowFacts mine;
#pragma omp for schedule(static)
      for (index_t b = 0; b < l_.blocks(); ++b)
        l_.at(b, [&](const Patch &p, const Block &block) { f(b, p, block, mine); });
#pragma omp critical(petscrrb_blocks)
      all.add(mine);
    }
    return all;
  }

  void find_identity(const Csr &A) {
    identity_.resize(static_cast<std::size_t>(A.n));
#pragma omp parallel for schedule(static) if (A.n >= rows_for_threads)
    for (PetscInt p = 0; p < A.n; ++p) identity_[p] = petscrrb::is_identity(A, p);
  }

  // Counts links; finds whether the couplings within patches are the same everywhere, and within blocks there are no others.
  RowFacts survey(const Csr &A) {
    const PatchRows<0> rows = rows_of(A);
    return at_blocks([&](index_t b, const Patch &p, const Block &block, RowFacts &mine) {
      std::size_t links = 0;
      at_cells(p, block, [&](int, PetscInt row, const PetscInt at[3]) {
        Couplings c;
        bool varies = false;
        RowFacts found = rows.read(p, at, row, c.diagonal, c.ahead, [&](PetscInt q, double) {
          ++links;
          varies |= cell_of(p, block, q) >= 0;
        });
        varies |= found.identity_rows || c.diagonal != common_.diagonal;
        for (int m = 0; m < l_.neighbours.count; ++m)
          varies |= c.ahead[m] != common_.ahead[m] && within(p, at, l_.neighbours.step[m]);
        found.varies = varies;
        mine.add(found);
      });
      links_at_[b + 1] = links;
    });
  }

  void store(const Csr &A) {
    const std::size_t n = static_cast<std::size_t>(l_.rows);
    if (!constant_ && diagonal_.size() != n) {
      for (const Patch &p : l_.patches) slack_ = std::max(slack_, offset(p.n, Step{1, 1, l_.neighbours.halo[2]}));
      diagonal_.resize(n);
      // where a side has one point a step ahead may lead one row back
      for (int m = 0; m < l_.neighbours.count; ++m) ahead_[m].resize(n + slack_ + 1);
    }
    links_.resize(links_at_.back());
    const PatchRows<0> rows = rows_of(A);
    (void)at_blocks([&](index_t b, const Patch &p, const Block &block, RowFacts &) {
      if (constant_ && links_at_[b] == links_at_[b + 1]) return;
      Link *next = links_.data() + links_at_[b];
      at_cells(p, block, [&](int cell, PetscInt row, const PetscInt at[3]) {
        const auto add = [&](PetscInt q, double a) { *next++ = {cell, has(p, q) ? q : ~q, a}; };
        if (constant_) return rows.at_links(p, at, row, add);
        Couplings c;
        (void)rows.read(p, at, row, c.diagonal, c.ahead, add);
        diagonal_.data()[row] = c.diagonal;
        for (int m = 0; m < l_.neighbours.count; ++m) ahead_[m].data()[slack_ + row] = c.ahead[m];
      });
    });
  }

  // Links that leave their patch name rows so far.
  void number_ghosts() {
    ghosts_.clear();
    for (const Link &link : links_)
      if (link.to < 0) ghosts_.push_back(~link.to);
    std::sort(ghosts_.begin(), ghosts_.end());
    ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
    for (Link &link : links_)
      if (link.to < 0)
        link.to = ~static_cast<PetscInt>(std::lower_bound(ghosts_.begin(), ghosts_.end(), ~link.to) - ghosts_.begin());
  }

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

} // namespace petscrrb::blockrelax
