// Which of a rank's rows say a value: identity rows, whose only nonzero is on the diagonal.
#pragma once

#include "grid/rank_rows.hpp"

#include <cstdint>

namespace petscrrb {

// Between 1 and 2, and no two alike: a sum of multiples of them is zero where all multiples are.
PETSCRRB_HD inline double irregular(std::uint64_t n) {
  n = (n + 1) * 0x9E3779B97F4A7C15u;
  n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
  n = (n ^ n >> 27) * 0x94D049BB133111EBu;
  return 1 + static_cast<double>(n >> 12) / 4503599627370496.0;
}

// For a loop over rows.
struct FindKnownRows {
  RankRows A;
  PetscInt first;               // the number of row 0 among those of all ranks
  const double *among;          // rows with a zero here say none; null: all may
  double *fixed, *free, *probe; // 1 / a_ii of rows that say a value; 1 of the others; irregular / a_ii; else 0

  PETSCRRB_HD void operator()(PetscInt row) const {
    double d = 0;
    const bool identity = A.each(row, [&](PetscInt column, double a) {
      if (column == row) d = a;
      return column == row || a == 0;
    });
    const bool known = identity && d != 0 && (!among || among[row] != 0);
    fixed[row] = known ? 1 / d : 0;
    free[row] = known ? 0 : 1;
    probe[row] = known ? irregular(static_cast<std::uint64_t>(first + row)) / d : 0;
  }
};

} // namespace petscrrb
