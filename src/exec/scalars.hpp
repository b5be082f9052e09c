// A few numbers that loops compute and other loops read, where the backend's arrays are: the host need not see them.
#pragma once

namespace petscrrb {

template <class Backend> class Scalars; // host/scalars.hpp, cuda/scalars.cuh

} // namespace petscrrb
