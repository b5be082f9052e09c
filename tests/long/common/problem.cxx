// Random linear systems on grids: shape, coefficients, what is masked; defects are in defects.cxx.
#include "problem.hpp"

#include "defects.hpp"

#include <algorithm>
#include <cstdlib>

namespace longtest {

namespace {

struct Faces { // how large the coefficients of faces are
  double log_contrast = 0, scale = 1, factor[3] = {1, 1, 1};
  int kind = 0;
};

int random_side(Random &random, int dimensions) {
  if (random.chance(0.07)) return 1;
  if (random.chance(0.07)) return 2;
  if (dimensions == 3) return random.chance(0.9) ? random.integer(1, 7) : random.integer(1, 13);
  return random.chance(0.72)  ? random.integer(1, 12)
         : random.chance(0.8) ? random.integer(1, 33)
                              : random.integer(30, 70);
}

void choose_shape(Random &random, Problem &p) {
  static const int kinds[] = {5, 5, 5, 5, 5, 5, 9, 9, 7, 7, 7, 27};
  p.points = kinds[random.integer(0, 11)];
  p.dimensions = p.points == 7 || p.points == 27 ? 3 : 2;
  for (int d = 0; d < p.dimensions; ++d) {
    p.n[d] = random_side(random, p.dimensions);
    p.periodic[d] = random.chance(0.12) && p.n[d] > 0;
  }
  if (random.chance(0.01)) p.n[random.integer(0, p.dimensions - 1)] = 0;
  p.words = std::to_string(p.points) + " points, ";
  for (int d = 0; d < p.dimensions; ++d)
    p.words += (d ? " x " : "") + std::to_string(p.n[d]) + (p.periodic[d] ? " (ring)" : "");
}

Faces choose_faces(Random &random, Problem &p) {
  Faces f;
  f.kind = random.integer(0, 9);
  if (f.kind >= 5) f.log_contrast = f.kind == 9 ? random.between(3, 9) : random.between(0, 3);
  if (random.chance(0.15)) f.factor[random.integer(0, 2)] = random.power(-5, 5);
  if (random.chance(0.25)) f.scale = random.power(-4, 4);
  if (random.chance(0.04)) f.scale = random.power(-300, 300);
  if (random.chance(0.02)) f.kind = 10; // any size a double has
  const double size = std::abs(std::log10(f.scale)) + f.log_contrast;
  p.tame = size < 7 && f.log_contrast < 3 && f.kind != 10 &&
           std::all_of(f.factor, f.factor + 3, [](double x) { return x > 1e-2 && x < 1e2; });
  p.words += f.kind == 10 ? ", faces of any size"
                          : ", faces 1 to 1e" + std::to_string(f.log_contrast) + ", scale " + std::to_string(f.scale);
  return f;
}

double face(Random &random, const Faces &f, int d) {
  if (f.kind == 10) return random.power(-300, 300);
  double k = f.scale * f.factor[d];
  if (f.kind >= 7)
    k *= random.chance(0.5) ? 1 : std::pow(10.0, f.log_contrast); // jumps
  else if (f.kind >= 5)
    k *= random.power(0, f.log_contrast);
  return k;
}

struct Step {
  int by[3];
};

std::vector<Step> steps_of(int points) { // half of a stencil: the other half is the same couplings
  if (points == 5) return {{{1, 0, 0}}, {{0, 1, 0}}};
  if (points == 7) return {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  std::vector<Step> all;
  for (int k = points == 27 ? -1 : 0; k <= (points == 27 ? 1 : 0); ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i)
        if (k > 0 || (k == 0 && (j > 0 || (j == 0 && i > 0)))) all.push_back({{i, j, k}});
  return all;
}

void couple(Problem &p, Random &random, const Faces &f, double positive) {
  const auto steps = steps_of(p.points);
  for (int row = 0; row < p.size(); ++row)
    for (const Step &step : steps) {
      int at[3] = {row % p.n[0], row / p.n[0] % p.n[1], row / p.n[0] / p.n[1]};
      bool inside = true;
      int along = 0;
      for (int d = 0; d < 3; ++d) {
        at[d] += step.by[d];
        if (step.by[d]) along = d;
        if (at[d] >= 0 && at[d] < p.n[d]) continue;
        inside = inside && p.periodic[d];
        at[d] = (at[d] + p.n[d]) % p.n[d];
      }
      const double k = face(random, f, along), a = random.chance(positive) ? k : -k;
      const int other = (at[2] * p.n[1] + at[1]) * p.n[0] + at[0];
      if (!inside || other == row) continue;
      p.A.add(row, row, k), p.A.add(other, other, k);
      p.A.add(row, other, a), p.A.add(other, row, a);
    }
}

// Sides with Dirichlet conditions that were eliminated, a shift, or neither: then it is singular, with its constants.
void choose_sides(Problem &p, Random &random, const Faces &f, double positive) {
  const bool shifted = random.chance(0.1);
  bool open = shifted;
  bool low[3], high[3];
  const double none = random.chance(0.2) ? 1 : random.chance(0.5) ? 0 : 0.5;
  for (int d = 0; d < p.dimensions; ++d) {
    low[d] = !p.periodic[d] && !random.chance(none), high[d] = !p.periodic[d] && !random.chance(none);
    open = open || low[d] || high[d];
  }
  const double shift = shifted ? f.scale * random.power(-3, 1) : 0;
  for (int row = 0; row < p.size(); ++row) {
    const int at[3] = {row % p.n[0], row / p.n[0] % p.n[1], row / p.n[0] / p.n[1]};
    p.A.add(row, row, shift);
    for (int d = 0; d < p.dimensions; ++d) {
      if (at[d] == 0 && low[d]) p.A.add(row, row, face(random, f, d));
      if (at[d] == p.n[d] - 1 && high[d]) p.A.add(row, row, face(random, f, d));
    }
  }
  p.definite = open;
  if (!open) p.words += ", Neumann";
  if (shifted) p.tame = p.tame && shift > 1e-2 * f.scale;
  if (!open && positive == 0 && random.chance(0.6) && p.size() > 0) {
    p.null_space.emplace_back(p.size(), 1.0);
    p.words += " with its null space";
  }
}

void fill(Random &random, Problem &p) {
  p.A = reference::Matrix(p.n[0] * p.n[1] * p.n[2]);
  p.columns = p.size();
  const Faces f = choose_faces(random, p);
  const double positive = random.chance(0.1) ? random.of({0.05, 0.5, 1.0}) : 0;
  if (positive > 0) p.words += ", positive couplings", p.tame = false;
  couple(p, random, f, positive);
  choose_sides(p, random, f, positive);
  mask_points(random, p);
  if (random.chance(0.12)) add_defect(random, p);
  if (random.chance(0.03)) p.near_null = random_direction(random, p.size()), p.words += ", a near null vector";
}

} // namespace

reference::Vector random_direction(Random &random, int n) {
  reference::Vector v(n);
  for (double &x : v) x = random.between(0.5, 2);
  return v;
}

Problem random_problem(Random &random) {
  Problem p;
  choose_shape(random, p);
  fill(random, p);
  return p;
}

void change_values(Random &random, Problem &p) {
  const auto before = p.A.row;
  if (random.chance(0.3)) { // another size of all
    const double by = random.chance(0.9) ? random.power(-3, 3) : -1;
    for (auto &row : p.A.row)
      for (auto &entry : row) entry.second *= by;
    if (by < 0) p.semidefinite = p.definite = p.tame = false;
    p.words = "all times " + std::to_string(by);
  } else if (random.chance(0.3)) {
    p.words.clear();
    add_defect(random, p);
  } else {
    Problem other;
    other.points = p.points, other.dimensions = p.dimensions;
    std::copy(p.n, p.n + 3, other.n), std::copy(p.periodic, p.periodic + 3, other.periodic);
    const bool square = p.on_grid && p.columns == p.size();
    if (!square) return;
    fill(random, other);
    p = other;
  }
  // what is stored stays stored
  for (int i = 0; i < p.size(); ++i)
    for (const auto &entry : before[i]) p.A.row[i].emplace(entry.first, 0.0);
}

reference::Vector random_rhs(Random &random, const Problem &p, std::string &words) {
  const int n = p.size();
  reference::Vector b(n, 0.0);
  const int kind = random.integer(0, 19);
  if (kind == 0)
    words = "b 0";
  else if (kind == 1 && n)
    b[random.integer(0, n - 1)] = 1, words = "b a unit vector";
  else if (kind <= 4)
    std::fill(b.begin(), b.end(), 1.0), words = "b constant";
  else if (kind <= 9) {
    reference::Vector x(p.columns);
    for (double &value : x) value = random.between(-1, 1);
    b = p.A.multiply(x), words = "b of a random x";
  } else {
    for (double &value : b) value = random.between(-1, 1);
    words = "b random";
  }
  const bool consistent = p.definite || random.chance(0.7);
  if (!p.null_space.empty() && consistent)
    for (const auto &w : p.null_space) {
      const double part = reference::dot(w, b) / reference::dot(w, w);
      for (int i = 0; i < n; ++i) b[i] -= part * w[i];
    }
  if (random.chance(0.03)) {
    const double by = random.power(-200, 200);
    for (double &value : b) value *= by;
    words += " times " + std::to_string(std::log10(by)) + " (log10)";
  }
  if (random.chance(0.005) && n)
    b[random.integer(0, n - 1)] = random.chance(0.5) ? double(NAN) : double(INFINITY), words += " with a NaN or Inf";
  return b;
}

reference::Vector random_guess(Random &random, const Problem &p, std::string &words) {
  reference::Vector x;
  if (random.chance(0.7)) return x;
  x.resize(p.columns);
  const double size = random.chance(0.9) ? 1 : random.power(-20, 20);
  for (double &value : x) value = size * random.between(-1, 1);
  words += ", a random guess";
  if (random.chance(0.01) && !x.empty()) x[random.integer(0, p.columns - 1)] = NAN, words += " with a NaN";
  return x;
}

} // namespace longtest
