#include "rrb/stores_cuda.hpp"

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

__device__ double get(const Slot *slot, unsigned round) {
  unsigned long long low, high;
  do asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
  while (low >> 32 != round || high >> 32 != round);
  return __hiloint2double(int(unsigned(high)), int(unsigned(low)));
}

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

template <bool sends, bool receives, class Int>
__global__ void __launch_bounds__(block)
    exchange_values(Sent<Int> s, Received<Int> r, index_t size, double *array, unsigned *rounds) {
  const unsigned round = rounds[blockIdx.x] + 1;
  const index_t turn = round % 2 * size, first = index_t(blockIdx.x) * block + threadIdx.x,
                step = index_t(gridDim.x) * block;
  if constexpr (sends)
    for (index_t i = first; i < s.n; i += step) {
      const Int place = s.place[i];
      put(s.to[i] + turn, place < 0 ? 0.0 : array[place], round);
    }
  if constexpr (receives) {
    for (index_t i = first; i < r.n; i += step) {
      const Int place = r.place[i];
      const double x = get(r.from + turn + i, round);
      if (place >= 0) array[place] = x;
    }
    __syncthreads();
    if (threadIdx.x == 0) rounds[blockIdx.x] = round;
  }
}

// Where the parts of ranks begin, and whose inboxes are where.
struct Parts {
  index_t slot[StoredGather::most_ranks + 1], value[StoredGather::most_ranks + 1];
  Slot *inbox[StoredGather::most_ranks];
  int ranks, me;
};

__global__ void __launch_bounds__(block)
    gather_values(const __grid_constant__ Parts p, index_t size, const double *mine, double *all, unsigned *rounds) {
  const unsigned round = rounds[blockIdx.x] + 1;
  const index_t turn = round % 2 * size, first = index_t(blockIdx.x) * block + threadIdx.x,
                step = index_t(gridDim.x) * block;
  const index_t own_slots = p.slot[p.me + 1] - p.slot[p.me], own = p.value[p.me + 1] - p.value[p.me];
  for (index_t i = first; i < own_slots; i += step) {
    const double x = i < own ? mine[i] : 0.0;
    for (int k = 1; k < p.ranks; ++k) {
      const int to = p.me + k < p.ranks ? p.me + k : p.me + k - p.ranks;
      put(p.inbox[to] + turn + p.slot[p.me] + i, x, round);
    }
    if (i < own) all[p.value[p.me] + i] = x;
  }
  int from = 0;
  for (index_t j = first; j < p.slot[p.ranks]; j += step) {
    while (j >= p.slot[from + 1]) ++from;
    if (from == p.me) continue;
    const double x = get(p.inbox[p.me] + turn + j, round);
    const index_t at = p.value[from] + j - p.slot[from];
    if (at < p.value[from + 1]) all[at] = x;
  }
  __syncthreads();
  if (threadIdx.x == 0) rounds[blockIdx.x] = round;
}

__global__ void store_number(Slot *const *inbox, int me) { put(inbox[threadIdx.x] + me, me + 1, 1); }

template <class T> std::vector<T> joined(std::vector<T> a, const std::vector<T> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Slot *> targets(const Outbox &out, const Inboxes &inboxes) {
  std::vector<Slot *> to;
  for (std::size_t i = 0; i < out.rank.size(); ++i)
    to.push_back(inboxes.of_rank[std::size_t(out.rank[i])] + out.slot[i]);
  return to;
}

} // namespace

StoredExchange::StoredExchange(const Inbox &in, const Outbox &out, const Inboxes &inboxes, int me)
    : sent_(index_t(out.place.size())), received_(index_t(in.place.size())), size_(inboxes.size),
      to_(targets(out, inboxes)), inbox_(inboxes.of_rank[std::size_t(me)]), places_(joined(out.place, in.place)),
      blocks_(blocks_for(std::max(sent_, received_))), round_(blocks_) {}

template <bool sends, bool receives> void StoredExchange::launch(const Cuda &on, double *array) const {
  if (!sent_) return; // then nothing is received, either
  places_.with([&](const auto *place) {
    using Int = std::decay_t<decltype(*place)>;
    exchange_values<sends, receives, Int><<<blocks_, block, 0, on.stream>>>(
        {place, to_.data(), sent_}, {place + sent_, inbox_, received_}, size_, array, round_.data());
  });
  cuda::check_launch("exchange_values");
}

void StoredExchange::exchange(const Cuda &on, double *array) const { launch<true, true>(on, array); }
void StoredExchange::send(const Cuda &on, double *array) const { launch<true, false>(on, array); }
void StoredExchange::receive(const Cuda &on, double *array) const { launch<false, true>(on, array); }

StoredGather::StoredGather(const Inboxes &inboxes, int me)
    : inbox_(inboxes.of_rank), size_(inboxes.size), me_(me), blocks_(blocks_for(size_)), round_(blocks_) {}

void StoredGather::gather(const Cuda &on, const double *mine, const std::vector<index_t> &n, double *all) const {
  Parts p{};
  p.ranks = int(n.size());
  p.me = me_;
  for (std::size_t r = 0; r < n.size(); ++r) {
    p.slot[r + 1] = p.slot[r] + std::max<index_t>(1, n[r]);
    p.value[r + 1] = p.value[r] + n[r];
    p.inbox[r] = inbox_[r];
  }
  gather_values<<<blocks_, block, 0, on.stream>>>(p, size_, mine, all, round_.data());
  cuda::check_launch("gather_values");
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
