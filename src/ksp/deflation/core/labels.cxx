// Which subdomain each row of a matrix on the host is in, and whether the matrix may be deflated at all.
#include "ksp/deflation/core/labels.hpp"

#include "ksp/deflation/core/on_all.hpp"
#include "ksp/deflation/core/refusals.hpp"
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

} // namespace

int box_of(const Boxes &b, index_t point) {
  if (b.none()) return 0;
  const index_t nx = index_t(b.piece[0].size()), ny = index_t(b.piece[1].size());
  const index_t line = point / nx;
  return (b.piece[2][line / ny] * b.count[1] + b.piece[1][line % ny]) * b.count[0] + b.piece[0][point % nx];
}

void Labels::find_phases(const Csr &a, const Space &space, const double *phi) {
  const auto same = [&](PetscInt i, PetscInt j) {
    if (phi) return (phi[i] >= 0) == (phi[j] >= 0);
    return std::max(diagonal_[i], diagonal_[j]) < space.jump * std::min(diagonal_[i], diagonal_[j]);
  };
  const PetscInt all = PetscInt(of_row_.size());
  on_all(space.ranks, [&] {
    if (space.ranks) values_.resize(all);
    diagonal_.resize(phi ? 0 : all);
    first_.resize(all);
  });
  if (space.ranks && phi) {
    std::copy_n(phi, a.n, values_.begin());
    space.ranks->exchange(values_.data());
    phi = values_.data();
  }
  for (std::size_t i = 0; i < diagonal_.size(); ++i) diagonal_[i] = std::abs(diagonal(a, PetscInt(i)));
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
  if (space.ranks)
    number_on_ranks(a.n, *space.ranks);
  else
    number_here();
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
  on_all(&ranks, [&] { first.resize(all); });
  for (std::size_t i = 0; i < all; ++i) first[i] = double(ranks.point(PetscInt(i)));
  const auto at = [&](std::size_t i) -> double & { return first[std::size_t(root(first_, int(i)))]; };
  for (std::size_t i = 0; i < all; ++i) at(i) = std::min(at(i), double(ranks.point(PetscInt(i))));
  for (bool changed = true; changed;) {
    for (std::size_t i = 0; i < all; ++i) values_[i] = at(i);
    ranks.exchange(values_.data());
    changed = false;
    for (std::size_t i = std::size_t(own); i < all; ++i)
      if (of_row_[i] >= 0 && values_[i] < at(i)) at(i) = values_[i], changed = true;
    changed = ranks.largest(changed) > 0;
  }
  std::vector<std::uint64_t> firsts;
  on_all(&ranks, [&] {
    for (PetscInt i = 0; i < own; ++i)
      if (of_row_[i] >= 0 && at(i) == double(ranks.point(i))) firsts.push_back(std::uint64_t(ranks.point(i)));
  });
  firsts = ranks.unite(firsts);
  count_ = int(firsts.size());
  for (std::size_t i = 0; i < all; ++i)
    if (of_row_[i] >= 0)
      of_row_[i] = int(std::lower_bound(firsts.begin(), firsts.end(), std::uint64_t(at(i))) - firsts.begin());
}

std::string Labels::find(const Csr &a, const Space &space, const double *phi) {
  if (!space.phases && space.boxes.size() > most_subdomains) return too_many(space.boxes.size());
  Csr all = a; // with ghosts
  if (space.ranks) all.n += space.ranks->ghosts();
  std::string why;
  on_all(space.ranks, [&] {
    of_row_.resize(all.n);
    identity_.resize(all.n);
    if (mark_identity(RankRows(all), identity_.data())) return;
    why = where_not_finite(RankRows(a), [&](PetscInt row, PetscInt column) { // if it is an own row
      const auto number = [&](PetscInt i) { return text(space.ranks ? space.ranks->number(i) : index_t(i)); };
      return "row " + number(row) + ", column " + number(column);
    });
  });
  if (space.ranks) why = space.ranks->first(why); // before they do anything together
  if (!why.empty()) return why;
  index_t identity_rows = 0;
#pragma omp parallel for schedule(static) reduction(+ : identity_rows)
  for (PetscInt i = 0; i < all.n; ++i) {
    of_row_[i] = identity_[i] ? -1 : box_of(space.boxes, space.ranks ? space.ranks->point(i) : i);
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

std::string why_not(const Csr &a, const std::vector<int> &of_row, const Ranks *ranks) {
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (PetscInt i = 0; i < a.n; ++i) largest = std::max(largest, std::abs(diagonal(a, i)));
  if (ranks) largest = ranks->largest(largest);
  PetscInt row = a.n;
#pragma omp parallel for schedule(static) reduction(min : row)
  for (PetscInt i = 0; i < a.n; ++i) {
    if (of_row[i] < 0) continue;
    for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
      const PetscInt j = a.ja[p];
      if (j == i || of_row[j] < 0) continue;
      const PetscInt *end = a.ja + a.ia[j + 1], *found = std::find(a.ja + a.ia[j], end, i);
      const double back = found == end ? 0.0 : a.a[found - a.ja];
      if (std::abs(a.a[p] - back) > symmetric * largest) row = std::min(row, i);
    }
  }
  return row == a.n ? "" : not_symmetric(ranks ? ranks->number(row) : row);
}

} // namespace petscrrb::deflation
