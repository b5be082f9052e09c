// What makes a grid's matrix unusual: masked points and known values, and entries that are wrong or not where they belong.
#pragma once

#include "problem.hpp"

namespace longtest {

// Identity rows, rows of zeros, parts without a connection; with what was there stored as zeros, kept, or gone.
void mask_points(Random &random, Problem &problem);
// One of: asymmetry, NaN, a zero, tiny or negative diagonal, a missing coupling, one off the grid, an unrelated matrix.
void add_defect(Random &random, Problem &problem);
reference::Vector random_direction(Random &random, int n); // of positive numbers

} // namespace longtest
