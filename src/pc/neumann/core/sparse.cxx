// The patterns of triangles and of products.
#include "pc/neumann/core/sparse.hpp"

#include <algorithm>
#include <utility>

namespace petscrrb::neumann {
namespace {

// (column, where a_pq stands, where a_qp does) of the entries below the diagonal
struct Entry {
  PetscInt column, here, there;
};
using Rows = std::vector<std::vector<Entry>>;

void sort_and_join(std::vector<Entry> &row) {
  std::sort(row.begin(), row.end(), [](const Entry &a, const Entry &b) { return a.column < b.column; });
  std::size_t kept = 0;
  for (const Entry &e : row)
    if (kept && row[kept - 1].column == e.column) {
      row[kept - 1].here = std::max(row[kept - 1].here, e.here);
      row[kept - 1].there = std::max(row[kept - 1].there, e.there);
    } else
      row[kept++] = e;
  row.resize(kept);
}

Rows lower_rows(const Csr &A, const Ghosts &ghosts) {
  const PetscInt rows_here = A.n + ghosts.n, beyond = ghosts.n ? rows_here - 1 : -1;
  const auto place = [&](PetscInt p) { return ghosts.order.empty() ? p : ghosts.order[p]; };
  Rows rows(static_cast<std::size_t>(rows_here));
  for (PetscInt p = 0; p < rows_here; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q == p || q == beyond) continue;
      if (place(q) < place(p))
        rows[p].push_back({q, e, -1});
      else
        rows[q].push_back({p, -1, e});
    }
  for (auto &row : rows) sort_and_join(row);
  return rows;
}

Rows transposed(const Rows &rows) {
  Rows out(rows.size());
  for (std::size_t p = 0; p < rows.size(); ++p)
    for (const Entry &e : rows[p]) out[e.column].push_back({static_cast<PetscInt>(p), e.there, e.here});
  return out;
}

// Both triangles and the diagonal; with the fill of (I - L)(I - L^T): rows that share a column.
Rows product_rows(const Rows &lower, const Rows &upper, PetscInt own, bool fill) {
  Rows rows(static_cast<std::size_t>(own));
  for (PetscInt p = 0; p < own; ++p) {
    auto &row = rows[p];
    row.push_back({p, -1, -1});
    row.insert(row.end(), lower[p].begin(), lower[p].end());
    row.insert(row.end(), upper[p].begin(), upper[p].end());
    if (fill)
      for (const Entry &e : lower[p])
        for (const Entry &f : upper[e.column]) row.push_back({f.column, -1, -1});
    sort_and_join(row);
  }
  return rows;
}

// The first `count` rows, their columns from `first` to `end`.
SparsePattern pattern_of(const Rows &rows, PetscInt count, PetscInt first, PetscInt end) {
  SparsePattern out;
  out.ia.push_back(0);
  for (PetscInt p = 0; p < count; ++p) {
    for (const Entry &e : rows[p]) {
      if (e.column < first || e.column >= end) continue;
      out.ja.push_back(e.column);
      out.here.push_back(e.here);
      out.there.push_back(e.there);
    }
    out.ia.push_back(static_cast<PetscInt>(out.ja.size()));
  }
  return out;
}

} // namespace

SparsePlan make_sparse_plan(const Csr &A, const Series &series, Kept kept, double threshold, const Ghosts &ghosts) {
  const PetscInt all = A.n + ghosts.n;
  const Rows lower = lower_rows(A, ghosts), upper = transposed(lower);
  SparsePlan plan{{kept, series.in == Scale::s, threshold, series.omega, ghosts.n}, {}, {}, {}};
  const auto split = [&](const Rows &rows, SparsePattern *to) {
    to[0] = pattern_of(rows, A.n, 0, A.n);
    if (ghosts.n) to[1] = pattern_of(rows, A.n, A.n, all);
  };
  if (kept == Kept::triangles) {
    split(lower, plan.lower);
    split(upper, plan.second);
  } else {
    plan.triangle = pattern_of(lower, all, 0, all);
    split(product_rows(lower, upper, A.n, kept == Kept::threshold), plan.second);
  }
  return plan;
}

} // namespace petscrrb::neumann
