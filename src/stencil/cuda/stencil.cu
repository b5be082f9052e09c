// Reads and prepares the stencil in one pass: each warp marches up a strip of the grid, settles the couplings of a line
// when the line above it has arrived, and writes weights and excesses at once.
#include "stencil/cuda/stencil.hpp"

#include "exec/cuda/shape.cuh"
#include "grid/cuda/csr.hpp"
#include "stencil/cuda/facts.cuh"
#include "stencil/cuda/reader.cuh"

#include <algorithm>

namespace petscrrb::cuda {
namespace {

constexpr int warps = 4, threads = warps * warp_size; // of a block

// How the grid is dealt out to warps.
struct Tasks {
  index_t strips, count; // count: of warps
  PetscInt lines;        // of a task

  Tasks(const Grid &g, PetscInt lines_of_task) : strips(strips_of(g)), lines(lines_of_task) {
    count = strips * ((g.n[1] + lines - 1) / lines);
  }
  static index_t strips_of(const Grid &g) { return (g.n[0] + owned_columns - 1) / owned_columns; }
  index_t blocks() const { return (count + warps - 1) / warps; }
};

// On a multiprocessor: as many as leave each thread the registers that it needs.
template <int points> constexpr int blocks_at_once = (points == 5 ? 5 : 4) - (sizeof(PetscInt) > 4);

// Four loads are under way at any time: the entries of the next line, and where those of the line after it begin.
template <int points, bool scaled>
__global__ void __launch_bounds__(threads, blocks_at_once<points>)
    read_strips(Csr A, Geometry g, Tasks tasks, const double *near_null, double rounding, Target to,
                RowFacts *partial) {
  __shared__ typename Strip<points, scaled>::Stage stages[warps];
  const int warp = threadIdx.x / warp_size;
  const index_t task = index_t(blockIdx.x) * warps + warp;
  RowFacts found;
  if (task < tasks.count) {
    const PetscInt first_column = static_cast<PetscInt>(task % tasks.strips) * owned_columns;
    const PetscInt first = static_cast<PetscInt>(task / tasks.strips) * tasks.lines;
    const PetscInt last = min(first + tasks.lines, g.n[1]);
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
      const Row<points> row = strip.take(begin, end, start, staged, v, j, reader.facts.flags);
      __syncwarp();
      reader.next(row, j, j > first);
    }
    found = reader.facts.whole();
  }
  add_up_block<threads>(found, partial + blockIdx.x);
}

// Couplings outside of the stencil, but for those with identity rows. All that write *foreign write the same.
__global__ void look_at_foreign(Csr A, Geometry g, const unsigned char *identity, int *foreign) {
  const PetscInt p = static_cast<PetscInt>(index_t(blockIdx.x) * blockDim.x + threadIdx.x);
  if (p >= A.n) return;
  const Neighbours<directions> neighbours(g, p);
  for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
    const PetscInt q = A.ja[e];
    if (A.a[e] != 0 && !identity[q] && !neighbours.bit(q - p)) *foreign = 1;
  }
}

template <class T> void give_size(Buffer<T> &buffer, std::size_t n) {
  if (buffer.size() != n) buffer.resize(n);
}

// Long tasks read few lines twice, and tasks that fill the device a whole number of times leave no warp behind.
PetscInt lines_of_task(const Grid &g) {
  const auto kernel = g.points == 9 ? read_strips<9, false> : read_strips<5, false>;
  const auto quotient = [](index_t a, index_t b) { return (a + b - 1) / b; };
  const index_t at_once = index_t(resident_blocks(kernel, threads)) * warps, lines = Tasks::strips_of(g) * g.n[1];
  return static_cast<PetscInt>(std::max<index_t>(quotient(lines, at_once * quotient(lines, at_once * most_lines)), 2));
}

} // namespace

StencilReader::StencilReader(const Grid &g, Positive positive)
    : grid_(g), positive_(positive), lines_(lines_of_task(g)),
      partial_(static_cast<std::size_t>(Tasks(g, lines_).blocks())) {}

RowFacts StencilReader::pass(const Csr &A, const double *near_null, double rounding, DeviceStencil &s,
                             cudaStream_t stream, const std::function<void()> &meanwhile) const {
  const Tasks tasks(grid_, lines_);
  const Geometry g(grid_);
  const unsigned blocks = static_cast<unsigned>(tasks.blocks());
  const Target to{s.C.data(),  s.E.data(), s.N.data(),        s.NE.data(),
                  s.NW.data(), s.v.data(), s.identity.data(), positive_};
  const auto kernel = grid_.points == 9 ? (near_null ? read_strips<9, true> : read_strips<9, false>)
                                        : (near_null ? read_strips<5, true> : read_strips<5, false>);
  kernel<<<blocks, threads, 0, stream>>>(A, g, tasks, near_null, rounding, to, partial_.data());
  check_launch("read_strips");
  s.scaled = near_null != nullptr;
  return sum_of_blocks(partial_.data(), blocks, total_, stream, meanwhile);
}

bool StencilReader::is_foreign(const Csr &A, const DeviceStencil &s, cudaStream_t stream) const {
  foreign_.clear(stream);
  const unsigned blocks = static_cast<unsigned>((index_t(A.n) + threads - 1) / threads);
  look_at_foreign<<<blocks, threads, 0, stream>>>(A, Geometry(grid_), s.identity.data(), foreign_.device());
  check_launch("look_at_foreign");
  return foreign_.read(stream) != 0;
}

ReadResult StencilReader::read(const Csr &A, const double *near_null, double rounding, DeviceStencil &s, RowFacts &f,
                               cudaStream_t stream, const std::function<void()> &meanwhile) {
  const std::size_t n = static_cast<std::size_t>(grid_.n[0] * grid_.n[1]);
  f = RowFacts();
  if (static_cast<std::size_t>(A.n) != n) return ReadResult::rebuild;
  for (auto *array : {&s.C, &s.E, &s.N}) give_size(*array, n);
  for (auto *array : {&s.NE, &s.NW}) give_size(*array, grid_.points == 9 ? n : 0);
  if (near_null) give_size(s.v, n);
  give_size(s.identity, n);
  f = pass(A, near_null, rounding, s, stream, meanwhile);
  if (f.foreign && !f.not_finite) f.foreign = is_foreign(A, s, stream);
  if (f.result() != ReadResult::ok || !near_null || f.useless_row == no_row) return f.result();
  check(cudaMemcpyAsync(&f.useless_value, near_null + f.useless_row, sizeof(double), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  const RowFacts plain = pass(A, nullptr, rounding, s, stream, [] {});
  std::copy_n(plain.weights, 2, f.weights);
  return ReadResult::ok;
}

std::string why_not(const Csr &device_rows, const Grid &g, cudaStream_t stream) {
  const HostCopy copy(device_rows, stream);
  Stencil stencil;
  RowFacts facts;
  std::string why;
  (void)read_stencil(copy.csr(), g, stencil, facts, why);
  return why;
}

} // namespace petscrrb::cuda
