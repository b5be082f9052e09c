// Sweeps over blocks on a device.
#include "blockrelax.hpp"

#include "passes.hpp"
#include "relax_cuda.cuh"
#include "small_cuda.cuh"

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
    small_now_ = small_ && inverses_.method() == Method::tensor && small_->refresh(A_.values(), on_.stream);
    if (!small_now_) relax_.prepare(l_.points, inverses_);
    if (options_.order == Order::chaotic) turns_ = chaotic_turns();
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
    return A_.bytes() + inverses_.bytes() + relax_.bytes() + (small_ ? small_->bytes() : 0) +
           static_cast<double>(other_.bytes());
  }

private:
  // Colours that are relaxed in one launch.
  struct Turn {
    int first, last;
  };

  DeviceBlockRelax(const Cuda &on, const Options &options, const Layout &layout)
      : DeviceBlockRelax(on, options, layout, order_of_blocks(layout, options)) {}
  DeviceBlockRelax(const Cuda &on, const Options &options, const Layout &layout, const BlockOrder &order)
      : on_(on), l_(layout), options_(options), bounds_(bounds(order)), A_(l_, order, bounds_),
        inverses_(l_, order, A_, options) {
    if (options.order == Order::jacobi) other_.resize(static_cast<std::size_t>(l_.rows));
    for (int c : colours_in_turn(colours(), options.symmetric && options.order == Order::coloured, options.omega))
      turns_.push_back({c, c + 1});
    if (SmallTensor::takes(l_)) small_ = std::make_unique<SmallTensor>(l_);
  }

  static std::vector<index_t> bounds(const BlockOrder &order) {
    std::vector<index_t> at;
    for (int c = 0; c <= order.colours(); ++c) at.push_back(order.first(c));
    return at;
  }
  int colours() const { return static_cast<int>(bounds_.size()) - 1; }

  // One launch, in which blocks start colour after colour but do not wait for one another. Blocks that start together are
  // not coupled then, and see what was relaxed before. If all blocks of a colour were there at once it would be Jacobi's
  // sweep, undamped, which does not smooth: then each colour is a launch.
  std::vector<Turn> chaotic_turns() const {
    const index_t resident = small_now_ ? SmallTensor::resident() : relax_.resident();
    std::vector<Turn> turns;
    bool together = true;
    for (int c = 0; c < colours(); ++c) {
      together = together && bounds_[c + 1] - bounds_[c] >= resident;
      turns.push_back({c, c + 1});
    }
    return together ? std::vector<Turn>{{0, colours()}} : turns;
  }

  // Other patches are as they were before the sweep.
  void once(const double *b, const double *from, double *to, bool zero) {
    const bool ghosts = from == to && turns_.size() > 1;
    if (ghosts) A_.keep_ghosts(from, on_.stream);
    for (std::size_t k = 0; k < turns_.size(); ++k) {
      const Turn turn = turns_[k];
      const bool from_zero = zero && k == 0;
      for (int c = turn.first; c < turn.last && !from_zero; ++c) A_.sum_links(c, from, ghosts, on_.stream);
      const index_t first = bounds_[turn.first], count = bounds_[turn.last] - first;
      const Pass pass{
          A_.blocks() + first, static_cast<int>(count),          b, from, to, options_.omega, from_zero, A_.values(),
          A_.link_sums(),      static_cast<int>(l_.most_cells())};
      if (small_now_)
        small_->relax(pass, on_.stream);
      else
        relax_(pass, inverses_, on_.stream);
    }
  }

  const Cuda &on_;
  const Layout l_;
  const Options options_;
  const std::vector<index_t> bounds_; // of colours, in the order of blocks
  DeviceMatrix A_;
  BlockInverses inverses_;
  GeneralRelax relax_;
  std::unique_ptr<SmallTensor> small_; // if there may be use for it
  bool small_now_ = false;
  std::vector<Turn> turns_; // of a sweep
  cuda::Buffer<double> other_;
};

} // namespace

std::unique_ptr<BlockRelax> make_blockrelax(const Cuda &on, const std::vector<Patch> &patches, int points,
                                            const bool periodic[3], const Options &options) {
  return std::make_unique<DeviceBlockRelax>(on, patches, points, periodic, options);
}

} // namespace petscrrb::blockrelax
