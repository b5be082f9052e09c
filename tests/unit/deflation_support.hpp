// Matrices, spaces and their dense references for the tests of the projection, wherever it computes.
#pragma once

#include "../reference/deflation_reference.hpp"
#include "../reference/two_phase.hpp"
#include "ksp/deflation/core/deflation.hpp"

#include <memory>
#include <ostream>
#include <string>

namespace deflationtest {

struct Rows { // keeps what a Csr shows
  std::vector<PetscInt> ia, ja;
  std::vector<double> a;

  explicit Rows(const reference::Matrix &A) {
    const reference::CSR csr = A.csr();
    ia.assign(csr.offset.begin(), csr.offset.end());
    ja.assign(csr.column.begin(), csr.column.end());
    a = csr.value;
  }
  petscrrb::Csr csr() const { return {PetscInt(ia.size()) - 1, ia.data(), ja.data(), a.data()}; }
};

struct Case {
  std::string name;
  reference::Matrix A;
  reference::Sizes n;
  petscrrb::deflation::Space space;
  reference::Labels labels;
  reference::Vector phi; // which space.phi points to
};

inline std::ostream &operator<<(std::ostream &o, const Case &c) { return o << c.name; }

inline petscrrb::Grid grid_of(const reference::Sizes &n) {
  petscrrb::Grid g;
  g.dim = n[2] > 1 ? 3 : 2;
  for (int d = 0; d < 3; ++d) g.n[d] = n[d];
  g.points = g.dim == 3 ? 7 : 5;
  return g;
}

// The spaces on one matrix: blocks, half rows, stripes of several lines, phases in three ways.
inline void add_spaces(std::vector<Case> &cases, const std::string &name, const reference::Matrix &A,
                       const reference::Sizes &n) {
  using namespace petscrrb::deflation;
  const petscrrb::Grid g = grid_of(n);
  const petscrrb::index_t blocks[3] = {3, 2, 2};
  const auto add = [&](const char *space, Boxes boxes, bool phases, const reference::Labels &labels,
                       const reference::Vector &phi = {}) {
    cases.push_back({name + "_" + space, A, n, {}, labels, phi});
    Space &s = cases.back().space;
    s.grid = g, s.boxes = std::move(boxes), s.phases = phases;
  };
  const reference::Labels block = reference::block_labels(A, n, {3, 2, 2}), one(A.size(), 0);
  add("blocks", blocks_of(g, blocks), false, block);
  add("half_lines", stripes_of(g, 1, 2), false, reference::stripe_labels(A, n, 1, 2));
  add("stripes", stripes_of(g, 3, 1), false, reference::stripe_labels(A, n, 3, 1));
  reference::Vector phi(A.size());
  for (int i = 0; i < A.size(); ++i) phi[i] = std::sin(0.7 * (i % n[0])) * std::cos(0.4 * (i / n[0])) - 0.1;
  const auto sign = [&](int i, int j) { return (phi[i] >= 0) == (phi[j] >= 0); };
  const auto jump = [&](int i, int j) {
    return std::max(A.at(i, i), A.at(j, j)) < 10 * std::min(A.at(i, i), A.at(j, j));
  };
  add("phases", {}, true, reference::phase_labels(A, sign, one), phi);
  add("cut_phases", blocks_of(g, blocks), true, reference::phase_labels(A, sign, block), phi);
  add("jumps", {}, true, reference::phase_labels(A, jump, one));
}

inline std::vector<Case> all_cases() {
  using reference::Matrix;
  std::vector<Case> cases;
  const auto hole = [](int i, int j) { return i > 2 && i < 5 && j > 1 && j < 6; };
  add_spaces(cases, "random_faces", reference::random_faces({11, 9}, 100).A, {11, 9, 1});
  add_spaces(cases, "nine_points", reference::random_nine_points({10, 8}, 0.1).A, {10, 8, 1});
  add_spaces(cases, "neumann", reference::neumann(9, 7).A, {9, 7, 1});
  add_spaces(cases, "ponds", reference::two_ponds(12, 6).A, {12, 6, 1});
  add_spaces(cases, "two_phase", reference::two_phase(12).A, {12, 12, 1});
  add_spaces(cases, "identity_rows", reference::identity_rows(reference::random_faces({10, 9}, 10), hole, false).A,
             {10, 9, 1});
  add_spaces(cases, "identity_columns", reference::identity_rows(reference::random_faces({10, 9}, 10), hole, true).A,
             {10, 9, 1});
  add_spaces(cases, "ring", reference::periodic({9, 8, true, true}, 0.01).A, {9, 8, 1});
  add_spaces(cases, "seven_points", reference::random_seven_points(6, 5, 4, 100, 0.1), {6, 5, 4});
  add_spaces(cases, "seven_points_singular", reference::random_seven_points(5, 4, 4, 10, 0), {5, 4, 4});
  add_spaces(cases, "chain", reference::random_faces({40, 1}, 100).A, {40, 1, 1});
  for (Case &c : cases) c.space.phi = c.phi.empty() ? nullptr : c.phi.data();
  return cases;
}

} // namespace deflationtest
