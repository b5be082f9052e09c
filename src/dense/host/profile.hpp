// The (pseudo-)inverse of a sparse symmetric matrix on the host: a Cholesky factorization within its profile, or the dense
// inverse made from it.
#pragma once

#include "dense/host/symmetric.hpp"
#include "dense/inverse.hpp"
#include "exec/host/host.hpp"

#include <string>

namespace petscrrb::dense {

class ProfileInverse {
public:
  // The pattern, diagonal present. Allocates all that refresh() needs.
  void setup(std::vector<int> ia, std::vector<int> ja, Inverse type);
  // New values, in the order of ja, and the row sums: a component is singular where all of them are 0. null_inverse: inverse.hpp
  BadPivot refresh(const double *a, const double *excess, double null_inverse);
  void apply(double *c); // c <- the inverse times c

  int null_directions() const { return null_; }
  std::string description() const;
  double bytes() const;

private:
  int size() const { return int(ia_.size()) - 1; }
  void order();
  void drop_singular();
  BadPivot factor(const double *a);
  void invert();
  void project(double *c);
  void forward(double *x, int from) const;
  void backward(double *x) const;

  Inverse type_ = Inverse::cholesky;
  std::vector<int> ia_, ja_;
  std::vector<int> position_, at_;        // of an unknown in the order of elimination; the unknown at a position
  std::vector<int> first_;                // of each position: where its row of L starts
  std::vector<std::size_t> row_;          // of each position: row_[i] + k is entry (i, k) of L
  host::Buffer<double> factor_, inverse_; // both in the order of elimination
  Components components_;
  std::vector<int> members_, last_; // of each component: how many; the position that is eliminated last
  std::vector<char> dropped_;       // positions without a pivot: a null direction
  std::vector<double> work_, mean_, null_part_;
  double null_inverse_ = 0;
  int null_ = 0, singular_ = 0; // dropped pivots; those that the row sums tell of
};

} // namespace petscrrb::dense
