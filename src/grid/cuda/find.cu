// Answers on the device what is asked of the nonzeros to find the grid: a thread a row, few words to the host.
#include "grid/cuda/find.hpp"

#include "grid/cuda/csr.hpp"
#include "grid/reach.hpp"

#include <algorithm>
#include <memory>

namespace petscrrb::cuda {
namespace {

using Word = unsigned long long;

constexpr int threads = 256, rows_a_thread = 4;
constexpr int slots = static_cast<int>(most_distances_of_box) + 1;
constexpr Word nowhere = ~Word(0);

// The answers to all questions; each uses its part.
struct Answer {
  unsigned not_finite;   // some entry is
  unsigned zero;         // some entry is, off the diagonal
  unsigned identity;     // some row is one
  Word distances[slots]; // in any order; 0: free
  unsigned too_many;     // distances
  Word misfit;           // nowhere, or row * 2^32 + which entry of it is the first coupling that leads to no neighbour
  PetscInt row, column;  // places of that one
  unsigned seen, seams;  // see Fit
  unsigned incomplete;
};

// f(p) for the rows of this thread. Blocks begin in the order of their rows.
template <class F> __device__ void for_rows(PetscInt n, const F &f) {
  const index_t first = index_t(blockIdx.x) * threads * rows_a_thread + threadIdx.x;
  for (int k = 0; k < rows_a_thread; ++k)
    if (first + k * threads < n) f(static_cast<PetscInt>(first + k * threads));
}

__global__ void __launch_bounds__(threads) mark_identity(RankRows A, unsigned char *identity, Answer *answer) {
  for_rows(A.n, [&](PetscInt p) {
    double check = 0;
    bool coupled = false, zero = false;
    A.each(p, [&](PetscInt q, double a) {
      check += a * 0.0; // 0 as long as all are finite
      coupled |= q != p && a != 0, zero |= q != p && a == 0;
      return true;
    });
    identity[p] = !coupled;
    if (check != 0) answer->not_finite = 1;
    if (zero) answer->zero = 1;
    if (!coupled) answer->identity = 1;
  });
}

// Whether there was room for it.
__device__ bool insert(Word *set, int room, Word distance) {
  for (int k = 0; k < room; ++k) {
    Word here = *const_cast<volatile Word *>(set + k);
    if (here == 0) here = atomicCAS(set + k, Word(0), distance);
    if (here == 0 || here == distance) return true;
  }
  return false;
}

// Each block collects for itself, so that few threads meet at the common set.
__global__ void __launch_bounds__(threads)
    find_distances(RankRows A, const unsigned char *identity, int room_for, Answer *answer) {
  __shared__ Word set[slots];
  bool room = true;
  if (threadIdx.x < slots) set[threadIdx.x] = 0;
  __syncthreads();
  for_rows(A.n, [&](PetscInt p) {
    if (!room) return;
    const PetscInt here = A.places(p);
    A.each_coupling(identity, p, [&](PetscInt q, PetscInt) {
      const PetscInt there = A.place(q);
      return room = insert(set, room_for, static_cast<Word>(there > here ? there - here : here - there));
    });
  });
  __syncthreads();
  if (threadIdx.x < slots && set[threadIdx.x] != 0)
    room = insert(answer->distances, room_for, set[threadIdx.x]) && room;
  if (!room) answer->too_many = 1;
}

// Adds what a warp saw to the common bits, hardly ever more than once.
__device__ void unite(unsigned *common, unsigned bits) {
  for (int offset = 16; offset > 0; offset /= 2) bits |= __shfl_xor_sync(~0u, bits, offset);
  if (threadIdx.x % 32 == 0 && (bits & ~*const_cast<volatile unsigned *>(common))) atomicOr(common, bits);
}

// p: a place
__device__ unsigned seams(const Geometry &g, PetscInt p, unsigned seen) {
  const PetscInt at[3] = {p % g.n[0], p / g.n[0] % g.n[1], p / (g.n[0] * g.n[1])};
  unsigned crossed = 0;
  for (int x = 0; x < 3; ++x)
    if (seen & g.across(x, at[x])) crossed |= 1u << x;
  return crossed;
}

// Which entry of a row is the first coupling that leads to no neighbour; -1 if all do. Adds the directions to `seen`.
template <int most>
__device__ PetscInt find_misfit(const RankRows &A, const unsigned char *identity, const Geometry &g, PetscInt p,
                                unsigned &seen) {
  const PetscInt here = A.places(p);
  const Neighbours<most> neighbours(g, here);
  PetscInt misfit = -1;
  A.each_coupling(identity, p, [&](PetscInt q, PetscInt index) {
    const unsigned bit = neighbours.bit(A.place(q) - here);
    seen |= bit;
    if (!bit) misfit = index;
    return bit != 0;
  });
  return misfit;
}

// Where a grid does not fit, most rows do not: a warp tells the first of its rows only, and only if it is news.
__device__ void tell_misfit(Word misfit, Answer *answer) {
  for (int offset = 16; offset > 0; offset /= 2) misfit = min(misfit, __shfl_xor_sync(~0u, misfit, offset));
  if (threadIdx.x % 32 == 0 && misfit < *const_cast<volatile Word *>(&answer->misfit))
    atomicMin(&answer->misfit, misfit);
}

template <int most>
__global__ void __launch_bounds__(threads)
    hold_against(RankRows A, const unsigned char *identity, Geometry g, Answer *answer) {
  const Word first = Word(blockIdx.x) * threads * rows_a_thread;
  const Word known = *const_cast<volatile Word *>(&answer->misfit) >> 32;
  if (__any_sync(~0u, known < first)) return; // an earlier row does not fit
  unsigned seen = 0, crossed = 0;
  Word misfit = nowhere;
  for_rows(A.n, [&](PetscInt p) {
    if (misfit != nowhere) return;
    unsigned of_row = 0;
    const PetscInt index = find_misfit<most>(A, identity, g, p, of_row);
    if (index >= 0) misfit = Word(p) << 32 | Word(index);
    seen |= of_row;
    crossed |= seams(g, A.places(p), of_row);
  });
  tell_misfit(misfit, answer);
  unite(&answer->seen, seen);
  unite(&answer->seams, crossed);
}

__global__ void look_up_misfit(RankRows A, Answer *answer) {
  if (answer->misfit == nowhere) return;
  const PetscInt row = PetscInt(answer->misfit >> 32);
  PetscInt left = PetscInt(answer->misfit & 0xffffffffu);
  A.each(row, [&](PetscInt q, double) {
    answer->column = A.place(q);
    return left-- > 0;
  });
  answer->row = A.places(row);
}

// Whether each row has all directions in `used` that lead to coupled rows. Of a matrix on one rank.
template <int most>
__global__ void __launch_bounds__(threads)
    look_for_gaps(RankRows A, const unsigned char *identity, Geometry g, unsigned used, Answer *answer) {
  for_rows(A.n, [&](PetscInt p) {
    if (identity[p]) return;
    const Neighbours<most> neighbours(g, p);
    unsigned missing = used;
    A.each(p, [&](PetscInt q, double a) {
      if (a != 0) missing &= ~neighbours.bit(q - p);
      return true;
    });
#pragma unroll
    for (int m = 1; m < most; ++m)
      if (missing >> m & 1 && neighbours.d[m] != g.none && !identity[p + neighbours.d[m]]) answer->incomplete = 1;
  });
}

using GetStream = std::function<cudaStream_t()>;

class DeviceRankPattern final : public RankPattern {
public:
  DeviceRankPattern(const RankRows &rows, PetscInt ghosts, GetStream stream)
      : A(rows), places_(rows.ghost_places ? std::vector<PetscInt>(rows.ghost_places, rows.ghost_places + ghosts)
                                           : std::vector<PetscInt>()),
        identity_(std::size_t(rows.n + ghosts)), ghosts_(ghosts), ready(std::move(stream)) {
    A.ghost_places = places_.data();
  }

