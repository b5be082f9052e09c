// Relaxation by blocks by the textbook: a dense Cholesky factor for each diagonal block, one block after the other.
#pragma once

#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

// A logically rectangular set of unknowns, first + (k n[1] + j) n[0] + i at (i, j, k).
struct RelaxedPatch {
  std::array<int, 3> n;
  int first;
};

struct RelaxedBlock {
  std::array<int, 3> at, of; // which block of its patch it is, and how many the patch has a side
  int patch = 0, colour = 0;
  std::vector<int> rows;
};

// Patch after patch, x fastest; those at the far sides are truncated.
inline std::vector<RelaxedBlock> blocks_of(const std::vector<RelaxedPatch> &patches, const std::array<int, 3> &size) {
  std::vector<RelaxedBlock> blocks;
  for (std::size_t p = 0; p < patches.size(); p++) {
    const auto &[n, first] = patches[p];
    std::map<std::array<int, 3>, RelaxedBlock> found; // by (z, y, x)
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++) {
          RelaxedBlock &block = found[{k / size[2], j / size[1], i / size[0]}];
          block.at = {i / size[0], j / size[1], k / size[2]};
          block.of = {(n[0] - 1) / size[0] + 1, (n[1] - 1) / size[1] + 1, (n[2] - 1) / size[2] + 1};
          block.patch = static_cast<int>(p);
          block.rows.push_back(first + (k * n[1] + j) * n[0] + i);
        }
    for (const auto &[at, block] : found) blocks.push_back(block);
  }
  return blocks;
}

// Of a symmetric positive definite matrix, given by its rows' entries (row, column, value). Rows begin at their first
// entry, and so do the factor's.
class DenseCholesky {
public:
  using Entries = std::vector<std::pair<std::array<int, 2>, double>>;

  DenseCholesky(int n, const Entries &entries) : L(n, Vector(n, 0.0)), first(n, n) {
    for (const auto &[at, value] : entries) {
      L[at[0]][at[1]] = value;
      first[at[0]] = std::min(first[at[0]], at[1]);
    }
    for (int i = 0; i < n; i++)
      for (int j = first[i]; j <= i; j++) {
        double sum = L[i][j];
        for (int k = std::max(first[i], first[j]); k < j; k++) sum -= L[i][k] * L[j][k];
        if (i == j && !(sum > 0)) throw std::invalid_argument("a block is not positive definite");
        L[i][j] = i == j ? std::sqrt(sum) : sum / L[j][j];
      }
  }

  Vector solve(Vector x) const {
    const int n = static_cast<int>(L.size());
    for (int i = 0; i < n; i++) {
      for (int k = first[i]; k < i; k++) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    for (int i = n; i-- > 0;) {
      x[i] /= L[i][i];
      for (int k = first[i]; k < i; k++) x[k] -= L[i][k] * x[i];
    }
    return x;
  }

private:
  std::vector<Vector> L;
  std::vector<int> first;
};

// x += omega M^-1 (b - A x). Blocks that are alike share a factor. What is in other patches is taken as it was before
// the sweep. A block's inverse has no couplings with identity rows; it is 1 for those whose diagonal is zero.
class BlockRelaxation {
public:
  BlockRelaxation(const Matrix &matrix, std::vector<RelaxedBlock> partition)
      : A(matrix), blocks(std::move(partition)), identity(A.size(), true), patch(A.size(), -1) {
    for (int p = 0; p < A.size(); p++)
      for (const auto &[q, a] : A.row[p])
        if (q != p && a != 0) identity[p] = false;
    for (const RelaxedBlock &block : blocks) {
      for (int p : block.rows) patch[p] = block.patch;
      factor_of.push_back(factor(block));
    }
  }

  BlockRelaxation(const BlockRelaxation &) = delete; // blocks point to the factors

  Vector jacobi(const Vector &b, const Vector &x, double omega = 1) const {
    Vector next = x;
    for (std::size_t n = 0; n < blocks.size(); n++) relax(n, omega, b, x, x, next);
    return next;
  }
  // Gauss-Seidel in the order of the blocks.
  Vector lexicographic(const Vector &b, const Vector &x, double omega = 1) const {
    Vector next = x;
    for (std::size_t n = 0; n < blocks.size(); n++) relax(n, omega, b, x, next, next);
    return next;
  }
  // Gauss-Seidel colour by colour.
  Vector coloured(const Vector &b, const Vector &x, double omega = 1) const {
    Vector next = x;
    for (int colour = 0; colour < colours(); colour++) relax_colour(colour, omega, b, x, next);
    return next;
  }
  // The colours forth and back; the last one twice, unless that is of no use since omega is 1.
  Vector symmetric(const Vector &b, const Vector &x, double omega = 1) const {
    Vector next = x;
    for (int colour = 0; colour < colours(); colour++) relax_colour(colour, omega, b, x, next);
    for (int colour = omega == 1 ? colours() - 1 : colours(); colour-- > 0;) relax_colour(colour, omega, b, x, next);
    return next;
  }

private:
  int colours() const {
    int most = 0;
    for (const RelaxedBlock &block : blocks) most = std::max(most, block.colour + 1);
    return most;
  }
  void relax_colour(int colour, double omega, const Vector &b, const Vector &before, Vector &x) const {
    for (std::size_t n = 0; n < blocks.size(); n++)
      if (blocks[n].colour == colour) relax(n, omega, b, before, x, x);
  }
  // x: what the block sees of its own patch; before: of the others
  void relax(std::size_t n, double omega, const Vector &b, const Vector &before, const Vector &x, Vector &next) const {
    const RelaxedBlock &block = blocks[n];
    Vector r;
    for (int p : block.rows) {
      double residual = b[p];
      for (const auto &[q, a] : A.row[p]) residual -= a * (patch[q] == block.patch ? x[q] : before[q]);
      r.push_back(residual);
    }
    const Vector correction = factor_of[n]->solve(r);
    for (std::size_t i = 0; i < r.size(); i++) next[block.rows[i]] = x[block.rows[i]] + omega * correction[i];
  }

  const DenseCholesky *factor(const RelaxedBlock &block) {
    std::map<int, int> place;
    for (int p : block.rows) place.insert({p, static_cast<int>(place.size())});
    DenseCholesky::Entries entries;
    for (int p : block.rows) {
      const double diagonal = A.at(p, p);
      entries.push_back({{place[p], place[p]}, identity[p] && diagonal == 0 ? 1 : diagonal});
      for (const auto &[q, a] : A.row[p])
        if (q != p && place.count(q) && !identity[p] && !identity[q]) entries.push_back({{place[p], place[q]}, a});
    }
    const int n = static_cast<int>(block.rows.size());
    return &factors.try_emplace({n, entries}, n, entries).first->second;
  }

  const Matrix A;
  const std::vector<RelaxedBlock> blocks;
  std::vector<bool> identity;
  std::vector<int> patch; // of each row
  std::map<std::pair<int, DenseCholesky::Entries>, DenseCholesky> factors;
  std::vector<const DenseCholesky *> factor_of;
};

} // namespace reference
