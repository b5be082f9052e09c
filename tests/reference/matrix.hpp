// A sparse matrix as a list of rows, each a map from column to value: slow, and hard to get wrong.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace reference {

using Vector = std::vector<double>;
using Graph = std::vector<std::map<int, double>>; // row -> column -> value

struct CSR {
  std::vector<int> offset, column;
  Vector value;
};

struct Matrix {
  Graph row;

  explicit Matrix(int n = 0) : row(n) {}
  int size() const { return static_cast<int>(row.size()); }
  void add(int i, int j, double value) { row[i][j] += value; }

  double at(int i, int j) const {
    auto entry = row[i].find(j);
    return entry == row[i].end() ? 0.0 : entry->second;
  }

  Vector multiply(const Vector &x) const {
    Vector y(row.size(), 0.0);
    for (std::size_t i = 0; i < row.size(); i++)
      for (const auto &[j, value] : row[i]) y[i] += value * x[j];
    return y;
  }

  CSR csr() const {
    CSR out;
    out.offset.push_back(0);
    for (const auto &entries : row) {
      for (const auto &[j, value] : entries) {
        out.column.push_back(j);
        out.value.push_back(value);
      }
      out.offset.push_back(static_cast<int>(out.column.size()));
    }
    return out;
  }
};

// Adds a coupling of p and q to A, which leaves row sums as they are; twice w to the diagonal where both are the same.
inline void couple(Matrix &A, int p, int q, double w) {
  A.add(p, p, w);
  A.add(q, q, w);
  if (p != q) A.add(p, q, -w);
  if (p != q) A.add(q, p, -w);
}

inline double dot(const Vector &x, const Vector &y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); i++) sum += x[i] * y[i];
  return sum;
}

} // namespace reference
