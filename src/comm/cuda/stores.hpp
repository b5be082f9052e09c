// Exchanges and gathers between devices of which each stores into the others' memory: one kernel sends, waits and fills in.
#pragma once

#include "exec/cuda/watch.hpp"
#include "comm/inbox.hpp"
#include "comm/cuda/places.hpp"

namespace petscrrb::rrb {

// A value in two halves, each with the number of its round, so that whoever reads them knows whether they have come. All 0:
// before the first round.
using Slot = ulonglong2;

// Inboxes of all ranks as this device reaches them: `size` slots each, twice, which rounds use by turns.
struct Inboxes {
  std::vector<Slot *> of_rank;
  index_t size;
  cuda::Watch *watch = nullptr; // over the waits for what comes; NULL: they have no end

  static std::size_t bytes(index_t size) { return 2 * std::size_t(size) * sizeof(Slot); }
};

constexpr int most_storing_ranks = 64;

// Sums of all ranks: of each rank's own terms, added in the order of ranks, each by a block of an exchange's or a gather's
// kernel.
class StoredSums {
public:
  struct Part {
    Sums sums;
    Slot *inbox[most_storing_ranks] = {};
    int ranks = 0, me = 0;
    unsigned *rounds = nullptr; // a sum's last one
  };

  // slots that an inbox needs
  static index_t slots(int ranks) { return index_t(Sums::most) * ranks; }

  StoredSums(const Inboxes &, int me);
  Part part(const Sums &) const;

private:
  Part nothing_;
  cuda::Buffer<unsigned> rounds_;
};

class StoredExchange {
public:
  StoredExchange(const Inbox &, const Outbox &, const Inboxes &, int me);

  // exchange() is send(), then receive()
  void exchange(const Cuda &, double *array, const StoredSums::Part & = {}) const;
  void send(const Cuda &, double *array) const;
  void receive(const Cuda &, double *array) const;

private:
  template <bool sends, bool receives> void launch(const Cuda &, double *array, const StoredSums::Part &) const;

  index_t sent_, received_, size_;
  cuda::Buffer<std::int64_t> to_; // addresses of slots
  Slot *inbox_;
  cuda::Watch *watch_;
  DevicePlaces places_; // of what is sent, then of what is received
  unsigned blocks_;
  bool overlap_;                 // the kernel may start before the one before it has ended
  cuda::Buffer<unsigned> round_; // the last one, of each block: in a graph, nothing but memory can tell
};

class StoredGather {
public:
  // slots that an inbox needs for so many values of all ranks together
  static index_t slots(index_t values, int ranks) { return values + ranks; }

  StoredGather(const Inboxes &, int me);
  index_t slots() const { return size_; }
  // Of n[r] values of rank r. place: NULL, or where in `all` each one goes.
  void gather(const Cuda &, const double *mine, const std::vector<index_t> &n, double *all, const int *place = nullptr,
              const StoredSums::Part & = {}) const;

private:
  std::vector<Slot *> inbox_;
  cuda::Watch *watch_;
  index_t size_;
  int me_;
  unsigned blocks_;
  bool overlap_; // the kernel may start before the one before it has ended
  cuda::Buffer<unsigned> round_;
};

// Each rank stores its number plus 1 for all others, without waiting for theirs: a test of the memory before it is used. Inboxes
// with a slot a rank; waits for the stream.
void store_own_number(const Inboxes &, int me, cudaStream_t);
std::vector<double> stored_numbers(const Inboxes &, int me, cudaStream_t);

} // namespace petscrrb::rrb
