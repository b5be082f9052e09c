// The factorization and its sweeps on a device.
#include "pc/mic/core/mic.hpp"
#include "pc/mic/cuda/order.hpp"
#include "pc/mic/core/read.hpp"
#include "pc/mic/cuda/work.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::mic {
namespace device {
namespace {

// The columns of a block, each after those that it waits for: by the diagonals of the tiles across.
std::vector<int2> by_diagonals(const Order &o) {
  std::vector<int2> tiles;
  tiles.reserve(static_cast<std::size_t>(o.columns()));
  for (PetscInt sum = 0; sum < o.tiles[0] + o.tiles[1] - 1; ++sum)
    for (PetscInt Q = std::max<PetscInt>(0, sum - o.tiles[0] + 1); Q <= std::min<PetscInt>(sum, o.tiles[1] - 1); ++Q)
      tiles.push_back({int(sum - Q), int(Q)});
  return tiles;
}

// The two halves of M^-1 by a loop over all values: C = (D + L) D^-1/2, and sweeps have u = D y between them. left: to = D^-1/2 u
// in natural order, else u = D^1/2 from
template <class T, bool left> struct Half {
  Order order;
  Lattice grid;
  Chunks<T> factor;
  const double *from;
  double *to;

  __device__ void operator()(int p) const {
    const index_t at = order.at(LatticePoint(grid, p).at);
    const double root = sqrt(double(factor.inverse(at)));
    if constexpr (left)
      to[p] = root * from[at];
    else
      to[at] = from[p] / root;
  }
};

template <class T, class Tile> class DeviceMic final : public Mic {
  static constexpr int most_sides = 4;
  using Post = Mail<Tile>;
  using Layout = Chunk<Tile>;

public:
  // that a block needs of shared memory, at most
  static constexpr int shared() {
    return std::max({Memory<Forward<T, Tile, false>>::bytes, Memory<Backward<T, Tile, false>>::bytes,
                     Memory<Factorize<T, Tile>>::bytes});
  }

  DeviceMic(const Cuda &on, const Grid &grid, const Options &options, const Order &order)
      : on_(on), g_(lattice_of(grid)), options_(options), o_(order), tiles_(by_diagonals(order)), turns_(kinds) {
    factor_.resize(static_cast<std::size_t>(o_.size() / Tile::points * Layout::size));
    make_room(1);
  }

  Findings refresh(const Csr &A) override {
    const bool ssor = options_.type == Type::ssor;
    (void)watcher_.forget(on_.stream);
    read_.clear(on_.stream);
    made_.clear(on_.stream);
    read_matrix(A, g_, o_, factor(), u_.data(), ssor ? options_.omega : 0, made_.device()->common,
                [&](PetscInt rows, const auto &f) {
                  const index_t some = rows == 1 ? 1 : rows_to_read(o_); // the first is the first in either order
                  at_rows(some, InOrder<std::decay_t<decltype(f)>>{o_, f}, read_, on_.stream);
                });
    if (!ssor) sweep<Factorize<T, Tile>>(1);
    Findings found;
    found.read = read(read_, on_.stream);
    version_ += constant_ || !found.read.varies; // kernels get the constants as arguments
    found.constant = constant_ = !found.read.varies;
    const FactorFindings<T> made = made_.read(on_.stream);
    for (int d = 0; d < 3; ++d) { // of SSOR, 1/d has the rest in it
      const int natural = o_.axis[d];
      task_.constant[d] = natural < g_.steps ? double(made.common[natural]) / (ssor ? 2 - options_.omega : 1) : 0;
    }
    watcher_.check_and_forget(on_.stream);
    if (!ssor) look_at_pivots(made, found);
    return found;
  }

  void apply(const double *r, index_t r_stride, double *z, index_t z_stride, int columns) override {
    watcher_.check_and_forget(on_.stream);
    make_room(std::min(columns, most_sides));
    for (int k = 0; k < columns; k += most_sides) {
      task_.r = r + k * r_stride, task_.r_stride = r_stride;
      task_.z = z + k * z_stride, task_.z_stride = z_stride;
      solve<Forward>(std::min(columns - k, most_sides));
      solve<Backward>(std::min(columns - k, most_sides), true);
    }
  }
  index_t energy_terms() const override { return index_t(o_.columns()) * o_.blocks * Energy<Tile>::terms; }
  void apply(const double *r, double *z, double *terms) override {
    task_.energy = terms;
    apply(r, 0, z, 0, 1);
    task_.energy = nullptr;
  }
  void apply_left(const double *r, double *z) override {
    watcher_.check_and_forget(on_.stream);
    task_.r = r;
    solve<Forward>(1);
    cuda::for_rows("half of M^-1", int(g_.size()), Half<T, true>{o_, g_, factor(), u_.data(), z}, on_.stream);
  }
  void apply_right(const double *r, double *z) override {
    watcher_.check_and_forget(on_.stream);
    cuda::for_rows("half of M^-1", int(g_.size()), Half<T, false>{o_, g_, factor(), r, u_.data()}, on_.stream);
    task_.z = z;
    solve<Backward>(1);
  }

  void check() override { watcher_.check_and_forget(on_.stream); }
  long version() const override { return version_; }

  double bytes() const override {
    return double(factor_.bytes() + u_.bytes() + mail_[0].bytes() + mail_[1].bytes() + tiles_.bytes());
  }

private:
  Chunks<T> factor() const { return Chunks<T>::template of<Tile>(o_, factor_.data()); }

  // for so many right-hand sides at a time
  void make_room(int sides) {
    if (sides <= sides_) return;
    u_.resize(static_cast<std::size_t>(sides * o_.size()));
    for (int d = 0; d < (Tile::flat ? 1 : 2); ++d) mail_[d].resize(static_cast<std::size_t>(sides * Post::size(o_, d)));
    sides_ = sides;
  }

  void look_at_pivots(const FactorFindings<T> &p, Findings &found) {
    found.null_rows = static_cast<index_t>(p.null_rows);
    found.shifted = static_cast<index_t>(p.shifted);
    if (!p.bad) return;
    found.pivot = static_cast<index_t>(~0ull - p.bad);
    const LatticePoint point(g_, static_cast<PetscInt>(found.pivot));
    T value; // left in place of 1/d
    cuda::check(
        cudaMemcpyAsync(&value, &factor().inverse(o_.at(point.at)), sizeof value, cudaMemcpyDeviceToHost, on_.stream),
        "cudaMemcpyAsync");
    cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    found.pivot_value = value;
  }

  template <template <class, class, bool> class Way> void solve(int sides, bool overlap = false) {
    constant_ ? sweep<Way<T, Tile, true>>(sides, overlap) : sweep<Way<T, Tile, false>>(sides, overlap);
  }

  // overlap: it may start while the sweep before it in the stream ends
  template <class Work> void sweep(int sides, bool overlap = false) {
    constexpr auto kernel = wavefront<Work>;
    constexpr int threads = Crew<Work>::count, shared = Memory<Work>::bytes;
    const index_t blocks = index_t(o_.columns()) * o_.blocks * sides;
    (void)cuda::resident_blocks(kernel, threads, shared); // allows the kernel so much shared memory
    task_.order = o_;
    task_.factor = factor_.data();
    task_.u = u_.data();
    task_.sides = sides;
    task_.tiles = tiles_.data();
    task_.mail[0] = mail_[0].data(), task_.mail[1] = mail_[1].data();
    task_.turns = turns_.data();
    task_.watch = watcher_.begin();
    task_.rule = {options_.omega, options_.shift};
    task_.found = made_.device();
    static const bool may_overlap = cuda::may_overlap(kernel);
    cuda::launch("wavefront", kernel, overlap && may_overlap, dim3(static_cast<unsigned>(blocks)), threads, shared,
                 on_.stream, task_);
  }

  const Cuda &on_;
  const Lattice g_;
  const Options options_;
  const Order o_;
  Sweep<T> task_{};
  int sides_ = 0;
  bool constant_ = false;
  long version_ = 0;
  cuda::Buffer<T> factor_;
  cuda::Buffer<double> u_;
  cuda::Buffer<Message> mail_[2];
  cuda::Buffer<int2> tiles_;
  cuda::Buffer<Turns> turns_;
  cuda::Watcher watcher_{"values from another tile of PCMIC's sweep, which did not arrive"};
  cuda::Report<SharedFacts> read_;
  cuda::Report<FactorFindings<T>> made_;
};

// With the largest tiles for so much shared memory.
template <class T>
std::unique_ptr<Mic> make_tiled(const Cuda &on, const Grid &grid, const Options &options, int shared) {
  using Large = TileShape<16, 8>;
  using Small = TileShape<8, 8>;
  const auto made = [&](auto tile) -> std::unique_ptr<Mic> {
    using Shape = decltype(tile);
    const int processors = cuda::attribute(cudaDevAttrMultiProcessorCount);
    const Order o = device_order(grid, options, processors, {Shape::tp, Shape::tq});
    return std::make_unique<DeviceMic<T, Shape>>(on, grid, options, o);
  };
  if (is_flat(grid)) return made(TileShape<32, 1>());
  if (DeviceMic<T, Large>::shared() <= shared) return made(Large());
  if (DeviceMic<T, Small>::shared() <= shared) return made(Small());
  return made(TileShape<8, 4>());
}

} // namespace
} // namespace device

std::unique_ptr<Mic> make_mic(const Cuda &on, const Grid &g, const Options &options, int shared) {
  if (!shared) shared = cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return options.single ? device::make_tiled<float>(on, g, options, shared)
                        : device::make_tiled<double>(on, g, options, shared);
}

} // namespace petscrrb::mic
