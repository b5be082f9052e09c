// Answers on the device what is asked of the nonzeros to find the grid: a thread a row, few words to the host.
#include "find_cuda.hpp"

#include "csr_cuda.hpp"
#include "pattern.hpp"
#include "reach.hpp"

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
  Word not_finite;       // rows from the last to the first such one; 0: none
  Word distances[slots]; // in any order; 0: free
  unsigned too_many;     // distances
  Word misfit;           // nowhere, or row * 2^32 + place in the row of the first coupling that leads to no neighbour
  PetscInt column;       // of that one
  unsigned seen, seams;  // see Fit
  unsigned incomplete;
};

struct Geometry {
  int dim, points;
  PetscInt n[3], none; // none: no difference of two rows
  bool around[3];
  unsigned towards[3][2]; // the directions that step down and up a side, a bit each

  explicit Geometry(const Grid &g) : dim(g.dim), points(g.points), none(1), towards() {
    for (int x = 0; x < 3; ++x) {
      n[x] = static_cast<PetscInt>(g.n[x]);
      none *= n[x];
      around[x] = g.periodic[x];
      for (int m = 1; m < g.points; ++m) {
        const int step = (g.dim == 3 ? step3d : step2d)[m][x];
        if (step) towards[x][step > 0] |= 1u << m;
      }
    }
  }
};

// As Reach in reach.hpp, whose tables a device does not see. most: directions, 9 or 27
template <int most> struct Neighbours {
  PetscInt d[most];

  __device__ Neighbours(const Geometry &g, PetscInt p) {
    const PetscInt at[3] = {p % g.n[0], p / g.n[0] % g.n[1], p / (g.n[0] * g.n[1])};
    PetscInt to[3][2], stride = 1;
    for (int x = 0; x < 3; ++x) {
      const PetscInt ring = g.around[x] ? stride * (g.n[x] - 1) : g.none;
      to[x][0] = at[x] > 0 ? -stride : ring;
      to[x][1] = at[x] < g.n[x] - 1 ? stride : g.around[x] ? -ring : g.none;
      stride *= g.n[x];
    }
    const auto both = [&](PetscInt a, PetscInt b) { return a == g.none || b == g.none ? g.none : a + b; };
    d[Centre] = 0;
    d[West] = to[0][0], d[East] = to[0][1], d[South] = to[1][0], d[North] = to[1][1];
    if constexpr (most == most_directions) {
      const auto along = [&](int x, int step) { return step == 0 ? 0 : to[x][step > 0]; };
      d[Down] = to[2][0], d[Up] = to[2][1];
      int m = Up + 1;
#pragma unroll
      for (int z = -1; z <= 1; ++z)
#pragma unroll
        for (int y = -1; y <= 1; ++y)
#pragma unroll
          for (int x = -1; x <= 1; ++x)
            if (x * x + y * y + z * z > 1) d[m++] = both(both(along(0, x), along(1, y)), along(2, z));
    } else {
      const auto corner = [&](int x, int y) { return both(to[0][x], to[1][y]); };
      for (int m = SouthWest; m < directions; ++m) d[m] = g.none;
      if (g.dim == 3) {
        d[Down] = to[2][0], d[Up] = to[2][1];
      } else if (g.points == 9) {
        d[SouthWest] = corner(0, 0), d[SouthEast] = corner(1, 0);
        d[NorthWest] = corner(0, 1), d[NorthEast] = corner(1, 1);
      }
    }
  }

  // A bit, none if there is no neighbour.
  __device__ unsigned direction(PetscInt difference) const {
    unsigned bits = 0;
#pragma unroll
    for (int m = 0; m < most; ++m) bits |= d[m] == difference ? 1u << m : 0u;
    return bits;
  }
};

// f(p) for the rows of this thread. Blocks begin in the order of their rows.
template <class F> __device__ void for_rows(PetscInt n, const F &f) {
  const index_t first = index_t(blockIdx.x) * threads * rows_a_thread + threadIdx.x;
  for (int k = 0; k < rows_a_thread; ++k)
    if (first + k * threads < n) f(static_cast<PetscInt>(first + k * threads));
}

// Off the diagonal, not zero, and not with an identity row.
__device__ bool takes_part(const Csr &A, const unsigned char *identity, PetscInt p, PetscInt e) {
  const PetscInt q = A.ja[e];
  return q != p && A.a[e] != 0 && !identity[q];
}

