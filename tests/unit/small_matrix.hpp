// Small sparse matrices for tests, with control over what is stored and in which order.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

class SmallMatrix {
public:
  explicit SmallMatrix(int n) : rows(n) {}

  int size() const { return static_cast<int>(rows.size()); }

  // Stores the entry, a zero too.
  void set(int p, int q, double value) { rows[p][q] = value; }

  void set_both(int p, int q, double value) {
    set(p, q, value);
    set(q, p, value);
  }

  void erase(int p, int q) { rows[p].erase(q); }

  double at(int p, int q) const {
    const auto entry = rows[p].find(q);
    return entry == rows[p].end() ? 0 : entry->second;
  }

  const std::vector<std::map<int, double>> &entries() const { return rows; }

  // Dirichlet: the row is gone, its column stays with the neighbours or goes too.
  void make_identity(int p, bool column_too, double diagonal = 1) {
    rows[p] = {{p, diagonal}};
    for (int q = 0; q < size() && column_too; ++q)
      if (q != p) erase(q, p);
  }

  // Stores zeros between all rows that are at most so far apart.
  void pad(int distance) {
    for (int p = 0; p < size(); ++p)
      for (int q = std::max(0, p - distance); q <= std::min(size() - 1, p + distance); ++q) rows[p].insert({q, 0.0});
  }

  // Valid until the next call. A seed other than 0 shuffles the columns of each row.
  petscrrb::Csr csr(unsigned seed = 0) {
    ia.assign(1, 0);
    ja.clear();
    a.clear();
    std::mt19937 random(seed);
    for (const auto &row : rows) {
      std::vector<std::pair<int, double>> entries(row.begin(), row.end());
      if (seed) std::shuffle(entries.begin(), entries.end(), random);
      for (const auto &e : entries) {
        ja.push_back(e.first);
        a.push_back(e.second);
      }
      ia.push_back(static_cast<PetscInt>(ja.size()));
    }
    petscrrb::Csr matrix;
    matrix.n = size();
    matrix.ia = ia.data();
    matrix.ja = ja.data();
    matrix.a = a.data();
    return matrix;
  }

private:
  std::vector<std::map<int, double>> rows;
  std::vector<PetscInt> ia, ja;
  std::vector<PetscScalar> a;
};

struct Shape {
  int nx, ny, nz = 1;
  bool px = false, py = false, pz = false;
  int points = 5; // 5, 9, 7 or 27

  int size() const { return nx * ny * nz; }
  int row(int i, int j, int k = 0) const { return (k * ny + j) * nx + i; }
};

// Of a 2D shape.
inline petscrrb::Grid grid_of(const Shape &s) {
  petscrrb::Grid g;
  g.n[0] = s.nx;
  g.n[1] = s.ny;
  g.periodic[0] = s.px;
  g.periodic[1] = s.py;
  g.points = s.points;
  return g;
}

// A point's neighbour, -1 outside the grid.
inline int neighbour(const Shape &s, int i, int j, int k, int di, int dj, int dk) {
  int at[3] = {i + di, j + dj, k + dk};
  const int n[3] = {s.nx, s.ny, s.nz};
  const bool periodic[3] = {s.px, s.py, s.pz};
  for (int x = 0; x < 3; ++x) {
    if (at[x] >= 0 && at[x] < n[x]) continue;
    if (!periodic[x]) return -1;
    at[x] = (at[x] + n[x]) % n[x];
  }
  return s.row(at[0], at[1], at[2]);
}

// Symmetric, couplings random in (-2, -1), diagonal dominant.
inline SmallMatrix random_matrix(const Shape &s, unsigned seed = 1) {
  SmallMatrix A(s.size());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-2, -1);
  for (int k = 0; k < s.nz; ++k)
    for (int j = 0; j < s.ny; ++j)
      for (int i = 0; i < s.nx; ++i)
        for (int dk = -1; dk <= 1; ++dk)
          for (int dj = -1; dj <= 1; ++dj)
            for (int di = -1; di <= 1; ++di) {
              const int away = std::abs(di) + std::abs(dj) + std::abs(dk), p = s.row(i, j, k);
              if (away == 0 || away > (s.points == 9 ? 2 : s.points == 27 ? 3 : 1)) continue;
              const int q = neighbour(s, i, j, k, di, dj, dk);
              if (q >= 0 && q != p && A.at(p, q) == 0) A.set_both(p, q, value(random));
            }
  for (int p = 0; p < s.size(); ++p) A.set(p, p, 30 + p % 3);
  return A;
}
