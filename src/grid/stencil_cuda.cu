// Reads and prepares the stencil in one pass: each warp marches up a strip of the grid, settles the couplings of a line
// when the line above it has arrived, and writes weights and excesses at once.
#include "stencil_cuda.hpp"

#include "csr_cuda.hpp"
#include "strip_cuda.cuh"
#include "tally_cuda.cuh"
#include "weights.hpp"

#include <algorithm>

namespace petscrrb::cuda {
namespace {

constexpr int warps = 4, threads = warps * warp_size; // of a block

// How the grid is dealt out; does not depend on the device, since the order of the sums does on it.
struct Tasks {
  index_t strips, count; // count: of warps
  PetscInt lines;        // of a task

  explicit Tasks(const Grid &g) : strips((g.n[0] + owned_columns - 1) / owned_columns) {
    constexpr index_t enough = 4096; // warps; the fewer they are, the fewer lines are read twice
    lines = static_cast<PetscInt>(std::clamp<index_t>(g.n[1] * strips / enough, 2, most_lines));
    count = strips * ((g.n[1] + lines - 1) / lines);
  }
  index_t blocks() const { return (count + warps - 1) / warps; }
};

struct Target {
  double *C, *E, *N, *NE, *NW, *v;
  unsigned char *identity;
};

// Of one point with those to the right and above, positive ones too.
struct Couplings {
  double east = 0, north = 0, northeast = 0, northwest = 0;
};

template <int points, bool scaled> class Reader {
public:
  using At = Slot<points>;

  __device__ Reader(const Strip<points, scaled> &s, const Sides &sides, const Target &target, double r)
      : strip(s), g(sides), to(target), rounding(r) {}

  // Line j has arrived: the line below it can be finished. `mine`: that line is to be written by this warp.
  __device__ void next(const Row<points> &row, PetscInt j, bool mine) {
    if (mine)
      finish(row, j - 1, strip.owned);
    else
      settle_upwards(row, false);
    below = settled;
    line = row;
  }

  LaneTally tally;

private:
  __device__ static double right(double value) { return __shfl_down_sync(~0u, value, 1); }
  __device__ static double left(double value) { return __shfl_up_sync(~0u, value, 1); }

  // The mean of a_ij and a_ji.
  __device__ double settle(double here, double there, bool dropped, bool count) {
    const double mean = 0.5 * (here + there);
    if (dropped) {
      if (count && (here != 0 || there != 0)) tally.counts += LaneTally::decoupled;
      return 0.0;
    }
    if (count) {
      tally.asymmetry = fmax(tally.asymmetry, fabs(here - there));
      if (mean > 0) tally.counts += LaneTally::positive;
    }
    return mean;
  }

  // The couplings of `line` with the line above, into `settled`. All lanes call this.
  __device__ void settle_upwards(const Row<points> &above, bool count) {
    settled.north = settle(line.a[At::North], above.a[At::South], line.identity | above.identity, count);
    if constexpr (points == 9) {
      const bool right_identity = __shfl_down_sync(~0u, above.identity, 1);
      const bool left_identity = __shfl_up_sync(~0u, above.identity, 1);
      const double lower_right = right(above.a[At::SouthWest]), lower_left = left(above.a[At::SouthEast]);
      settled.northeast = settle(line.a[At::NorthEast], lower_right, line.identity | right_identity, count);
      settled.northwest = settle(line.a[At::NorthWest], lower_left, line.identity | left_identity, count);
    }
    if (count) note_crossings();
    if (!scaled) return;
    settled.north = __dmul_rn(settled.north, line.v * above.v);
    if constexpr (points == 9) {
      const double v_right = right(above.v), v_left = left(above.v);
      settled.northeast = __dmul_rn(settled.northeast, line.v * v_right);
      settled.northwest = __dmul_rn(settled.northwest, line.v * v_left);
    }
  }

  __device__ void settle_eastwards(bool count) {
    const bool right_identity = __shfl_down_sync(~0u, line.identity, 1);
    const double other = right(line.a[At::West]);
    settled.east = settle(line.a[At::East], other, line.identity | right_identity, count);
    if (count && settled.east != 0 && strip.column == g.nx - 1) tally.found |= found_across_x;
    const double v_right = right(line.v);
    if (scaled) settled.east = __dmul_rn(settled.east, line.v * v_right);
  }

  __device__ void note_crossings() {
    const bool corner = settled.northeast != 0 || settled.northwest != 0;
    if (corner) tally.found |= found_corners;
    if (strip.column == g.nx - 1 && settled.northeast != 0) tally.found |= found_across_x;
    if (strip.column == 0 && settled.northwest != 0) tally.found |= found_across_x;
    if (top && (corner || settled.north != 0)) tally.found |= found_across_y;
  }

  __device__ double excess() const {
    Excess e(scaled ? __dmul_rn(line.a[At::Centre], line.v * line.v) : line.a[At::Centre]);
    const double west = left(settled.east);
    e.add(settled.east), e.add(west), e.add(settled.north), e.add(below.north);
    if constexpr (points == 9) {
      const double southwest = left(below.northeast), southeast = right(below.northwest);
      e.add(settled.northeast), e.add(settled.northwest), e.add(southwest), e.add(southeast);
    }
    return e.value(rounding);
  }

  // Line j, by the line above it. All lanes call this, those that own nothing for their neighbours' sake.
  __device__ void finish(const Row<points> &above, PetscInt j, bool count) {
    top = j == g.ny - 1;
    if (count) look_at_row(j);
    settle_eastwards(count);
    settle_upwards(above, count);
    const double c = excess();
    if (count) write(j * g.nx + strip.column, c);
  }

  __device__ void look_at_row(PetscInt j) {
    double &centre = line.a[At::Centre];
    if (!line.identity) {
      tally.diagonal = fmax(tally.diagonal, fabs(centre));
      if (tally.useless_row < 0 && (line.v == 0 || !isfinite(line.v))) tally.useless_row = j * g.nx + strip.column;
      return;
    }
    tally.counts += LaneTally::identity;
    if (centre != 0) return;
    tally.counts += LaneTally::zero;
    centre = 1;
  }

  __device__ void write(PetscInt p, double c) {
    const double east = weight(settled.east), north = weight(settled.north);
    tally.weights_x += east;
    tally.weights_y += north;
    to.C[p] = c;
    to.E[p] = east;
    to.N[p] = north;
    if constexpr (points == 9) {
      to.NE[p] = weight(settled.northeast);
      to.NW[p] = weight(settled.northwest);
    }
    if (scaled) to.v[p] = line.v;
    to.identity[p] = line.identity;
  }

  const Strip<points, scaled> &strip;
  const Sides &g;
  const Target &to;
  const double rounding;
  bool top = false;
  Row<points> line;         // the last that has arrived
  Couplings settled, below; // of that line, of the one before
};

// Four loads are under way at any time: the entries of the next line, and where those of the line after it begin.
template <int points, bool scaled>
__global__ void __launch_bounds__(threads, points == 5 ? 5 : 4)
    read_strips(Csr A, Sides g, Tasks tasks, const double *near_null, double rounding, Target to, Tally *partial) {
  __shared__ typename Strip<points, scaled>::Stage stages[warps];
  const int warp = threadIdx.x / warp_size;
  const index_t task = index_t(blockIdx.x) * warps + warp;
  Tally tally;
  if (task < tasks.count) {
    const PetscInt first_column = static_cast<PetscInt>(task % tasks.strips) * owned_columns;
    const PetscInt first = static_cast<PetscInt>(task / tasks.strips) * tasks.lines;
    const PetscInt last = min(first + tasks.lines, g.ny);
    const Strip<points, scaled> strip(A, g, near_null, first_column, stages[warp]);
    Reader<points, scaled> reader(strip, g, to, rounding);
    Flight<points> flight, ahead;
    strip.find(flight, first - 1);
    strip.fetch(flight, first - 1);
    strip.find(ahead, first);
    for (PetscInt j = first - 1; j <= last; ++j) {
      const PetscInt begin = flight.begin, end = flight.end, start = flight.first;
      const bool staged = flight.staged;
      const double v = flight.v;
      strip.arrive(flight);
      flight.begin = ahead.begin;
      flight.end = ahead.end;
      if (j < last) strip.fetch(flight, j + 1);
      if (j + 1 < last) strip.find(ahead, j + 2);
      const Row<points> row = strip.take(begin, end, start, staged, v, j, reader.tally.found);
      __syncwarp();
      reader.next(row, j, j > first);
    }
    tally = reader.tally.whole();
  }
  add_up_block<warps>(tally, partial + blockIdx.x);
}

__global__ void add_up(const Tally *partial, index_t count, Tally *total) {
  Tally t;
  for (index_t k = threadIdx.x; k < count; k += threads) t.add(partial[k]);
  add_up_block<warps>(t, total);
}

// Whether two coordinates of one side are at most one step apart; `steps`: how many they are.
__device__ bool are_close(PetscInt a, PetscInt b, PetscInt n, bool around, int &steps) {
  const PetscInt d = a < b ? b - a : a - b;
  steps = d != 0;
  return d <= 1 || (around && d == n - 1);
}

__device__ bool are_neighbours(const Sides &g, int points, PetscInt i, PetscInt j, PetscInt k, PetscInt l) {
  int x, y;
  return are_close(i, k, g.nx, g.around_x, x) && are_close(j, l, g.ny, g.around_y, y) && (points == 9 || x + y < 2);
}

// Couplings outside of the stencil: with identity rows they count as dropped.
__global__ void look_at_foreign(Csr A, Sides g, int points, const unsigned char *identity, ForeignTally *result) {
  const PetscInt p = static_cast<PetscInt>(index_t(blockIdx.x) * blockDim.x + threadIdx.x);
  if (p >= A.n) return;
  unsigned long long decoupled = 0;
  const PetscInt i = p % g.nx, j = p / g.nx;
  for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
    const PetscInt q = A.ja[e];
    if (A.a[e] == 0 || are_neighbours(g, points, i, j, q % g.nx, q / g.nx)) continue;
    if (identity[q])
      ++decoupled;
    else
      result->unresolved = 1;
  }
  if (decoupled) atomicAdd(&result->decoupled, decoupled);
}

void take_facts(const Tally &t, const Grid &g, DeviceFacts &f) {
  f.identity_rows = static_cast<index_t>(t.identity);
  f.zero_rows = static_cast<index_t>(t.zero);
  f.decoupled = static_cast<index_t>(t.decoupled);
  f.positive = static_cast<index_t>(t.positive);
  f.corners = t.found & found_corners;
  f.largest_diagonal = t.diagonal;
  f.asymmetry = t.asymmetry;
  f.ring_is_cut = (g.periodic[0] && !(t.found & found_across_x)) || (g.periodic[1] && !(t.found & found_across_y));
  f.weights_x = t.weights_x;
  f.weights_y = t.weights_y;
}

Sides sides(const Grid &g) {
  return {static_cast<PetscInt>(g.n[0]), static_cast<PetscInt>(g.n[1]), g.periodic[0], g.periodic[1]};
}

template <class T> void give_size(Buffer<T> &buffer, std::size_t n) {
  if (buffer.size() != n) buffer.resize(n);
}

} // namespace

