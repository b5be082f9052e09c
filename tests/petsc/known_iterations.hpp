// A comparison of a solver's iterations with what is known of them.
#pragma once

#include "support.hpp"

namespace petsctest {

// As known, give or take one, since BLAS and PETSc's versions add in other orders. On a device, whose last block may be larger,
// no more.
inline void expect_iterations(int iterations, int known, const std::string &what = "") {
  if (backend.device)
    EXPECT_LE(iterations, known + 1 + known / 8) << what;
  else
    EXPECT_NEAR(iterations, known, 1) << what;
}

} // namespace petsctest
