// What kernels of a setup or a refresh find out, all 0 before.
#pragma once

namespace petscrrb::deflation {

struct Found {
  int not_finite;                      // rows from the last to the first such one; 0: none
  unsigned long long largest_diagonal; // bits of the magnitude
  unsigned long long asymmetry;        // bits of the largest |a_ij - a_ji|
  int identity_rows;
  int roots;         // connected phases
  int changed;       // labels or the places of nonzeros in AZ are others than at setup
  int rows, entries; // of AZ
};

} // namespace petscrrb::deflation
