// Allocations that fail, in C++ and of aligned arrays; the memory itself is in refresh.cxx.
#pragma once

namespace petsctest {

extern long to_fail; // the how manieth allocation from now on fails, 0: none does; counts down to 0

} // namespace petsctest
