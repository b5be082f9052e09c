// E^+ on the host: a Cholesky factorization within E's profile, or the dense inverse made from it.
#pragma once

#include "exec/host/host.hpp"
#include "ksp/deflation/core/deflation.hpp"

namespace petscrrb::deflation {

class HostInverse {
public:
  // The symmetric pattern of E, diagonal present. Allocates all that refresh() needs.
  void setup(std::vector<int> ia, std::vector<int> ja, Inverse type);
  // New values, in the order of ja. grounded: whether a subdomain has a row whose sum is not zero; a connected component
  // without one is singular, its null vector constant. empty: in no component's null vector. Returns the reason where E
  // is not positive semidefinite.
  std::string refresh(const double *e, const std::vector<char> &grounded, const std::vector<char> &empty);
  void apply(double *c); // c <- E^+ c

  int null_directions() const { return null_; }
  std::string description() const;
  double bytes() const;

private:
  int size() const { return int(ia_.size()) - 1; }
  void order();
  void find_components(const double *e, const std::vector<char> &grounded, const std::vector<char> &empty);
  std::string factor(const double *e);
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
  std::vector<int> component_, members_;  // of each unknown, -1: in no singular one; how many in each
  std::vector<char> dropped_;             // positions without a pivot: a null direction
  std::vector<double> work_, mean_;
  std::vector<int> stack_;
  int null_ = 0, singular_ = 0; // dropped pivots; components with a known null vector
};

} // namespace petscrrb::deflation
