// What the tests of the reference of RRB by support share: short ways to factor, and matrices that need the choice.
#pragma once

#include "reference/hard_problems.hpp"
#include "reference/support_reference.hpp"
#include "reference_support.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace reference {

// Down to one unknown, unless `last` says otherwise.
inline SupportOptions deep(int last = 1, double eps = 0.1) {
  SupportOptions options;
  options.last = last;
  options.eps = eps;
  return options;
}

inline SupportRRB by_support(const Problem &problem, SupportOptions options = deep()) {
  options.v = problem.v;
  return SupportRRB(problem.A, problem.grid, options);
}

// Each coupling by another factor exp(sigma t), t in [-1, 1]; row sums stay.
inline Problem perturbed(Problem problem, double sigma, std::uint32_t seed) {
  Random random(seed);
  for (int p = 0; p < problem.A.size(); p++)
    for (auto &[q, a] : problem.A.row[p]) {
      if (q <= p || problem.A.at(q, p) == 0) continue;
      const double change = a * (std::exp(sigma * (2 * random() - 1)) - 1);
      a += change;
      problem.A.add(q, p, change);
      problem.A.add(p, p, -change);
      problem.A.add(q, q, -change);
    }
  return problem;
}

inline std::vector<std::pair<std::string, Problem>> rough_problems() {
  std::vector<std::pair<std::string, Problem>> all;
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 5 == 0 || (i > 8 && j > 12); };
  for (std::uint32_t seed = 1; seed <= 3; seed++) {
    const std::string number = ", seed " + std::to_string(seed);
    all.push_back({"faces" + number, random_faces({19, 22}, 1e4, seed)});
    all.push_back({"cells" + number, rough_cells(24, 17, 5, seed)});
    all.push_back({"rings" + number, random_faces({17, 12, true, true}, 1e3, seed)});
    all.push_back({"mask" + number, identity_rows(random_faces({25, 21}, 1e2, seed), dry, true)});
    all.push_back({"nine points" + number, random_nine_points({21, 18}, 0.2, 0.01, seed)});
  }
  all.push_back({"channels", channels(23, 24, 1, 4)});
  all.push_back({"stretched", finite_volumes(geometric_cells(21, 300), geometric_cells(20, 300), one, one)});
  return all;
}

// The largest of the entries' differences, as a part of b's largest entry.
inline double relative_difference(const Vector &a, const Vector &b) {
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return size > 0 ? largest / size : largest;
}

} // namespace reference
