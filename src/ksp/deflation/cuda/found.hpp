// What kernels of a setup or a refresh find out, all 0 before.
#pragma once

namespace petscrrb::deflation {

struct Found {
  int not_finite;                      // rows from the last to the first such one; 0: none
  unsigned long long largest_diagonal; // bits of the magnitude
  unsigned long long asymmetry;        // bits of the largest |a_ij - a_ji|
  int identity_rows;
  int roots;         // connected phases
  int other_labels;  // than at setup
  int other_entries; // of AZ that are not zero
  int rows, entries; // of AZ
};

} // namespace petscrrb::deflation
