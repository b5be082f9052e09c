// Which subdomain each row of a matrix on the host is in, and whether the matrix may be deflated at all.
#include "ksp/deflation/core/labels.hpp"

#include "ksp/deflation/core/az_row.hpp"
#include "stencil/refusal.hpp"
#include "stencil/stencil.hpp"
#include "grid/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace petscrrb::deflation {

namespace {

// Union and find; a root is the smallest row of its tree.
int root(std::vector<int> &parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

index_t side(const Grid &g, int d) { return d < g.dim ? g.n[d] : 1; }

// Piece p of `parts` holds the points from p n / parts on.
void even(index_t n, index_t parts, int d, Boxes &boxes) {
  parts = std::clamp<index_t>(parts, 1, n);
  boxes.count[d] = int(parts);
  boxes.piece[d].resize(n);
  for (index_t i = 0; i < n; ++i) boxes.piece[d][i] = int(((i + 1) * parts - 1) / n);
}

} // namespace

Boxes blocks_of(const Grid &g, const index_t parts[3]) {
  Boxes boxes;
  for (int d = 0; d < 3; ++d) even(side(g, d), parts[d], d, boxes);
  return boxes;
}

Boxes stripes_of(const Grid &g, index_t lines, index_t cuts) {
  Boxes boxes;
  const index_t ny = side(g, 1), nz = side(g, 2);
  even(side(g, 0), cuts, 0, boxes);
  even(nz, nz, 2, boxes);
  boxes.count[1] = int((ny - 1) / lines + 1);
  boxes.piece[1].resize(ny);
  for (index_t j = 0; j < ny; ++j) boxes.piece[1][j] = int(j / lines);
  return boxes;
}

int box_of(const Boxes &b, index_t point) {
  return BoxOf<index_t>{{b.piece[0].data(), b.piece[1].data(), b.piece[2].data()},
                        {index_t(b.piece[0].size()), index_t(b.piece[1].size())},
                        {b.count[0], b.count[1]},
                        b.none()}(point);
}

void find_empty(const std::vector<int> &start, const Ranks &ranks, std::vector<double> &rows, std::vector<int> &empty) {
  for (std::size_t s = 0; s < rows.size(); ++s) rows[s] = start[s + 1] - start[s];
  ranks.sum(rows.data(), rows.size());
  for (std::size_t s = 0; s < rows.size(); ++s) empty[s] = rows[s] == 0;
}

void Labels::find_phases(const Csr &a, const Space &space, const double *phi) {
  const Ranks &ranks = *space.ranks;
  const auto same = [&](PetscInt i, PetscInt j) {
    return phi ? same_phase(phi[i], phi[j]) : same_phase(diagonal_[i], diagonal_[j], space.jump);
  };
  const PetscInt all = PetscInt(of_row_.size());
  ranks.on_all([&] {
    if (!ranks.alone()) values_.resize(all);
    diagonal_.resize(phi ? 0 : all);
    first_.resize(all);
  });
  if (!ranks.alone() && phi) {
    std::copy_n(phi, a.n, values_.begin());
    ranks.exchange(values_.data());
    phi = values_.data();
  }
  for (std::size_t i = 0; i < diagonal_.size(); ++i) diagonal_[i] = std::abs(entry(a, PetscInt(i), PetscInt(i)));
  std::iota(first_.begin(), first_.end(), 0);
  for (PetscInt i = 0; i < a.n; ++i) {
    if (of_row_[i] < 0) continue;
    for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
      const PetscInt j = a.ja[p];
      if ((j >= i && j < a.n) || a.a[p] == 0.0 || of_row_[j] != of_row_[i] || !same(i, j)) continue; // of one box
      const int k = root(first_, int(i)), l = root(first_, int(j));
      first_[std::max(k, l)] = std::min(k, l);
    }
  }
  if (ranks.alone())
    number_here();
  else
    number_on_ranks(a.n, ranks);
}

void Labels::number_here() {
  count_ = 0;
  for (std::size_t i = 0; i < of_row_.size(); ++i)
    if (of_row_[i] >= 0) of_row_[i] = root(first_, int(i)) == int(i) ? count_++ : of_row_[first_[i]];
}

