// Which subdomain each row of a matrix on the host is in, and whether the matrix may be deflated at all.
#include "deflation/labels.hpp"

#include "grid/fit.hpp"
#include "grid/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace petscrrb::deflation {

namespace {

std::string too_many(index_t count) {
  return text(count) + " subdomains are too many, at most " + text(index_t(most_subdomains)) +
         " can be: use fewer -ksp_deflation_blocks, more -ksp_deflation_stripe_lines, or a larger -ksp_deflation_jump";
}

// The box of each row; one box for all where there are none.
std::vector<int> boxes_of_rows(const Csr &a, const Space &space) {
  std::vector<int> box(a.n, 0);
  const Boxes &b = space.boxes;
  if (b.none()) return box;
  const index_t nx = index_t(b.piece[0].size()), ny = index_t(b.piece[1].size());
#pragma omp parallel for schedule(static)
  for (PetscInt i = 0; i < a.n; ++i) {
    const index_t line = i / nx, y = line % ny, z = line / ny;
    box[i] = (b.piece[2][z] * b.count[1] + b.piece[1][y]) * b.count[0] + b.piece[0][i % nx];
  }
  return box;
}

// Whether neighbours are of one phase.
class Phases {
public:
  Phases(const Csr &a, const double *phi, double jump) : phi_(phi), jump_(jump), diagonal_(phi ? 0 : a.n) {
    for (std::size_t i = 0; i < diagonal_.size(); ++i) diagonal_[i] = std::abs(diagonal(a, PetscInt(i)));
  }
  bool same(PetscInt i, PetscInt j) const {
    if (phi_) return (phi_[i] >= 0) == (phi_[j] >= 0);
    return std::max(diagonal_[i], diagonal_[j]) < jump_ * std::min(diagonal_[i], diagonal_[j]);
  }

private:
  const double *phi_;
  double jump_;
  std::vector<double> diagonal_;
};

// The first row of each row's component, by union and find: a root is the smallest row of its tree.
class Components {
public:
  explicit Components(PetscInt n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  PetscInt find(PetscInt i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(PetscInt i, PetscInt j) {
    i = find(i), j = find(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

private:
  std::vector<PetscInt> parent_;
};

void label_phases(const Csr &a, const Phases &phases, const std::vector<int> &box, Labels &labels) {
  std::vector<int> &label = labels.of_row;
  Components components(a.n);
  for (PetscInt i = 0; i < a.n; ++i) {
    if (label[i] < 0) continue;
    for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
      const PetscInt j = a.ja[p];
      if (j >= i || a.a[p] == 0.0 || label[j] < 0 || box[i] != box[j]) continue;
      if (phases.same(i, j)) components.join(i, j);
    }
  }
  labels.count = 0;
  for (PetscInt i = 0; i < a.n; ++i) {
    if (label[i] < 0) continue;
    const PetscInt root = components.find(i);
    label[i] = root == i ? labels.count++ : label[root];
  }
}

} // namespace

std::string label(const Csr &a, const Space &space, const double *phi, Labels &labels) {
  if (!space.phases && space.boxes.size() > most_subdomains) return too_many(space.boxes.size());
  const std::vector<int> box = boxes_of_rows(a, space);
  Flags identity;
  const std::string why = mark_identity(a, identity);
  if (!why.empty()) return why;
  labels.of_row.resize(a.n);
  labels.identity_rows = 0;
  for (PetscInt i = 0; i < a.n; ++i) {
    labels.of_row[i] = identity[i] ? -1 : box[i];
    labels.identity_rows += identity[i];
  }
  labels.count = space.boxes.none() ? 1 : int(space.boxes.size());
  if (space.phases) label_phases(a, Phases(a, phi, space.jump), box, labels);
  return labels.count > most_subdomains ? too_many(labels.count) : "";
}

std::string why_not(const Csr &a, const std::vector<int> &of_row) {
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (PetscInt i = 0; i < a.n; ++i) largest = std::max(largest, std::abs(diagonal(a, i)));
  PetscInt row = a.n;
#pragma omp parallel for schedule(static) reduction(min : row)
  for (PetscInt i = 0; i < a.n; ++i) {
    if (of_row[i] < 0) continue;
    for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
      const PetscInt j = a.ja[p];
      if (j == i || of_row[j] < 0) continue;
      const PetscInt *end = a.ja + a.ia[j + 1], *found = std::find(a.ja + a.ia[j], end, i);
      const double back = found == end ? 0.0 : a.a[found - a.ja];
      if (std::abs(a.a[p] - back) > 1e-10 * largest) row = std::min(row, i);
    }
  }
  if (row == a.n) return "";
  return "the matrix is not symmetric at row " + text(index_t(row)) +
         ", and deflation needs a symmetric one: E = Z^T A Z would not be positive definite";
}

} // namespace petscrrb::deflation
