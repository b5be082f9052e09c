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

// Its pattern.
struct CoarsestRows {
  std::vector<int> ia{0}, ja;

  explicit CoarsestRows(const Shape &x) {
    const auto number = [&](const Point &p) { return int((p.a[2] * x.n[1] + p.a[1]) * x.n[0] + p.a[0]); };
    each_point(x.n, [&](const Point &p) {
      std::vector<int> columns{number(p)};
      for (int q = 0; q < 3; ++q)
        for (const index_t by : {-1, 1}) {
          Point there = p.moved(q, by);
          if (x.ring[q] && x.n[q] > 1) there.a[q] = (there.a[q] + x.n[q]) % x.n[q];
          if (there.a[q] >= 0 && there.a[q] < x.n[q]) columns.push_back(number(there));
        }
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      ja.insert(ja.end(), columns.begin(), columns.end());
      ia.push_back(int(ja.size()));
    });
  }
};

} // namespace petscrrb::gridmg
