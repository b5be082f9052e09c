// Sweeps over blocks on a device.
#include "blockrelax.hpp"

#include "relax_cuda.cuh"

namespace petscrrb::blockrelax {
namespace {

class DeviceBlockRelax final : public BlockRelax {
public:
  DeviceBlockRelax(const Cuda &on, const std::vector<Patch> &patches, int points, const bool periodic[3],
                   const Options &options)
      : DeviceBlockRelax(on, options, Layout(patches, points, periodic, options.block)) {}

  Findings refresh(const Csr &A) override {
    Findings found;
    found.read = A_.read(A, on_.stream);
    found.constant = A_.constant();
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    found.pivot = inverses_.refresh(on_.stream);
    found.shapes = inverses_.kinds();
    found.used = name_of(inverses_.method());
    relax_.prepare(l_.points, inverses_);
    return found;
  }

  void sweep(const double *b, double *x, int sweeps, bool from_zero) override {
    const bool jacobi = options_.order == Order::jacobi;
    if (from_zero && (!jacobi || sweeps == 0))
      cuda::check(cudaMemsetAsync(x, 0, std::size_t(l_.rows) * sizeof(double), on_.stream), "cudaMemsetAsync");
    if (!jacobi) {
      for (int s = 0; s < sweeps; ++s) once(b, x, x, from_zero && s == 0 && options_.order == Order::coloured);
      return;
    }
    double *const two[2] = {x, other_.data()}; // the last sweep is to end in x
    if (!from_zero && sweeps % 2 == 1) on_.copy(two[1], x, std::size_t(l_.rows));
    for (int s = sweeps; s-- > 0;) once(b, two[(s + 1) % 2], two[s % 2], from_zero && s == sweeps - 1);
  }

  double bytes() const override {
    return A_.bytes() + inverses_.bytes() + relax_.bytes() + static_cast<double>(other_.bytes());
  }

private:
  DeviceBlockRelax(const Cuda &on, const Options &options, const Layout &layout)
      : DeviceBlockRelax(on, options, layout, ordered(layout, options)) {}
  DeviceBlockRelax(const Cuda &on, const Options &options, const Layout &layout, const BlockOrder &order)
      : on_(on), l_(layout), options_(options), bounds_(bounds(order)), A_(l_, order, bounds_),
        inverses_(l_, order, A_, options) {
    if (options.order == Order::jacobi) other_.resize(static_cast<std::size_t>(l_.rows));
    const int colours = static_cast<int>(bounds_.size()) - 1;
    for (int c = 0; c < colours; ++c) passes_.push_back(c);
    // an exact inverse twice in a row is none
    if (options.symmetric && options.order == Order::coloured)
      for (int c = options.omega == 1 ? colours - 1 : colours; c-- > 0;) passes_.push_back(c);
  }

  static BlockOrder ordered(const Layout &l, const Options &o) {
    std::vector<int> colour(static_cast<std::size_t>(l.blocks()));
    if (o.order == Order::jacobi) return BlockOrder(l, 1, colour);
    const Colours all = colours_of(l.patches, l.cut, l.points, l.periodic, o.colours);
    for (index_t b = 0; b < l.blocks(); ++b) {
      const index_t patch = l.patch_of(b);
      colour[b] = all.of(l.patches[patch], l.cut, static_cast<PetscInt>(b - l.first_block[patch]));
    }
    return BlockOrder(l, all.count, colour);
  }
  static std::vector<index_t> bounds(const BlockOrder &order) {
    std::vector<index_t> at;
    for (int c = 0; c <= order.colours(); ++c) at.push_back(order.first(c));
    return at;
  }

  // Other patches are as they were before the sweep.
  void once(const double *b, const double *from, double *to, bool zero) {
    const bool ghosts = from == to && passes_.size() > 1;
    if (ghosts) A_.keep_ghosts(from, on_.stream);
    for (std::size_t k = 0; k < passes_.size(); ++k) {
      const int range = passes_[k];
      const bool from_zero = zero && k == 0;
      if (!from_zero) A_.sum_links(range, from, ghosts, on_.stream);
      const index_t first = bounds_[range], count = bounds_[range + 1] - first;
      relax_({A_.blocks() + first, static_cast<int>(count), b, from, to, options_.omega, from_zero, A_.values(),
              A_.link_sums(), static_cast<int>(l_.most_cells())},
             inverses_, on_.stream);
    }
  }

  const Cuda &on_;
  const Layout l_;
  const Options options_;
  const std::vector<index_t> bounds_; // of colours, in the order of blocks
  DeviceMatrix A_;
  BlockInverses inverses_;
  GeneralRelax relax_;
  std::vector<int> passes_; // colours, in the order in which a sweep takes them
  cuda::Buffer<double> other_;
};

} // namespace

std::unique_ptr<BlockRelax> make_blockrelax(const Cuda &on, const std::vector<Patch> &patches, int points,
                                            const bool periodic[3], const Options &options) {
  return std::make_unique<DeviceBlockRelax>(on, patches, points, periodic, options);
}

} // namespace petscrrb::blockrelax
