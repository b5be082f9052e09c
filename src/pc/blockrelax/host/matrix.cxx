// Reads a matrix block by block, twice: to find out about it, and to store what is not the same everywhere.
#include "pc/blockrelax/host/matrix.hpp"

#include "stencil/host/rows.hpp"

namespace petscrrb::blockrelax {

// f(block, patch, Block, findings)
template <class F> void HostMatrix::at_blocks(const F &f, RowFacts &all) const {
#pragma omp parallel if (l_.rows >= rows_for_threads)
  {
    RowFacts mine;
#pragma omp for schedule(static)
    for (index_t b = 0; b < l_.blocks(); ++b)
      l_.at(b, [&](const Patch &p, const Block &block) { f(b, p, block, mine); });
#pragma omp critical(petscrrb_blocks)
    all.add(mine);
  }
}

PatchRows<0> HostMatrix::rows_of(const Csr &A) const {
  return {A, l_.neighbours, {l_.periodic[0], l_.periodic[1], l_.periodic[2]}, identity_.data()};
}

void HostMatrix::find_identity(const Csr &A) {
  identity_.resize(static_cast<std::size_t>(A.n));
#pragma omp parallel for schedule(static) if (A.n >= rows_for_threads)
  for (PetscInt p = 0; p < A.n; ++p) identity_[p] = petscrrb::is_identity(A, p);
}

// Counts links; finds whether the couplings within patches are the same everywhere, and within blocks there are no others.
void HostMatrix::survey(const Csr &A, RowFacts &all) {
  const PatchRows<0> rows = rows_of(A);
  at_blocks(
      [&](index_t b, const Patch &p, const Block &block, RowFacts &mine) {
        std::size_t links = 0;
        at_cells(p, block, [&](int, PetscInt row, const PetscInt at[3]) {
          Couplings c;
          bool varies = false;
          RowFacts found = rows.read(p, at, row, c.diagonal, c.ahead, [&](PetscInt q, double) {
            PetscInt to[3];
            point_of(p, q, to);
            ++links;
            varies |= has(p, q) && within(block.first, block.n, to, Step{0, 0, 0});
          });
          varies |= found.identity_rows || c.diagonal != common_.diagonal;
          for (int m = 0; m < l_.neighbours.count; ++m)
            varies |= c.ahead[m] != common_.ahead[m] && within(p, at, l_.neighbours.step[m]);
          found.varies = varies;
          mine.add(found);
        });
        links_at_[b + 1] = links;
      },
      all);
}

void HostMatrix::store(const Csr &A) {
  const std::size_t n = static_cast<std::size_t>(l_.rows);
  if (!constant_ && diagonal_.size() != n) {
    for (const Patch &p : l_.patches) slack_ = std::max(slack_, offset(p.n, Step{1, 1, l_.neighbours.halo[2]}));
    diagonal_.resize(n);
    // where a side has one point a step ahead may lead one row back
    for (int m = 0; m < l_.neighbours.count; ++m) ahead_[m].resize(n + slack_ + 1);
  }
  links_.resize(links_at_.back());
  const PatchRows<0> rows = rows_of(A);
  RowFacts known;
  at_blocks(
      [&](index_t b, const Patch &p, const Block &block, RowFacts &) {
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
      },
      known);
}

// Links that leave their patch name rows so far.
void HostMatrix::number_ghosts() {
  ghosts_.clear();
  for (const Link &link : links_)
    if (link.to < 0) ghosts_.push_back(~link.to);
  std::sort(ghosts_.begin(), ghosts_.end());
  ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
  for (Link &link : links_)
    if (link.to < 0)
      link.to = ~static_cast<PetscInt>(std::lower_bound(ghosts_.begin(), ghosts_.end(), ~link.to) - ghosts_.begin());
}

RowFacts HostMatrix::read(const Csr &A) {
  RowFacts all;
  find_identity(A);
  for (int m = 0; m <= most_neighbours; ++m) ReadCommon{A, common_rows_, &common_}(m);
  survey(A, all);
  constant_ = !all.varies;
  if (all.result() != ReadResult::ok) return all;
  for (std::size_t b = 1; b < links_at_.size(); ++b) links_at_[b] += links_at_[b - 1];
  store(A);
  number_ghosts();
  return all;
}

double HostMatrix::bytes() const {
  std::size_t sum = identity_.size() + diagonal_.bytes() + links_.size() * sizeof(Link) +
                    links_at_.size() * sizeof(std::size_t) + ghosts_.size() * sizeof(PetscInt);
  for (const auto &a : ahead_) sum += a.bytes();
  return static_cast<double>(sum);
}

} // namespace petscrrb::blockrelax
