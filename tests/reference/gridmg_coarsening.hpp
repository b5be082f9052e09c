// One step to a coarser grid as docs/numerics_gridmg.md defines it: the interpolation and the coarse matrix.
#pragma once

#include "grid3d.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace reference {

// P of one step in direction q. Each fine point gets alpha of the coarse point on its left, and beta of that on its
// right; a coarse point is on its own right, with a beta of 1, but of 0 where it is dead: it takes no part.
struct Interpolation {
  int q;
  Grid3D fine, coarse;
  Vector alpha, beta;
  std::vector<bool> is_coarse;

  Interpolation(const WeightedGrid &A, int direction)
      : q(direction), fine(A.grid), coarse(A.grid), alpha(fine.size(), 0.0), beta(alpha), is_coarse(fine.size()) {
    coarse.n[q] = fine.periodic[q] ? (fine.n[q] + 1) / 2 : fine.n[q] / 2;
    for (int p = 0; p < fine.size(); p++) {
      is_coarse[p] = chosen(A, p);
      const double s = A.before(q, p) + A.after(q, p) + A.excess[p];
      if (is_coarse[p])
        beta[p] = A.dead(p) ? 0 : 1;
      else if (!A.dead(p) && s > 0) {
        alpha[p] = A.before(q, p) / s;
        beta[p] = A.after(q, p) / s;
      }
    }
  }
  int left(int p) const { return coarse_point(p, fine.at(p)[q] / 2 - 1); }
  int right(int p) const { return coarse_point(p, fine.at(p)[q] / 2); }

  template <class Real> std::vector<Real> prolong(const std::vector<Real> &x) const {
    std::vector<Real> out(fine.size(), 0);
    for (int p = 0; p < fine.size(); p++) {
      if (left(p) >= 0) out[p] += static_cast<Real>(alpha[p]) * x[left(p)];
      if (right(p) >= 0) out[p] += static_cast<Real>(beta[p]) * x[right(p)];
    }
    return out;
  }
  template <class Real> std::vector<Real> restrict_to_coarse(const std::vector<Real> &r) const {
    std::vector<Real> out(coarse.size(), 0);
    for (int p = 0; p < fine.size(); p++) {
      if (left(p) >= 0) out[left(p)] += static_cast<Real>(alpha[p]) * r[p];
      if (right(p) >= 0) out[right(p)] += static_cast<Real>(beta[p]) * r[p];
    }
    return out;
  }

private:
  bool chosen(const WeightedGrid &A, int p) const {
    const int i = fine.at(p)[q], last = fine.n[q] - 1;
    if (i % 2 == 1) return !A.dead(p);
    return i == last ? fine.periodic[q] : A.dead(fine.neighbour(p, q, 1));
  }
  int coarse_point(int p, int place) const {
    std::array<int, 3> at = fine.at(p);
    if (fine.periodic[q]) place = (place + coarse.n[q]) % coarse.n[q];
    at[q] = place;
    return place < 0 || place >= coarse.n[q] ? -1 : coarse.index(at);
  }
};

// How a coupling across, between p and p', is dealt out: the parts of the left and of the right coarse coupling.
// `along` has the coarse weights along the line.
inline std::array<double, 2> parts_across(const Interpolation &P, const WeightedGrid &along, int p, int other) {
  if (P.alpha[p] + P.beta[p] == 0 || P.alpha[other] + P.beta[other] == 0) return {0, 0};
  double left = std::min(P.alpha[p], P.alpha[other]), right = std::min(P.beta[p], P.beta[other]);
  double more_left = P.alpha[p] - P.alpha[other], more_right = P.beta[p] - P.beta[other];
  const bool opposite = (more_left > 0 && more_right < 0) || (more_left < 0 && more_right > 0);
  const bool p_is_left = more_left > 0;
  more_left = std::abs(more_left);
  more_right = std::abs(more_right);
  if (opposite) {
    const double m = std::min(more_left, more_right);
    const double t = along.weight[P.q][P.left(p)], t_other = along.weight[P.q][P.left(other)];
    const double phi = t + t_other > 0 ? t_other / (t + t_other) : 0.5;
    left += m * (p_is_left ? phi : 1 - phi);
    right += m * (p_is_left ? 1 - phi : phi);
    more_left -= m;
    more_right -= m;
  }
  if (more_left > 1e-10) left += more_left / 2;
  if (more_right > 1e-10) right += more_right / 2;
  return {left, right};
}

inline WeightedGrid coarse_matrix(const WeightedGrid &A, const Interpolation &P) {
  WeightedGrid out(P.coarse);
  out.excess = P.restrict_to_coarse(A.excess);
  for (int p = 0; p < A.grid.size(); p++) {
    const int next = A.grid.neighbour(p, P.q, 1);
    if (!P.is_coarse[p] || next < 0 || P.coarse.n[P.q] == 1) continue;
    out.weight[P.q][P.right(p)] = P.is_coarse[next] ? A.after(P.q, p) : P.alpha[next] * A.after(P.q, next);
  }
  for (int across = 0; across < 3; across++) {
    if (across == P.q) continue;
    for (int p = 0; p < A.grid.size(); p++) {
      const double w = A.after(across, p);
      if (w == 0) continue;
      const auto [to_left, to_right] = parts_across(P, out, p, A.grid.neighbour(p, across, 1));
      if (P.left(p) >= 0) out.weight[across][P.left(p)] += w * to_left;
      if (P.right(p) >= 0) out.weight[across][P.right(p)] += w * to_right;
    }
  }
  return out;
}

} // namespace reference
