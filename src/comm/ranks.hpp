// What the ranks that share a matrix do together, without MPI: several implementations stand behind it, in tests one
// without messages. Everything here is collective; arrays are where the backend's are.
#pragma once

#include "exec/sums.hpp"
#include "comm/places.hpp"

#include <vector>

namespace petscrrb::rrb {

// One exchange: for each rank that one of ours has to do with, which places of our array it gets and which ones it fills, in
// the order of the other side. A rank may be its own neighbour, around a ring. from[i]: the other's place of what fill[i]
// gets.
struct Plan {
  struct Peer {
    int rank;
    Places send, fill, from;
  };
  std::vector<Peer> peers;
};

class Ranks {
public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;

  // What the first exchange by this plan needs. Where it has not been called, that exchange does it; one that is captured
  // into a graph cannot. The plan must live as long as this.
  virtual void prepare(const Plan &) {}
  // start() and finish() are separate so that the values can travel while others are computed. Neither the places that
  // are sent nor those that are filled may be touched in between.
  virtual void start(const Plan &, double *array) = 0;
  virtual void finish(const Plan &, double *array) = 0;
  virtual void exchange(const Plan &plan, double *array) {
    start(plan, array);
    finish(plan, array);
  }
  // Whether all of them but gather_numbers() only enqueue work on the backend's stream, so that a graph can have it; and whether that is
  // kernels alone, so that a part of a graph which repeats itself can.
  virtual bool only_enqueue() const { return false; }
  virtual bool only_kernels() const { return false; }
  // n[r] values of each rank r behind one another, on all ranks.
  virtual void gather(const double *mine, const std::vector<index_t> &n, double *all) = 0;
  // The same for a few numbers of the host, equally many of each rank.
  virtual std::vector<double> gather_numbers(const std::vector<double> &mine) = 0;

  // Throws if messages were waited for in vain, here or on another rank, as far as this rank knows it now; unsure: what has come
  // of them is not finite, and it is worth a closer look. Waits for nobody.
  virtual void check(bool /* unsure */) {}
  // Whether that was so: then these ranks are of no use any more.
  virtual bool broken() const { return false; }

  // Two things at the same time, where they are one step; else false, and nothing is done. A sum is of each rank's terms, added
  // in the order of ranks, and goes to its place on all ranks.
  virtual bool exchange_and_add(const Plan &, double *, const Sums &) { return false; }
  // With n[r] values of each rank r, of which the i-th one of all goes to all[place[i]].
  virtual bool gather_and_add(const double *, const std::vector<index_t> &, const int *, double *, const Sums &) {
    return false;
  }
};

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

// Sums of all ranks, where the backend's arrays are.
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
