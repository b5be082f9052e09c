// The coarsest grid's matrix by rows, as the inverse wants it.
#pragma once

#include "pc/gridmg/core/coarsen.hpp"

#include <vector>

namespace petscrrb::gridmg {

// A row of the coarsest grid's matrix.
struct TakeRow {
  Matrix A;
  index_t n[3];
  const int *ia, *ja;
  double *a, *excess;

  PETSCRRB_HD void operator()(int i) const {
    const Point p{{i % n[0], i / n[0] % n[1], i / n[0] / n[1]}};
    const double e = A.e(p.a);
    int column[7];
    double value[7], diagonal = e;
    for (int t = 0; t < 6; ++t) {
      const int q = t / 2, by = t % 2 ? 1 : -1;
      const double w = A.w[q]((by < 0 ? p.moved(q, -1) : p).a);
      Point there = p.moved(q, by);
      there.a[q] = (there.a[q] + n[q]) % n[q];
      column[t] = w == 0.0 ? -1 : int((there.a[2] * n[1] + there.a[1]) * n[0] + there.a[0]);
      value[t] = -w, diagonal += w;
    }
    column[6] = i, value[6] = diagonal;
    for (int at = ia[i]; at < ia[i + 1]; ++at) {
      double sum = 0.0; // around a short ring a point is two neighbours, or its own
      for (int t = 0; t < 7; ++t)
        if (column[t] == ja[at]) sum += value[t];
      a[at] = sum;
    }
    excess[i] = e;
  }
};

class CoarsestRows {
public:
  CoarsestRows() = default;
  explicit CoarsestRows(const Shape &x) : shape_(x) {
    ia.push_back(0);
    each([&](const Point &p) {
      std::vector<int> columns{number(p)};
      for (int q = 0; q < 3; ++q)
        for (const index_t by : {-1, 1})
          if (const int there = neighbour(p, q, by); there >= 0) columns.push_back(there);
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      ja.insert(ja.end(), columns.begin(), columns.end());
      ia.push_back(int(ja.size()));
    });
    a.resize(ja.size());
    excess.resize(ia.size() - 1);
  }
  const Shape &shape() const { return shape_; }

  // A: with what is around rings
  void take(const Matrix &A) {
    const TakeRow take{A, {shape_.n[0], shape_.n[1], shape_.n[2]}, ia.data(), ja.data(), a.data(), excess.data()};
    for (int i = 0; i < int(excess.size()); ++i) take(i);
  }

  double bytes() const {
    return double((ia.size() + ja.size()) * sizeof(int) + (a.size() + excess.size()) * sizeof(double));
  }

  std::vector<int> ia, ja;
  std::vector<double> a, excess;

private:
  template <class F> void each(const F &f) const {
    for (index_t k = 0; k < shape_.n[2]; ++k)
      for (index_t j = 0; j < shape_.n[1]; ++j)
        for (index_t i = 0; i < shape_.n[0]; ++i) f(Point{{i, j, k}});
  }
  int number(const Point &p) const { return int((p.a[2] * shape_.n[1] + p.a[1]) * shape_.n[0] + p.a[0]); }
  int neighbour(Point p, int q, index_t by) const {
    p.a[q] += by;
    const index_t n = shape_.n[q];
    if (shape_.ring[q] && n > 1) p.a[q] = (p.a[q] + n) % n;
    return p.a[q] < 0 || p.a[q] >= n ? -1 : number(p);
  }
  Shape shape_;
};

} // namespace petscrrb::gridmg
