// Room for each thread.
#pragma once

#include <cstddef>
#include <vector>

#ifdef _OPENMP
  #include <omp.h>
#endif

namespace petscrrb::blockrelax {

#ifdef _OPENMP
inline std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }
inline std::size_t this_thread() { return static_cast<std::size_t>(omp_get_thread_num()); }
#else
inline std::size_t threads() { return 1; }
inline std::size_t this_thread() { return 0; }
#endif

class Scratch {
public:
  // Outside of parallel regions. Allocates if there are more threads than before, or they want more.
  void prepare(std::size_t doubles) {
    each_ = (doubles + 7) / 8 * 8; // threads do not share cache lines
    if (memory_.size() < each_ * threads()) memory_.resize(each_ * threads());
  }
  double *mine() { return memory_.data() + each_ * this_thread(); }
  double bytes() const { return static_cast<double>(memory_.size() * sizeof(double)); }

private:
  std::vector<double> memory_;
  std::size_t each_ = 0;
};

} // namespace petscrrb::blockrelax
