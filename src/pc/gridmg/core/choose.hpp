// What a grid's couplings say of how it should be coarsened and smoothed (docs/numerics_gridmg.md).
#pragma once

#include "pc/gridmg/core/coarsen.hpp"

#include <vector>

namespace petscrrb::gridmg {

enum class Coarsening {
  automatic,
  full,
  semi
};
enum class Smoother {
  automatic,
  points,
  lines
};

struct Options {
  Coarsening coarsening = Coarsening::automatic;
  Smoother smoother = Smoother::automatic;
  int smooths = 1;           // nu: before and after
  int grids = 100;           // that are smoothed, and the coarsest one
  index_t coarse_size = 512; // a grid of as many points or fewer is the coarsest
};

// Sums over a grid's points that are not dead; the last two over those that are, such as identity rows. Directions are x, y, z.
struct Strengths {
  double share[3] = {};  // of the sums of both couplings in a direction, relative to the largest direction's
  double strong[3] = {}; // points at which they are more than `much` times the smallest direction's
  double alive = 0.0;
  double bad = 0.0;                      // points whose diagonal is not positive though they have couplings
  double diagonal = 0.0, inverses = 0.0; // sums of d and of 1/d
  double dead_diagonal = 0.0, dead_inverses = 0.0;

  static constexpr double much = 4.0;
  static constexpr int count = 12; // of numbers

  struct Numbers {
    double n[count];
  };
  PETSCRRB_HD Numbers numbers() const {
    return {{share[0], share[1], share[2], strong[0], strong[1], strong[2], alive, bad, diagonal, inverses,
             dead_diagonal, dead_inverses}};
  }
  void add(const double *n) {
    for (double *sum : {share, share + 1, share + 2, strong, strong + 1, strong + 2, &alive, &bad, &diagonal, &inverses,
                        &dead_diagonal, &dead_inverses})
      *sum += *n++;
  }
  PETSCRRB_HD void add_point(const Matrix &A, const Point &p) {
    double pair[3], d = A.e(p.a), most = 0.0, least = 0.0;
    for (int q = 0; q < 3; ++q) d += pair[q] = A.pair(q, p);
    for (const double s : pair) {
      most = s > most ? s : most;
      least = s > 0.0 && (least == 0.0 || s < least) ? s : least;
    }
    bad += !(d > 0.0) && (most > 0.0 || d != 0.0);
    if (!(most > 0.0)) {
      if (d > 0.0) dead_diagonal += d, dead_inverses += 1.0 / d;
      return;
    }
    alive += 1.0;
    diagonal += d, inverses += 1.0 / d;
    for (int q = 0; q < 3; ++q) share[q] += pair[q] / most, strong[q] += pair[q] > much * least;
  }
};

// Of the diagonal: its mean by that of its inverse, which grows with jumps of the coefficients and with where they are.
inline double spread(const Strengths &s) { return s.alive > 0.0 ? s.diagonal / s.alive * (s.inverses / s.alive) : 1.0; }

// By what dead points' diagonal is larger or smaller than the largest of the others, at the least. Where all are dead nothing is scaled.
inline double reach(const Strengths &s) {
  const double others = s.alive > 0.0 ? s.diagonal : 1.0;
  return std::max(s.dead_diagonal / others, s.dead_inverses * others);
}

// The directions that are coarsened before the next smoothing; none: this grid is the coarsest.
inline std::vector<int> coarsened(const Strengths &s, const Shape &x, const Options &o) {
  constexpr double next_to = 0.25; // of the strongest direction: it is coarsened as well
  std::vector<int> may, chosen;
  for (int q = 0; q < 3; ++q)
    if (x.n[q] > 2) may.push_back(q);
  if (o.coarsening == Coarsening::full || may.empty()) return may;
  int strongest = may[0];
  for (const int q : may)
    if (s.share[q] > s.share[strongest]) strongest = q;
  if (o.coarsening == Coarsening::semi) return {strongest};
  for (const int q : may)
    if (s.share[q] >= next_to * s.share[strongest]) chosen.push_back(q);
  return chosen;
}

// The directions of lines, in their order; none: points.
inline std::vector<int> smoothed(const Strengths &s, const Shape &x, const Options &o) {
  constexpr double some = 0.05; // of the points: lines pay
  std::vector<int> lines;
  for (int q = 0; q < 3; ++q)
    if (o.smoother == Smoother::lines ? x.n[q] > 1 : o.smoother == Smoother::automatic && s.strong[q] > some * s.alive)
      lines.push_back(q);
  if (o.smoother == Smoother::automatic)
    std::stable_sort(lines.begin(), lines.end(), [&](int a, int b) { return s.strong[a] > s.strong[b]; });
  return lines;
}

} // namespace petscrrb::gridmg
