// The rows of a matrix as several ranks have them, without ranks.
#pragma once

#include "grid/pattern.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

namespace cut_rows {

using petscrrb::BoxPlaces;
using petscrrb::Csr;
using petscrrb::RankRows;

// Which rows a rank has.
struct Part {
  BoxPlaces places;
  PetscInt rows;
};

// columns x lines boxes of a grid, of sides that differ
inline std::vector<Part> boxes(int nx, int ny, int columns, int lines) {
  const auto cut = [](int n, int parts, int k) {
    return k == parts ? n : n * k / parts + (k > 0 && n * k / parts + 1 < n);
  };
  std::vector<Part> parts;
  for (int j = 0; j < lines; ++j)
    for (int i = 0; i < columns; ++i) {
      const int x = cut(nx, columns, i), y = cut(ny, lines, j);
      const int width = cut(nx, columns, i + 1) - x, height = cut(ny, lines, j + 1) - y;
      parts.push_back({{y * nx + x, std::max(width, 1), nx}, width * height});
    }
  return parts;
}
// so many consecutive rows each
inline std::vector<Part> slabs(const std::vector<int> &sizes) {
  std::vector<Part> parts;
  PetscInt first = 0;
  for (int n : sizes) {
    parts.push_back({{first, 1, 1}, n});
    first += n;
  }
  return parts;
}

// What one rank has of A; its arrays are its own.
class RowsOfRank {
public:
  RowsOfRank(const Csr &A, const std::vector<Part> &parts, std::size_t rank) : part_(parts[rank]) {
    std::vector<PetscInt> global(std::size_t(A.n)), local(std::size_t(A.n), -1);
    PetscInt number = 0;
    for (const Part &p : parts)
      for (PetscInt row = 0; row < p.rows; ++row) global[std::size_t(p.places(row))] = number++;
    for (PetscInt row = 0; row < part_.rows; ++row) local[std::size_t(part_.places(row))] = row;
    std::set<std::pair<PetscInt, PetscInt>> found; // by global number
    for (PetscInt row = 0; row < part_.rows; ++row)
      for (PetscInt e = A.ia[part_.places(row)]; e < A.ia[part_.places(row) + 1]; ++e)
        if (local[std::size_t(A.ja[e])] < 0) found.insert({global[std::size_t(A.ja[e])], A.ja[e]});
    for (const auto &ghost : found) {
      local[std::size_t(ghost.second)] = PetscInt(ghosts_.size());
      ghosts_.push_back(ghost.second);
    }
    for (PetscInt row = 0; row < part_.rows; ++row) {
      for (PetscInt e = A.ia[part_.places(row)]; e < A.ia[part_.places(row) + 1]; ++e) {
        const PetscInt q = A.ja[e];
        const bool other = found.count({global[std::size_t(q)], q}) > 0;
        ja_[other].push_back(local[std::size_t(q)]);
        a_[other].push_back(A.a[e]);
      }
      for (int b : {0, 1}) ia_[b].push_back(PetscInt(ja_[b].size()));
    }
  }

  RankRows rows() const {
    RankRows r;
    r.n = part_.rows;
    r.places = part_.places;
    r.ghost_places = ghosts_.data();
    if (!ja_[0].empty()) r.own = block(0);
    if (!ja_[1].empty()) r.others = block(1);
    return r;
  }
  const std::vector<PetscInt> &ghosts() const { return ghosts_; }

private:
  Csr block(int b) const { return {part_.rows, ia_[b].data(), ja_[b].data(), a_[b].data()}; }

  Part part_;
  std::vector<PetscInt> ia_[2] = {{0}, {0}}, ja_[2], ghosts_;
  std::vector<PetscScalar> a_[2];
};

// Each knows which of its ghosts are identity rows.
class AllRanks {
public:
  AllRanks(const Csr &A, const std::vector<Part> &parts) {
    std::vector<unsigned char> identity(std::size_t(A.n));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      rows_.push_back(std::make_unique<RowsOfRank>(A, parts, rank));
      const RankRows r = rows_.back()->rows();
      patterns_.push_back(std::make_unique<petscrrb::HostRankPattern>(r, PetscInt(rows_.back()->ghosts().size())));
      finite_ = patterns_.back()->mark_identity() && finite_;
      for (PetscInt p = 0; p < r.n; ++p) identity[std::size_t(r.place(p))] = patterns_.back()->identity()[p];
    }
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      for (std::size_t g = 0; g < rows_[rank]->ghosts().size(); ++g)
        patterns_[rank]->identity()[std::size_t(parts[rank].rows) + g] =
            identity[std::size_t(rows_[rank]->ghosts()[g])];
  }

  bool finite() const { return finite_; }
  std::size_t count() const { return rows_.size(); }
  const RowsOfRank &rows(std::size_t rank) const { return *rows_[rank]; }
  petscrrb::HostRankPattern &pattern(std::size_t rank) const { return *patterns_[rank]; }

private:
  std::vector<std::unique_ptr<RowsOfRank>> rows_;
  std::vector<std::unique_ptr<petscrrb::HostRankPattern>> patterns_;
  bool finite_ = true;
};

} // namespace cut_rows
