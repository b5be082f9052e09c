// Sums of all ranks, where the backend's arrays are.
#pragma once

#include "comm/ranks.hpp"

namespace petscrrb::rrb {

// *sums.to[i] = the i-th numbers of all ranks, in their order: each rank's are one after the other.
struct AddOfRanks {
  const double *from;
  index_t ranks;
  Sums sums;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    double sum = 0.0;
    for (index_t r = 0; r < ranks; ++r) sum += from[r * sums.count + i];
    *sums.to[i] = sum;
  }
};

template <class Backend> class RankSums {
public:
  // Each rank does this by itself.
  RankSums(const Backend &on, Ranks &ranks)
      : on_(on), ranks_(ranks), none_(std::size_t(ranks.count())), counts_(none_.size()), mine_(Sums::most),
        all_(Sums::most * none_.size()) {}

  // Each sum to its place, on all ranks. Collective.
  void add(const Sums &sums) const {
    if (ranks_.gather_and_add(nullptr, none_, nullptr, nullptr, sums)) return;
    std::fill(counts_.begin(), counts_.end(), index_t(sums.count));
    PartialSum<Backend>::put(on_, sums, mine_.data());
    ranks_.gather(mine_.data(), counts_, all_.data());
    on_.for_each({0, sums.count, 0, 1}, AddOfRanks{all_.data(), index_t(counts_.size()), sums});
  }
  std::size_t bytes() const { return mine_.bytes() + all_.bytes(); }

private:
  const Backend &on_;
  Ranks &ranks_;
  const std::vector<index_t> none_;     // numbers of each rank beside the sums
  mutable std::vector<index_t> counts_; // room, so that what all ranks are in allocates nothing
  typename Backend::template Array<double> mine_, all_;
};

} // namespace petscrrb::rrb
