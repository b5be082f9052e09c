// What is asked of the nonzeros of a matrix to find its grid. The rows may lie on the host or on a device.
#pragma once

#include "grid/csr.hpp"
#include "grid/find.hpp"
#include "grid/fit.hpp"
#include "grid/grid.hpp"

namespace petscrrb {

// A 9-point grid with both sides periodic has ten distances: nx + {-1, 0, 1}, n - nx + {-1, 0, 1}, 1, n - 1, 2 nx - 1
// and n - 2 nx + 1. Of 27 points five differences along each side make 125, less 0, each up and down.
constexpr std::size_t most_distances = 10, most_distances_of_box = 62;

// The distances |row - column| of the couplings, sorted.
struct Distances {
  std::vector<index_t> all;
  bool too_many = false; // these are some of them
};

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
  // The first coupling with a distance too many, for a message.
  virtual Pair one_too_many(std::size_t most) = 0;
  virtual Fit fit(const Grid &) = 0;
  virtual bool is_complete(const Grid &, const Fit &) = 0;
  virtual double coupling(PetscInt row, PetscInt column) = 0;
};

class HostPattern : public Pattern {
public:
  explicit HostPattern(const Csr &rows) : A(rows) {}

  index_t rows() const override { return A.n; }
  std::string mark_identity() override { return petscrrb::mark_identity(A, identity); }
  Distances distances(std::size_t most) override;
  Pair one_too_many(std::size_t most) override;
  Fit fit(const Grid &g) override { return petscrrb::fit(A, identity, g); }
  bool is_complete(const Grid &g, const Fit &f) override { return petscrrb::is_complete(A, identity, g, f); }
  double coupling(PetscInt row, PetscInt column) override;

private:
  Pair collect(PetscInt first, PetscInt last, std::size_t most, std::vector<index_t> &all) const;

  const Csr A;
  Flags identity;
};

// find_grid() and check_grid() of find.hpp, whoever answers.
std::string find_grid(Pattern &, Widest, const char *option, Grid &grid);
std::string check_grid(Pattern &, Widest, const char *option, Grid &grid);

} // namespace petscrrb