// A component's first point goes from rank to rank until all of its parts know it.
void Labels::number_on_ranks(PetscInt own, const Ranks &ranks) {
  const std::size_t all = of_row_.size();
  std::vector<double> first; // of each tree, at its root
  ranks.on_all([&] { first.resize(all); });
  for (std::size_t i = 0; i < all; ++i) first[i] = double(ranks.point(PetscInt(i)));
  const auto at = [&](std::size_t i) -> double & { return first[std::size_t(root(first_, int(i)))]; };
  for (std::size_t i = 0; i < all; ++i) at(i) = std::min(at(i), double(ranks.point(PetscInt(i))));
  for (bool changed = true; changed;) {
    for (std::size_t i = 0; i < all; ++i) values_[i] = at(i);
    ranks.exchange(values_.data());
    changed = false;
    for (std::size_t i = std::size_t(own); i < all; ++i)
      if (of_row_[i] >= 0 && values_[i] < at(i)) at(i) = values_[i], changed = true;
    changed = ranks.any(changed);
  }
  std::vector<std::uint64_t> firsts;
  ranks.on_all([&] {
    for (PetscInt i = 0; i < own; ++i)
      if (of_row_[i] >= 0 && at(i) == double(ranks.point(i))) firsts.push_back(std::uint64_t(ranks.point(i)));
  });
  firsts = ranks.unite(firsts);
  count_ = int(firsts.size());
  for (std::size_t i = 0; i < all; ++i)
    if (of_row_[i] >= 0)
      of_row_[i] = int(std::lower_bound(firsts.begin(), firsts.end(), std::uint64_t(at(i))) - firsts.begin());
}

std::string too_many(index_t subdomains) {
  return text(subdomains) + " subdomains are too many, the limit is " + std::to_string(most_subdomains) +
         ": use fewer -ksp_deflation_blocks, more -ksp_deflation_stripe_lines, or a larger -ksp_deflation_jump";
}

std::string not_symmetric(index_t row) {
  return "the matrix is not symmetric at row " + text(row) +
         ", but deflation needs a symmetric one: E = Z^T A Z would not be positive definite";
}

std::string Labels::find(const Csr &a, const Space &space, const double *phi) {
  if (!space.phases && space.boxes.size() > most_subdomains) return too_many(space.boxes.size());
  const Ranks &ranks = *space.ranks;
  Csr all = a;
  all.n += ranks.ghosts();
  std::string why;
  ranks.on_all([&] {
    of_row_.resize(all.n);
    identity_.resize(all.n);
    if (mark_identity(RankRows(all), identity_.data())) return;
    why = where_not_finite(RankRows(a), [&](PetscInt row, PetscInt column) { // if it is an own row
      return "row " + text(ranks.number(row)) + ", column " + text(ranks.number(column));
    });
  });
  why = ranks.first(why); // before they do anything together
  if (!why.empty()) return why;
  index_t identity_rows = 0;
#pragma omp parallel for schedule(static) reduction(+ : identity_rows)
  for (PetscInt i = 0; i < all.n; ++i) {
    of_row_[i] = identity_[i] ? -1 : box_of(space.boxes, ranks.point(i));
    if (i < a.n) identity_rows += identity_[i];
  }
  identity_rows_ = identity_rows;
  count_ = space.boxes.none() ? 1 : int(space.boxes.size());
  if (space.phases) find_phases(a, space, phi);
  return count_ > most_subdomains ? too_many(count_) : "";
}

std::size_t Labels::bytes() const {
  return (of_row_.size() + first_.size()) * sizeof(int) + (diagonal_.size() + values_.size()) * sizeof(double) +
         identity_.size();
}

std::string why_not(const Csr &a, const std::vector<int> &of_row, const Ranks &ranks) {
  PetscInt row = a.n;
#pragma omp parallel for schedule(static) reduction(min : row)
  for (PetscInt i = 0; i < a.n; ++i)
    if (asymmetry_of_row(a, of_row.data(), i) > symmetric) row = std::min(row, i);
  return ranks.first(row == a.n ? "" : not_symmetric(ranks.number(row)));
}

} // namespace petscrrb::deflation