StencilReader::StencilReader(const Grid &g)
    : grid_(g), partial_(static_cast<std::size_t>(Tasks(g).blocks())), total_(), foreign_() {}

Tally StencilReader::pass(const Csr &A, const double *near_null, double rounding, DeviceStencil &s,
                          cudaStream_t stream) const {
  const Tasks tasks(grid_);
  const Sides g = sides(grid_);
  const unsigned blocks = static_cast<unsigned>(tasks.blocks());
  const Target to{s.C.data(), s.E.data(), s.N.data(), s.NE.data(), s.NW.data(), s.v.data(), s.identity.data()};
  const auto kernel = grid_.points == 9 ? (near_null ? read_strips<9, true> : read_strips<9, false>)
                                        : (near_null ? read_strips<5, true> : read_strips<5, false>);
  kernel<<<blocks, threads, 0, stream>>>(A, g, tasks, near_null, rounding, to, partial_.data());
  check_launch("read_strips");
  add_up<<<1, threads, 0, stream>>>(partial_.data(), blocks, total_.device());
  check_launch("add_up");
  s.scaled = near_null != nullptr;
  return total_.read(stream);
}

bool StencilReader::resolve_foreign(const Csr &A, const DeviceStencil &s, DeviceFacts &f, cudaStream_t stream) const {
  foreign_.clear(stream);
  const unsigned blocks = static_cast<unsigned>((index_t(A.n) + threads - 1) / threads);
  look_at_foreign<<<blocks, threads, 0, stream>>>(A, sides(grid_), grid_.points, s.identity.data(), foreign_.device());
  check_launch("look_at_foreign");
  const ForeignTally t = foreign_.read(stream);
  f.decoupled += static_cast<index_t>(t.decoupled);
  return !t.unresolved;
}

