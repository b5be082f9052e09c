// What is asked of the nonzeros of a matrix to find its grid. The rows may lie on the host or on a device, on one rank or
// on several.
#pragma once

#include "grid/find.hpp"
#include "grid/rank_rows.hpp"

#include <functional>

namespace petscrrb {

// A 9-point grid with both sides periodic has ten distances: nx + {-1, 0, 1}, n - nx + {-1, 0, 1}, 1, n - 1, 2 nx - 1
// and n - 2 nx + 1. Of 27 points five differences along each side make 125, less 0, each up and down.
constexpr std::size_t most_distances = 10, most_distances_of_box = 62;

// The distances |row - column| of the couplings, sorted.
struct Distances {
  std::vector<index_t> all;
  bool too_many = false; // these are some of them
};

// How the couplings lie on one given grid.
struct Fit {
  PetscInt row = -1, column = -1; // the first coupling that leads to no neighbour; -1 if all do
  unsigned seen = 0;              // a bit a direction
  bool seam[3] = {};              // couplings go around this side

  bool ok() const { return row < 0; }
  bool sees(int direction) const { return seen >> direction & 1; }
  void add(const Fit &); // what is seen up to a misfit depends on who looks
};

// The grid whose periodic sides are those that couplings go around.
inline Grid with_seams(Grid g, const Fit &f) {
  for (int x = 0; x < 3; ++x) g.periodic[x] = f.seam[x];
  return g;
}

// The directions that some row uses, and those back, a bit each.
unsigned used_directions(const Grid &grid, const Fit &);

struct Pair {
  PetscInt row, column;
};

class Pattern {
public:
  virtual ~Pattern() = default;

  virtual index_t rows() const = 0;
  // To be asked first: tells the identity rows, which do not take part. Returns the reason if an entry is not finite.
  virtual std::string mark_identity() = 0;
  virtual Distances distances(std::size_t most) = 0;
  // The first coupling with a distance too many, for a message; -1 if there is none.
  virtual Pair one_too_many(std::size_t most) = 0;
  // Of the grid dim and n are given; its points say how many directions count, its periodic sides which seams may be crossed.
  virtual Fit fit(const Grid &) = 0;
  // Whether every direction that some row uses is used by every row, across the seams too.
  virtual bool is_complete(const Grid &, const Fit &) = 0;
  virtual index_t coupled_rows() = 0; // those that are no identity rows
  virtual double coupling(PetscInt row, PetscInt column) = 0;
};

// find_grid() and check_grid() of find.hpp, whoever answers.
std::string find_grid(Pattern &, Widest, const char *option, Grid &grid);
std::string check_grid(Pattern &, Widest, const char *option, Grid &grid);

// What the rows of one rank say, of which there may be others: all of them together tell the grid.
class RankPattern {
public:
  virtual ~RankPattern() = default;

  // To be asked first: tells which own rows are identity rows, and whether all entries are finite.
  virtual bool mark_identity() = 0;
  // A flag a row, where the rows are; those of the ghosts are to be put behind before anything else is asked.
  virtual unsigned char *identity() = 0;
  virtual Distances distances(std::size_t most) = 0; // of places
  virtual Fit fit(const Grid &) = 0;                 // its row and column are places
  virtual index_t coupled_rows() = 0;
  // As Pattern::is_complete(), where there are no others.
  virtual bool is_complete(const Grid &, const Fit &) = 0;
};

// A distance, and the places of the first coupling with it.
struct Seen {
  PetscInt distance, row, column;
};

class HostRankPattern final : public RankPattern {
public:
  HostRankPattern(const RankRows &rows, PetscInt ghosts) : A(rows), flags(std::size_t(rows.n + ghosts)) {}

  bool mark_identity() override;
  unsigned char *identity() override { return flags.data(); }
  Distances distances(std::size_t most) override;
  Fit fit(const Grid &) override;
  index_t coupled_rows() override;
  bool is_complete(const Grid &, const Fit &) override;

  // All distances if there are no more than `most`, else one more than that, each with its first coupling.
  std::vector<Seen> first_seen(std::size_t most) const;
  // The places of neighbours on other ranks that own rows should be coupled with and are not: this is an error unless
  // those are identity rows. *complete: own neighbours are all coupled.
  std::vector<PetscInt> missing(const Grid &, const Fit &, bool *complete) const;
  bool has_coupled(PetscInt place) const;               // an own row that is no identity row
  double coupling(PetscInt row, PetscInt column) const; // of places; 0 where there is none
  const RankRows &rows() const { return A; }

private:
  void collect(PetscInt first, PetscInt last, std::size_t most, std::vector<Seen> &) const;

  const RankRows A;
  Flags flags;
};

// Of a matrix on one rank, wherever its rows are.
class OneRankPattern : public Pattern {
public:
  std::string mark_identity() override;
  Distances distances(std::size_t most) override { return mine().distances(most); }
  Pair one_too_many(std::size_t most) override;
  Fit fit(const Grid &g) override { return mine().fit(g); }
  bool is_complete(const Grid &g, const Fit &f) override { return mine().is_complete(g, f); }
  index_t coupled_rows() override { return mine().coupled_rows(); }
  double coupling(PetscInt row, PetscInt column) override { return on_host().coupling(row, column); }

private:
  virtual RankPattern &mine() = 0;
  virtual HostRankPattern &on_host() = 0; // for messages
};

class HostPattern final : public OneRankPattern {
public:
  explicit HostPattern(const Csr &rows) : all(RankRows(rows), 0) {}
  index_t rows() const override { return all.rows().n; }

private:
  RankPattern &mine() override { return all; }
  HostRankPattern &on_host() override { return all; }

  HostRankPattern all;
};

// Flags the rows with no nonzero off their diagonal; whether all entries are finite. Rows on the host.
bool mark_identity(const RankRows &, unsigned char *identity);

// "row p ..., column q ...", with coordinates where there is a grid; ghosts are numbered from n
using PairWords = std::function<std::string(PetscInt row, PetscInt column)>;

// The first entry that is not finite; an empty string if all are.
std::string where_not_finite(const RankRows &, const PairWords &);
std::string plain_words(PetscInt row, PetscInt column); // a PairWords

} // namespace petscrrb
