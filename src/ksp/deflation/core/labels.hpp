// Which subdomain each row of a matrix on the host is in, and whether the matrix may be deflated at all.
#pragma once

#include "ksp/deflation/core/deflation.hpp"

namespace petscrrb::deflation {

// Calls after the first one of a matrix's size allocate nothing.
class Labels {
public:
  // Returns the reason where a value is not finite or there are too many subdomains; collective, the same on all ranks.
  std::string find(const Csr &, const Space &, const double *phi);
  bool same_as(const Labels &other) const { return of_row_ == other.of_row_; }

  const std::vector<int> &of_row() const { return of_row_; } // of ghosts too; -1: an identity row, in none
  int count() const { return count_; }                       // of subdomains; some boxes may hold no row
  index_t identity_rows() const { return identity_rows_; }
  std::size_t bytes() const;

private:
  void find_phases(const Csr &, const Space &, const double *phi);
  void number_here();
  void number_on_ranks(PetscInt own, const Ranks &);

  std::vector<int> of_row_, first_;       // first_: a row's component, while phases are found
  std::vector<double> diagonal_, values_; // values_: of phi with ghosts, then what rows tell those of other ranks
  std::vector<unsigned char> identity_;
  int count_ = 0;
  index_t identity_rows_ = 0;
};

// The box of a grid point; one for all where there are none. Index: wide enough for points
template <class Index> struct BoxOf {
  const int *piece[3];
  Index n[2];
  int count[2];
  bool none;

  PETSCRRB_HD int operator()(Index i) const {
    if (none) return 0;
    const int p = piece[0][i % n[0]], q = piece[1][i / n[0] % n[1]], r = piece[2][i / n[0] / n[1]];
    return (r * count[1] + q) * count[0] + p;
  }
};
int box_of(const Boxes &, index_t point);

// empty[s]: 1 where subdomain s has no rows on any rank. start: those of s are at start[s] ... start[s + 1] of a list. rows: as
// long as empty, for their numbers. Ranks do it together.
void find_empty(const std::vector<int> &start, const Ranks &, std::vector<double> &rows, std::vector<int> &empty);

// The reason why this matrix cannot be deflated, or an empty string. All ranks find it together.
std::string why_not(const Csr &, const std::vector<int> &of_row, const Ranks &);

// The words of a refusal, of the host and of a device.
std::string too_many(index_t subdomains);
std::string not_symmetric(index_t row);

} // namespace petscrrb::deflation
