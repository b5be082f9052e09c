// What the ranks that share a matrix do together, without MPI: several implementations stand behind it, in tests one
// without messages. Everything here is collective; arrays are where the backend's are.
#pragma once

#include "exec/sums.hpp"

#include <vector>

namespace petscrrb::rrb {

// One exchange: for each rank that one of ours has to do with, which places of our array it gets and which ones it fills, in
// the order of the other side. A rank may be its own neighbour, around a ring. from[i]: the other's place of what fill[i]
// gets.
struct Plan {
  struct Peer {
    int rank;
    std::vector<index_t> send, fill, from;
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

} // namespace petscrrb::rrb