  bool mark_identity() override;
  unsigned char *identity() override { return identity_.data(); }
  Distances distances(std::size_t most) override;
  Fit fit(const Grid &) override;
  index_t coupled_rows() override;
  bool is_complete(const Grid &, const Fit &) override;

private:
  unsigned blocks() const {
    constexpr index_t rows_a_block = threads * rows_a_thread;
    return static_cast<unsigned>((A.n + rows_a_block - 1) / rows_a_block);
  }
  // for RankRows::each_coupling()
  const unsigned char *where_identity() const { return some_are_identity_ ? identity_.data() : nullptr; }
  // kernel(A, args..., answer), where there are rows, on the stream that is returned; the answer is clear before.
  template <class Kernel, class... Args> cudaStream_t ask(const char *what, Kernel *kernel, const Args &...args) {
    const cudaStream_t stream = ready();
    answer.clear(stream);
    check(cudaMemsetAsync(&answer.device()->misfit, 0xff, sizeof(Word), stream), "cudaMemsetAsync");
    if (!A.n) return stream;
    kernel<<<blocks(), threads, 0, stream>>>(A, args..., answer.device());
    check_launch(what);
    return stream;
  }

  RankRows A;
  Buffer<PetscInt> places_; // of the ghosts
  Buffer<unsigned char> identity_;
  PetscInt ghosts_;
  bool some_are_identity_ = true;
  Report<Answer> answer;
  GetStream ready;
};

bool DeviceRankPattern::mark_identity() {
  const Answer &found = answer.read(ask("mark_identity", cuda::mark_identity, identity_.data()));
  // what the following need not read: most of the bytes
  if (!found.zero) A.own.a = A.others.a = nullptr;
  some_are_identity_ = found.identity || ghosts_ > 0;
  return !found.not_finite;
}

Distances DeviceRankPattern::distances(std::size_t most) {
  Distances d;
  const Answer &found =
      answer.read(ask("find_distances", find_distances, where_identity(), static_cast<int>(most) + 1));
  for (const Word distance : found.distances)
    if (distance) d.all.push_back(static_cast<index_t>(distance));
  d.too_many = found.too_many || d.all.size() > most;
  std::sort(d.all.begin(), d.all.end());
  return d;
}

Fit DeviceRankPattern::fit(const Grid &grid) {
  Fit f;
  const auto kernel = grid.points > directions ? hold_against<most_directions> : hold_against<directions>;
  const cudaStream_t stream = ask("hold_against", kernel, where_identity(), Geometry(grid));
  if (A.n) look_up_misfit<<<1, 1, 0, stream>>>(A, answer.device());
  check_launch("look_up_misfit");
  const Answer &found = answer.read(stream);
  if (found.misfit != nowhere) {
    f.row = found.row;
    f.column = found.column;
  }
  f.seen = found.seen;
  for (int x = 0; x < 3; ++x) f.seam[x] = found.seams >> x & 1;
  return f;
}

index_t DeviceRankPattern::coupled_rows() {
  const auto identity = to_host(identity_.data(), std::size_t(A.n), ready());
  return std::count(identity.begin(), identity.end(), 0);
}

bool DeviceRankPattern::is_complete(const Grid &grid, const Fit &f) {
  const Grid g = with_seams(grid, f);
  const auto kernel = g.points > directions ? look_for_gaps<most_directions> : look_for_gaps<directions>;
  return !answer.read(ask("look_for_gaps", kernel, identity_.data(), Geometry(g), used_directions(g, f))).incomplete;
}

class DevicePattern final : public OneRankPattern {
public:
  DevicePattern(const Csr &device_rows, cudaStream_t s)
      : A(device_rows), stream(s), all(RankRows(device_rows), 0, [s] { return s; }) {}
  index_t rows() const override { return A.n; }

private:
  RankPattern &mine() override { return all; }
  HostRankPattern &on_host() override {
    if (!host) {
      copy = std::make_unique<HostCopy>(A, stream);
      host = std::make_unique<HostRankPattern>(RankRows(copy->csr()), 0);
      (void)host->mark_identity();
    }
    return *host;
  }

  const Csr A;
  cudaStream_t stream;
  DeviceRankPattern all;
  std::unique_ptr<HostCopy> copy;
  std::unique_ptr<HostRankPattern> host;
};

} // namespace

std::unique_ptr<RankPattern> make_rank_pattern(const RankRows &rows, PetscInt ghosts,
                                               std::function<cudaStream_t()> stream) {
  return std::make_unique<DeviceRankPattern>(rows, ghosts, std::move(stream));
}

std::string find_grid(const Csr &rows, Widest widest, const char *option, Grid &grid, cudaStream_t stream) {
  DevicePattern pattern(rows, stream);
  return petscrrb::find_grid(pattern, widest, option, grid);
}

std::string check_grid(const Csr &rows, Widest widest, const char *option, Grid &grid, cudaStream_t stream) {
  DevicePattern pattern(rows, stream);
  return petscrrb::check_grid(pattern, widest, option, grid);
}

} // namespace petscrrb::cuda
