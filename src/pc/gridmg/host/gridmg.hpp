// What multigrid has of its own on the host.
#pragma once

#include "dense/host/profile.hpp"
#include "pc/gridmg/core/coarsest.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "pc/gridmg/host/loops.hpp"
#include "pc/gridmg/ranks/on_boxes.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::gridmg {

template <> class CoarsestInverse<Host> {
public:
  static constexpr index_t most = 20000; // its factor takes some 100 MB then

  void refresh(const Host &, const Shape &x, const Matrix &A, double null_inverse) {
    if (x.n != rows_.shape().n) {
      CoarsestRows rows(x);
      inverse_.setup(rows.ia, rows.ja, dense::Inverse::cholesky);
      vector_.resize(x.points());
      rows_ = std::move(rows);
    }
    rows_.take(A);
    failed_ = inverse_.refresh(rows_.a.data(), rows_.excess.data(), null_inverse).unknown >= 0;
  }
  void finish(const Host &, bool &failed, int &null_directions) const {
    failed = failed_, null_directions = inverse_.null_directions();
  }
  // x = from times the inverse times b
  template <class T> void solve(const Host &on, const Field<T> &b, const Field<T> &x, double from) {
    const Shape &n = rows_.shape();
    on.for_each_point(n.all(), Store<T>{b, vector_.data(), nullptr, 1.0, n.n[0], n.n[1]});
    inverse_.apply(vector_.data());
    on.for_each_point(n.all(), Load<T>{vector_.data(), x, nullptr, from, n.n[0], n.n[1]});
  }
  double bytes() const { return inverse_.bytes() + double(vector_.size() * sizeof(double)) + rows_.bytes(); }

private:
  CoarsestRows rows_;
  dense::ProfileInverse inverse_;
  std::vector<double> vector_;
  bool failed_ = false;
};

template <> class FindScales<Host> {
public:
  explicit FindScales(const Host &) {}
  const Scales *operator()(const Host &on, const double *r, index_t n) { return put(on, largest(on, r, n)); }
  const Scales *put(const Host &, double largest) {
    scales_ = Scales::of(largest);
    return &scales_;
  }
  double largest(const Host &, const double *r, index_t n) const {
    double most = 0.0;
#pragma omp parallel for simd schedule(static) reduction(max : most) if (n > host::serial_below)
    for (index_t i = 0; i < n; ++i) most = std::max(most, std::fabs(r[i]));
    return most;
  }

private:
  Scales scales_;
};

template <> class Repeated<Host> {
public:
  template <class Work> void operator()(const Host &, const Work &work) { work(); }
  void reset() {}
};

// in gridmg.cxx
extern template class Hierarchy<Host, float>;
extern template class Hierarchy<Host, double>;
extern template class Multigrid<Host, float>;
extern template class Multigrid<Host, double>;
extern template class GridMGOn<Host, float>;
extern template class GridMGOn<Host, double>;
extern template class OnBoxes<Host, float>;
extern template class OnBoxes<Host, double>;

} // namespace petscrrb::gridmg
