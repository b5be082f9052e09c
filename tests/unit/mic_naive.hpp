// The factorization and its sweeps point by point in natural order, with the library's operations at a point: what
// wavefronts have to equal to the bit.
#pragma once

#include "mic_support.hpp"

namespace mic_support {

// T: what the factor is stored as. constant: its w are not, as couplings are all alike. axis: the directions as the order has them, whose terms are added up in turn.
template <class T> class Naive {
public:
  Naive(const Kept &kept, const Shape &shape, const Options &options, const int axis_of_order[3], bool constant = false)
      : s(shape), axis{axis_of_order[0], axis_of_order[1], axis_of_order[2]}, inverse(s.size()) {
    for (auto &w : W) w.assign(std::size_t(s.size()), 0);
    const int stride[3] = {1, s.nx, s.nx * s.ny};
    const auto coupling = [&](int p, int d) { return is_inside(p, d, 1) ? kept.A.at(p, p + stride[d]) : 0; };
    std::vector<double> handed(std::size_t(s.size())), to[3] = {handed, handed, handed};
    for (int p = 0; p < s.size(); ++p) {
      const double diagonal = kept.A.at(p, p);
      double b[3], e = diagonal;
      for (int d = 0; d < 3; ++d) {
        b[d] = -double(T(coupling(p, d)));
        e += coupling(p, d) + (is_inside(p, d, -1) ? coupling(p - stride[d], d) : 0);
      }
      if (options.type == Type::ssor) {
        for (int d = 0; d < 3; ++d) W[d][p] = T(options.omega * -b[d] / diagonal);
        inverse[p] = T((kept.identity[p] ? 1 : options.omega * (2 - options.omega)) / diagonal);
        continue;
      }
      if (std::fabs(e) <= 1e-14 * diagonal) e = 0;
      for (int a : {2, 0, 1})
        if (is_inside(p, axis[a], -1)) e += to[axis[a]][p - stride[axis[a]]];
      petscrrb::mic::PivotIs is;
      const double sum = b[axis[0]] + b[axis[1]] + b[axis[2]];
      const auto d = petscrrb::mic::PivotRule{options.omega, options.shift}.pivot(e, sum, T(diagonal), is);
      for (int m = 0; m < 3; ++m) {
        to[m][p] = d.handed(b[m], options.omega);
        W[m][p] = T(d.d > 0 ? -b[m] / d.d : 0);
      }
      inverse[p] = T(d.d > 0 ? 1 / d.d : 0);
    }
    if (!constant) return;
    for (int d = 0; d < 3; ++d) {
      const double a = T(coupling(0, d)) / (options.type == Type::ssor ? 2 - options.omega : 1);
      for (int p = 0; p < s.size(); ++p) W[d][p] = coupling(p, d) == 0 ? 0 : petscrrb::mic::times(a, inverse[p]);
    }
  }

  std::vector<double> solve(const std::vector<double> &r) const {
    using petscrrb::mic::times;
    const int stride[3] = {1, s.nx, s.nx * s.ny};
    std::vector<double> u(r.size());
    for (int p = 0; p < s.size(); ++p) {
      double t[3] = {};
      for (int a = 0; a < 3; ++a) {
        const int q = p - stride[axis[a]];
        if (is_inside(p, axis[a], -1)) t[a] = times(W[axis[a]][q], u[q]);
      }
      u[p] = petscrrb::mic::without(r[p], t[2], t[0], t[1]);
    }
    for (int p = s.size(); p-- > 0;) {
      double t[3] = {};
      for (int a = 0; a < 3; ++a) {
        const int q = p + stride[axis[a]];
        if (is_inside(p, axis[a], 1)) t[a] = times(W[axis[a]][p], u[q]);
      }
      u[p] = petscrrb::mic::without(times(inverse[p], u[p]), t[2], t[0], t[1]);
    }
    return u;
  }

private:
  bool is_inside(int p, int d, int step) const {
    const int n[3] = {s.nx, s.ny, s.nz}, at[3] = {p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny};
    return at[d] + step >= 0 && at[d] + step < n[d];
  }

  const Shape s;
  const int axis[3];
  std::vector<double> W[3];
  std::vector<T> inverse;
};

} // namespace mic_support
