// The patterns of triangles and of products.
#include "sparse.hpp"

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

Rows lower_rows(const Csr &A) {
  Rows rows(static_cast<std::size_t>(A.n));
  for (PetscInt p = 0; p < A.n; ++p)
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q < p) rows[p].push_back({q, e, -1});
      if (q > p) rows[q].push_back({p, -1, e});
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

// With both triangles and the diagonal.
Rows symmetric_rows(const Rows &lower) {
  Rows rows = transposed(lower);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    rows[p].push_back({static_cast<PetscInt>(p), -1, -1});
    rows[p].insert(rows[p].end(), lower[p].begin(), lower[p].end());
    sort_and_join(rows[p]);
  }
  return rows;
}

// Those below the diagonal of (I - L)(I - L^T): rows that share a column.
Rows product_rows(const Rows &lower) {
  const Rows upper = transposed(lower);
  Rows rows = lower;
  for (std::size_t p = 0; p < rows.size(); ++p) {
    for (const Entry &e : lower[p])
      for (const Entry &f : upper[e.column])
        if (f.column < static_cast<PetscInt>(p)) rows[p].push_back({f.column, -1, -1});
    sort_and_join(rows[p]);
  }
  return rows;
}

SparsePattern pattern_of(const Rows &rows) {
  SparsePattern out;
  for (const auto &row : rows) {
    for (const Entry &e : row) {
      out.ja.push_back(e.column);
      out.here.push_back(e.here);
      out.there.push_back(e.there);
    }
    out.ia.push_back(static_cast<PetscInt>(out.ja.size()));
  }
  return out;
}

} // namespace

SparsePlan make_sparse_plan(const Csr &A, const Series &series, Kept kept, double threshold) {
  const Rows lower = lower_rows(A);
  SparsePlan plan{kept, series.in == Scale::s, threshold, series.omega, pattern_of(lower), {}};
  if (kept == Kept::triangles)
    plan.second = pattern_of(transposed(lower));
  else
    plan.second = pattern_of(symmetric_rows(kept == Kept::pattern ? lower : product_rows(lower)));
  return plan;
}

} // namespace petscrrb::neumann
