// How many threads loops on the host have.
#pragma once

#ifdef _OPENMP
  #include <omp.h>

class Threads {
public:
  explicit Threads(int n) { omp_set_num_threads(n); }
  ~Threads() { omp_set_num_threads(before_); }

private:
  const int before_ = omp_get_max_threads();
};
#else
struct Threads {
  explicit Threads(int) {}
};
#endif
