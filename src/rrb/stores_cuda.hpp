// Exchanges and gathers between devices of which each stores into the others' memory: one kernel sends, waits and fills in.
#pragma once

#include "rrb/inbox.hpp"
#include "rrb/places_cuda.hpp"

namespace petscrrb::rrb {

// A value in two halves, each with the number of its round, so that whoever reads them knows whether they have come. All 0:
// before the first round.
using Slot = ulonglong2;

// Inboxes of all ranks as this device reaches them: `size` slots each, twice, which rounds use by turns.
struct Inboxes {
  std::vector<Slot *> of_rank;
  index_t size;

  static std::size_t bytes(index_t size) { return 2 * std::size_t(size) * sizeof(Slot); }
};

class StoredExchange {
public:
  StoredExchange(const Inbox &, const Outbox &, const Inboxes &, int me);

  // exchange() is send(), then receive()
  void exchange(const Cuda &, double *array) const;
  void send(const Cuda &, double *array) const;
  void receive(const Cuda &, double *array) const;

private:
  template <bool sends, bool receives> void launch(const Cuda &, double *array) const;

  index_t sent_, received_, size_;
  cuda::Buffer<Slot *> to_;
  Slot *inbox_;
  DevicePlaces places_; // of what is sent, then of what is received
  unsigned blocks_;
  cuda::Buffer<unsigned> round_; // the last one, of each block: in a graph, nothing but memory can tell
};

class StoredGather {
public:
  static constexpr int most_ranks = 64;
  // slots that an inbox needs for so many values of all ranks together
  static index_t slots(index_t values, int ranks) { return values + ranks; }

  StoredGather(const Inboxes &, int me);
  index_t slots() const { return size_; }
  void gather(const Cuda &, const double *mine, const std::vector<index_t> &n, double *all) const;

private:
  std::vector<Slot *> inbox_;
  index_t size_;
  int me_;
  unsigned blocks_;
  cuda::Buffer<unsigned> round_;
};

// Each rank stores its number plus 1 for all others, without waiting for theirs: a test of the memory before it is used. Inboxes
// with a slot a rank; waits for the stream.
void store_own_number(const Inboxes &, int me, cudaStream_t);
std::vector<double> stored_numbers(const Inboxes &, int me, cudaStream_t);

} // namespace petscrrb::rrb