__global__ void __launch_bounds__(threads) mark_identity(Csr A, unsigned char *identity, Answer *answer) {
  for_rows(A.n, [&](PetscInt p) {
    double check = 0;
    bool coupled = false;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      check += A.a[e] * 0.0; // 0 as long as all are finite
      coupled |= A.ja[e] != p && A.a[e] != 0;
    }
    identity[p] = !coupled;
    if (check != 0) atomicMax(&answer->not_finite, Word(A.n - p));
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
    find_distances(Csr A, const unsigned char *identity, int places, Answer *answer) {
  __shared__ Word set[slots];
  bool room = true;
  if (threadIdx.x < slots) set[threadIdx.x] = 0;
  __syncthreads();
  for_rows(A.n, [&](PetscInt p) {
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1] && !identity[p] && room; ++e)
      if (takes_part(A, identity, p, e))
        room = insert(set, places, static_cast<Word>(A.ja[e] > p ? A.ja[e] - p : p - A.ja[e]));
  });
  __syncthreads();
  if (threadIdx.x < slots && set[threadIdx.x] != 0) room = insert(answer->distances, places, set[threadIdx.x]) && room;
  if (!room) answer->too_many = 1;
}

// Adds what a warp saw to the common bits, hardly ever more than once.
__device__ void unite(unsigned *common, unsigned bits) {
  for (int offset = 16; offset > 0; offset /= 2) bits |= __shfl_xor_sync(~0u, bits, offset);
  if (threadIdx.x % 32 == 0 && (bits & ~*const_cast<volatile unsigned *>(common))) atomicOr(common, bits);
}

__device__ unsigned seams(const Geometry &g, PetscInt p, unsigned seen) {
  const PetscInt at[3] = {p % g.n[0], p / g.n[0] % g.n[1], p / (g.n[0] * g.n[1])};
  unsigned crossed = 0;
  for (int x = 0; x < 3; ++x)
    if ((at[x] == 0 && seen & g.towards[x][0]) || (at[x] == g.n[x] - 1 && seen & g.towards[x][1])) crossed |= 1u << x;
  return crossed;
}

// The place in its row of the first coupling that leads to no neighbour; -1 if all do. Adds the directions to `seen`.
template <int most>
__device__ PetscInt find_misfit(const Csr &A, const unsigned char *identity, const Neighbours<most> &neighbours,
                                PetscInt p, unsigned &seen) {
  for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
    if (!takes_part(A, identity, p, e)) continue;
    const unsigned bit = neighbours.direction(A.ja[e] - p);
    if (!bit) return e - A.ia[p];
    seen |= bit;
  }
  return -1;
}

// Where a grid does not fit, most rows do not: a warp tells the first of its rows only, and only if it is news.
__device__ void tell_misfit(Word misfit, Answer *answer) {
  for (int offset = 16; offset > 0; offset /= 2) misfit = min(misfit, __shfl_xor_sync(~0u, misfit, offset));
  if (threadIdx.x % 32 == 0 && misfit < *const_cast<volatile Word *>(&answer->misfit))
    atomicMin(&answer->misfit, misfit);
}

template <int most>
__global__ void __launch_bounds__(threads)
    hold_against(Csr A, const unsigned char *identity, Geometry g, Answer *answer) {
  const Word first = Word(blockIdx.x) * threads * rows_a_thread;
  const Word known = *const_cast<volatile Word *>(&answer->misfit) >> 32;
  if (__any_sync(~0u, known < first)) return; // an earlier row does not fit
  unsigned seen = 0, crossed = 0;
  Word misfit = nowhere;
  for_rows(A.n, [&](PetscInt p) {
    if (identity[p] || misfit != nowhere) return;
    unsigned of_row = 0;
    const PetscInt place = find_misfit(A, identity, Neighbours<most>(g, p), p, of_row);
    if (place >= 0) misfit = Word(p) << 32 | Word(place);
    seen |= of_row;
    crossed |= seams(g, p, of_row);
  });
  tell_misfit(misfit, answer);
  unite(&answer->seen, seen);
  unite(&answer->seams, crossed);
}

__global__ void look_up_misfit(Csr A, Answer *answer) {
  if (answer->misfit != nowhere)
    answer->column = A.ja[A.ia[answer->misfit >> 32] + PetscInt(answer->misfit & 0xffffffffu)];
}

