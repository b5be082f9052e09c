#include "comm/cuda/stores.hpp"

#include "exec/cuda/wait.cuh"
#include "exec/cuda/sums.cuh"

#include <cstring>

namespace petscrrb::rrb {

namespace {

constexpr int block = 128;

// A block that waits must not keep out one that has yet to send: all of them are on the device at the same time.
unsigned blocks_for(index_t n) {
  const index_t most = 4 * index_t(cuda::attribute(cudaDevAttrMultiProcessorCount));
  return unsigned(std::clamp<index_t>((n + block - 1) / block, 1, most));
}

__device__ void put(Slot *slot, double x, unsigned round) {
  const unsigned long long stamp = (unsigned long long)round << 32;
  const unsigned long long low = stamp | unsigned(__double2loint(x)), high = stamp | unsigned(__double2hiint(x));
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" : : "l"(slot), "l"(low), "l"(high) : "memory");
}

// A thread's reading of slots.
class Reader {
public:
  __device__ explicit Reader(cuda::Watch *watch) : patience_(watch) {}

  // NaN where nothing comes
  __device__ double get(const Slot *slot, unsigned round) {
    unsigned long long low, high;
    patience_.begin();
    do {
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
      if (low >> 32 == round && high >> 32 == round) return __hiloint2double(int(unsigned(high)), int(unsigned(low)));
    } while (patience_.lasts());
    return cuda::nan_of_nothing();
  }

private:
  cuda::Patience<false> patience_;
};

template <class Int> struct Sent {
  const Int *place;
  Slot *const *to;
  index_t n;
};
template <class Int> struct Received {
  const Int *place;
  const Slot *from;
  index_t n;
};

// By all threads of a block: a sum. Those of several blocks do not wait for one another.
__device__ void add_over_ranks(const StoredSums::Part &p, int i, cuda::Watch *watch) {
  __shared__ double of_rank[most_storing_ranks];
  const double own = cuda::sum_of<block>(p.sums.terms[i]);
  const unsigned round = p.rounds[i] + 1;
  const int turn = int(round % 2) * Sums::most * p.ranks, rank = int(threadIdx.x);
  if (rank < p.ranks) {
    if (rank != p.me) put(p.inbox[rank] + turn + Sums::most * p.me + i, own, round);
    of_rank[rank] = rank == p.me ? own : Reader(watch).get(p.inbox[p.me] + turn + Sums::most * rank + i, round);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  double sum = 0.0;
  for (int r = 0; r < p.ranks; ++r) sum += of_rank[r];
  *p.sums.to[i] = sum;
  p.rounds[i] = round;
}
static_assert(block >= most_storing_ranks, "a thread a rank");

// The first blocks add a sum each. The others are numbered from 0 on.
struct Workers {
  unsigned me, count;

  __device__ Workers(const Sums &sums) : me(blockIdx.x - sums.count), count(gridDim.x - sums.count) {}
  __device__ index_t first() const { return index_t(me) * block + threadIdx.x; }
  __device__ index_t step() const { return index_t(count) * block; }
};

template <bool sends, bool receives, class Int>
__global__ void __launch_bounds__(block)
    exchange_values(Sent<Int> s, Received<Int> r, index_t size, double *array, unsigned *rounds,
                    const __grid_constant__ StoredSums::Part p, cuda::Watch *watch) {
  cuda::start_next();
  cuda::await_previous();
  if (int(blockIdx.x) < p.sums.count) return add_over_ranks(p, int(blockIdx.x), watch);
  const Workers w(p.sums);
  const unsigned round = rounds[w.me] + 1;
  const index_t turn = round % 2 * size;
  if constexpr (sends)
    for (index_t i = w.first(); i < s.n; i += w.step()) {
      const Int place = s.place[i];
      put(s.to[i] + turn, place < 0 ? 0.0 : array[place], round);
    }
  if constexpr (receives) {
    Reader reader(watch);
    for (index_t i = w.first(); i < r.n; i += w.step()) {
      const Int place = r.place[i];
      const double x = reader.get(r.from + turn + i, round);
      if (place >= 0) array[place] = x;
    }
    __syncthreads();
    if (threadIdx.x == 0) rounds[w.me] = round;
  }
}

// Where the parts of ranks begin, and whose inboxes are where.
struct Parts {
  index_t slot[most_storing_ranks + 1], value[most_storing_ranks + 1];
  Slot *inbox[most_storing_ranks];
  int ranks, me;
};

__global__ void __launch_bounds__(block)
    gather_values(const __grid_constant__ Parts p, index_t size, const double *mine, const int *place, double *all,
                  unsigned *rounds, const __grid_constant__ StoredSums::Part s, cuda::Watch *watch) {
  cuda::start_next();
  cuda::await_previous();
  if (int(blockIdx.x) < s.sums.count) return add_over_ranks(s, int(blockIdx.x), watch);
  const Workers w(s.sums);
  const unsigned round = rounds[w.me] + 1;
  const index_t turn = round % 2 * size;
  const index_t own_slots = p.slot[p.me + 1] - p.slot[p.me], own = p.value[p.me + 1] - p.value[p.me];
  const auto place_of = [&](index_t i) { return place ? index_t(place[i]) : i; };
  for (index_t i = w.first(); i < own_slots; i += w.step()) {
    const double x = i < own ? mine[i] : 0.0;
    for (int k = 1; k < p.ranks; ++k) {
      const int to = p.me + k < p.ranks ? p.me + k : p.me + k - p.ranks;
      put(p.inbox[to] + turn + p.slot[p.me] + i, x, round);
    }
    if (i < own) all[place_of(p.value[p.me] + i)] = x;
  }
  Reader reader(watch);
  int from = 0;
  for (index_t j = w.first(); j < p.slot[p.ranks]; j += w.step()) {
    while (j >= p.slot[from + 1]) ++from;
    if (from == p.me) continue;
    const index_t i = p.value[from] + j - p.slot[from];
    const bool is_value = i < p.value[from + 1];
    const index_t at = is_value ? place_of(i) : 0;
    const double x = reader.get(p.inbox[p.me] + turn + j, round);
    if (is_value) all[at] = x;
  }
  __syncthreads();
  if (threadIdx.x == 0) rounds[w.me] = round;
}

__global__ void store_number(Slot *const *inbox, int me) { put(inbox[threadIdx.x] + me, me + 1, 1); }

// Addresses of slots.
Places targets(const Outbox &out, const Inboxes &inboxes) {
  Places to;
  for (const Outbox::Message &m : out.messages)
    to.append({reinterpret_cast<index_t>(inboxes.of_rank[std::size_t(m.rank)] + m.slot), sizeof(Slot), m.count});
  return to;
}

} // namespace

StoredSums::StoredSums(const Inboxes &inboxes, int me) : rounds_(Sums::most) {
  std::copy(inboxes.of_rank.begin(), inboxes.of_rank.end(), nothing_.inbox);
  nothing_.ranks = int(inboxes.of_rank.size()), nothing_.me = me;
  nothing_.rounds = rounds_.data();
}

StoredSums::Part StoredSums::part(const Sums &sums) const {
  Part part = nothing_;
  part.sums = sums;
  return part;
}

StoredExchange::StoredExchange(const Inbox &in, const Outbox &out, const Inboxes &inboxes, int me)
    : sent_(index_t(out.place.size())), received_(index_t(in.place.size())), size_(inboxes.size),
      inbox_(inboxes.of_rank[std::size_t(me)]), watch_(inboxes.watch), places_(joined(out.place, in.place)),
      blocks_(blocks_for(std::max(sent_, received_))),
      overlap_(cuda::may_overlap(exchange_values<true, true, std::int32_t>)), round_(blocks_) {
  list_places(targets(out, inboxes), &to_);
}

template <bool sends, bool receives>
void StoredExchange::launch(const Cuda &on, double *array, const StoredSums::Part &part) const {
  const unsigned blocks = (sent_ ? blocks_ : 0) + unsigned(part.sums.count); // where nothing is sent, nothing comes
  if (!blocks) return;
  places_.with([&](const auto *place) {
    using Int = std::decay_t<decltype(*place)>;
    cuda::launch("exchange_values", exchange_values<sends, receives, Int>, overlap_, blocks, block, 0, on.stream,
                 Sent<Int>{place, reinterpret_cast<Slot *const *>(to_.data()), sent_},
                 Received<Int>{place + sent_, inbox_, received_}, size_, array, round_.data(), part, watch_);
  });
}

void StoredExchange::exchange(const Cuda &on, double *array, const StoredSums::Part &sums) const {
  launch<true, true>(on, array, sums);
}
void StoredExchange::send(const Cuda &on, double *array) const { launch<true, false>(on, array, {}); }
void StoredExchange::receive(const Cuda &on, double *array) const { launch<false, true>(on, array, {}); }

StoredGather::StoredGather(const Inboxes &inboxes, int me)
    : inbox_(inboxes.of_rank), watch_(inboxes.watch), size_(inboxes.size), me_(me), blocks_(blocks_for(size_)),
      overlap_(cuda::may_overlap(gather_values)), round_(blocks_) {}

void StoredGather::gather(const Cuda &on, const double *mine, const std::vector<index_t> &n, double *all,
                          const int *place, const StoredSums::Part &sums) const {
  Parts p{};
  p.ranks = int(n.size());
  p.me = me_;
  for (std::size_t r = 0; r < n.size(); ++r) {
    p.slot[r + 1] = p.slot[r] + std::max<index_t>(1, n[r]);
    p.value[r + 1] = p.value[r] + n[r];
    p.inbox[r] = inbox_[r];
  }
  const unsigned blocks = (p.value[n.size()] ? blocks_ : 0) + unsigned(sums.sums.count);
  if (!blocks) return;
  cuda::launch("gather_values", gather_values, overlap_, blocks, block, 0, on.stream, p, size_, mine, place, all,
               round_.data(), sums, watch_);
}

void store_own_number(const Inboxes &inboxes, int me, cudaStream_t stream) {
  const cuda::Buffer<Slot *> to(inboxes.of_rank);
  store_number<<<1, unsigned(to.size()), 0, stream>>>(to.data(), me);
  cuda::check_launch("store_number");
  cuda::check(cudaStreamSynchronize(stream), "store_number");
}

std::vector<double> stored_numbers(const Inboxes &inboxes, int me, cudaStream_t stream) {
  std::vector<Slot> slots(inboxes.of_rank.size());
  std::vector<double> numbers;
  cuda::check(cudaMemcpyAsync(slots.data(), inboxes.of_rank[std::size_t(me)], slots.size() * sizeof(Slot),
                              cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  for (const Slot &s : slots) {
    const unsigned long long bits = (s.y << 32) | (s.x & 0xffffffffu);
    double number;
    std::memcpy(&number, &bits, sizeof number);
    numbers.push_back(number);
  }
  return numbers;
}

} // namespace petscrrb::rrb