ReadResult StencilReader::read(const Csr &A, const double *near_null, double rounding, DeviceStencil &s, DeviceFacts &f,
                               cudaStream_t stream) {
  const std::size_t n = static_cast<std::size_t>(grid_.n[0] * grid_.n[1]);
  f = DeviceFacts();
  if (static_cast<std::size_t>(A.n) != n) return ReadResult::rebuild;
  for (auto *array : {&s.C, &s.E, &s.N}) give_size(*array, n);
  for (auto *array : {&s.NE, &s.NW}) give_size(*array, grid_.points == 9 ? n : 0);
  if (near_null) give_size(s.v, n);
  give_size(s.identity, n);
  Tally t = pass(A, near_null, rounding, s, stream);
  take_facts(t, grid_, f);
  if (t.found & found_not_finite) return ReadResult::refused;
  if (t.found & found_foreign && !resolve_foreign(A, s, f, stream)) return ReadResult::rebuild;
  if (t.asymmetry > symmetric * t.diagonal) return ReadResult::refused;
  if (!near_null || t.useless_row == no_row) return ReadResult::ok;
  f.useless_row = static_cast<index_t>(t.useless_row);
  check(cudaMemcpyAsync(&f.useless_value, near_null + f.useless_row, sizeof(double), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  t = pass(A, nullptr, rounding, s, stream);
  f.weights_x = t.weights_x;
  f.weights_y = t.weights_y;
  return ReadResult::ok;
}

std::string why_not(const Csr &device_rows, const Grid &g, cudaStream_t stream) {
  const HostCopy copy(device_rows, stream);
  Stencil stencil;
  StencilFacts facts;
  std::string why;
  (void)read_stencil(copy.csr(), g, stencil, facts, why);
  return why;
}

} // namespace petscrrb::cuda