// Whether each row has all directions in `used` that lead to coupled rows.
template <int most>
__global__ void __launch_bounds__(threads)
    look_for_gaps(Csr A, const unsigned char *identity, Geometry g, unsigned used, Answer *answer) {
  for_rows(A.n, [&](PetscInt p) {
    if (identity[p]) return;
    const Neighbours<most> neighbours(g, p);
    unsigned missing = used;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e)
      if (A.a[e] != 0) missing &= ~neighbours.direction(A.ja[e] - p);
#pragma unroll
    for (int m = 1; m < most; ++m)
      if (missing >> m & 1 && neighbours.d[m] != g.none && !identity[p + neighbours.d[m]]) answer->incomplete = 1;
  });
}

class DevicePattern : public Pattern {
public:
  DevicePattern(const Csr &device_rows, cudaStream_t s) : A(device_rows), stream(s) {
    if (A.n > 0) identity.resize(A.n);
  }

  index_t rows() const override { return A.n; }
  std::string mark_identity() override;
  Distances distances(std::size_t most) override;
  Pair one_too_many(std::size_t most) override { return on_host().one_too_many(most); }
  Fit fit(const Grid &) override;
  bool is_complete(const Grid &, const Fit &) override;
  double coupling(PetscInt row, PetscInt column) override { return on_host().coupling(row, column); }

private:
  unsigned blocks() const {
    constexpr index_t rows_a_block = threads * rows_a_thread;
    return static_cast<unsigned>((A.n + rows_a_block - 1) / rows_a_block);
  }

  // For messages.
  HostPattern &on_host() {
    if (!host) {
      copy = std::make_unique<HostCopy>(A, stream);
      host = std::make_unique<HostPattern>(copy->csr());
      host_reason = host->mark_identity();
    }
    return *host;
  }

  const Csr A;
  cudaStream_t stream;
  Buffer<unsigned char> identity;
  Report<Answer> answer;
  std::unique_ptr<HostCopy> copy;
  std::unique_ptr<HostPattern> host;
  std::string host_reason;
};

std::string DevicePattern::mark_identity() {
  answer.clear(stream);
  cuda::mark_identity<<<blocks(), threads, 0, stream>>>(A, identity.data(), answer.device());
  check_launch("mark_identity");
  if (answer.read(stream).not_finite == 0) return "";
  (void)on_host();
  return host_reason;
}

Distances DevicePattern::distances(std::size_t most) {
  Distances d;
  answer.clear(stream);
  find_distances<<<blocks(), threads, 0, stream>>>(A, identity.data(), static_cast<int>(most) + 1, answer.device());
  check_launch("find_distances");
  const Answer &found = answer.read(stream);
  for (const Word distance : found.distances)
    if (distance) d.all.push_back(static_cast<index_t>(distance));
  d.too_many = found.too_many || d.all.size() > most;
  std::sort(d.all.begin(), d.all.end());
  return d;
}

Fit DevicePattern::fit(const Grid &grid) {
  Fit f;
  answer.clear(stream);
  check(cudaMemsetAsync(&answer.device()->misfit, 0xff, sizeof(Word), stream), "cudaMemsetAsync");
  const auto kernel = grid.points > directions ? hold_against<most_directions> : hold_against<directions>;
  kernel<<<blocks(), threads, 0, stream>>>(A, identity.data(), Geometry(grid), answer.device());
  check_launch("hold_against");
  look_up_misfit<<<1, 1, 0, stream>>>(A, answer.device());
  check_launch("look_up_misfit");
  const Answer &found = answer.read(stream);
  if (found.misfit != nowhere) {
    f.row = static_cast<PetscInt>(found.misfit >> 32);
    f.column = found.column;
  }
  f.seen = found.seen;
  for (int x = 0; x < 3; ++x) f.seam[x] = found.seams >> x & 1;
  return f;
}

bool DevicePattern::is_complete(const Grid &grid, const Fit &f) {
  Grid g = grid;
  for (int x = 0; x < 3; ++x) g.periodic[x] = f.seam[x];
  answer.clear(stream);
  const auto kernel = g.points > directions ? look_for_gaps<most_directions> : look_for_gaps<directions>;
  kernel<<<blocks(), threads, 0, stream>>>(A, identity.data(), Geometry(g), used_directions(g, f), answer.device());
  check_launch("look_for_gaps");
  return !answer.read(stream).incomplete;
}

} // namespace

std::string find_grid(const Csr &rows, Widest widest, const char *option, Grid &grid, cudaStream_t stream) {
  DevicePattern pattern(rows, stream);
  return petscrrb::find_grid(pattern, widest, option, grid);
}

std::string check_grid(const Csr &rows, Widest widest, const char *option, Grid &grid, cudaStream_t stream) {
  DevicePattern pattern(rows, stream);
  return petscrrb::check_grid(pattern, widest, option, grid);
}

} // namespace petscrrb::cuda
