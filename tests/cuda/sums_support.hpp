// Sums of several ranks' terms on a device, with what must come of them: exactly, since all terms are integers.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "exec/sums.hpp"

#include <vector>

namespace support {

class SomeSums {
public:
  static constexpr int count = 3;

  SomeSums(int ranks, int me, int round) : results_(count + 1), expected_(count + 1, 0.0) {
    for (int i = 0; i < count; ++i)
      for (int r = 0; r < ranks; ++r) {
        std::vector<double> own(std::size_t(900 * i + 3 * r)); // none of rank 0 in the first one
        for (std::size_t j = 0; j < own.size(); ++j) own[j] = double((j + 1) * std::size_t(r + 2) % 1009 + round);
        for (const double x : own) expected_[std::size_t(i)] += x;
        if (r != me) continue;
        terms_.emplace_back(own);
        sums_.add({terms_.back().data(), petscrrb::index_t(own.size())}, results_.data() + i);
      }
  }
  const petscrrb::Sums &sums() const { return sums_; }
  const petscrrb::cuda::Buffer<double> &results() const { return results_; }
  const std::vector<double> &expected() const { return expected_; } // one more, which nobody sets

private:
  std::vector<petscrrb::cuda::Buffer<double>> terms_;
  petscrrb::cuda::Buffer<double> results_;
  petscrrb::Sums sums_;
  std::vector<double> expected_;
};

} // namespace support
