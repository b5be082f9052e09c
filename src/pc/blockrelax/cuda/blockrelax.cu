// Sweeps over blocks on a device.
#include "pc/blockrelax/core/blockrelax.hpp"

#include "pc/blockrelax/cuda/products.cuh"
#include "pc/blockrelax/cuda/small.cuh"
#include "pc/blockrelax/cuda/split.cuh"

namespace petscrrb::blockrelax {
namespace {

class DeviceBlockRelax final : public BlockRelax {
public:
  DeviceBlockRelax(const Cuda &on, const Domain &domain, const Options &options)
      : on_(on), l_(domain, options.cut()), options_(options), order_(order_of_blocks(l_, options)), A_(l_, order_),
        inverses_(l_, order_, A_, options) {
    if (options.order == Order::jacobi) other_.resize(static_cast<std::size_t>(l_.rows));
    for (int c : colours_in_turn(order_.colours(), options)) turns_.push_back({c, c + 1});
    if (SmallTensor::takes(l_)) small_ = std::make_unique<SmallTensor>(l_);
  }

  Findings refresh(const Csr &A) override {
    Findings found;
    found.read = A_.read(A, on_.stream);
    found.constant = A_.constant();
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    found.pivot = inverses_.refresh(on_.stream);
    found.shapes = inverses_.kinds();
    found.used = name_of(inverses_.method());
    small_now_ = small_ && inverses_.method() == Method::tensor && small_->refresh(A_.common(), on_.stream);
    products_now_ = DenseProducts::takes(A_, inverses_);
    if (products_now_ && !products_) products_ = std::make_unique<DenseProducts>(l_, order_, inverses_);
    if (!small_now_ && !products_now_) relax_.prepare(l_.points, inverses_);
    split_now_ = wants_split() && small_->refresh(A_.common(), on_.stream);
    if (split_now_) {
      if (!split_) split_ = std::make_unique<Split>(order_);
      split_->refresh(A_, on_.stream);
      if (split_->uniform() > 0) found.used = "tensor and factored";
    }
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
           (split_ ? split_->bytes() : 0) + (products_ ? products_->bytes() : 0) + static_cast<double>(other_.bytes());
  }

private:
  // Colours that are relaxed in one launch.
  struct Turn {
    int first, last;
  };

  // Where the matrix differs in few places only, most blocks are a warp's work, and the others a launch of their own. That
  // is no gain if the device has all blocks at a time.
  bool wants_split() const {
    return small_ && !A_.constant() && inverses_.method() == Method::factored && l_.blocks() > relax_.resident();
  }

  // One launch, in which blocks start colour after colour but do not wait for one another. Blocks that start together are
  // not coupled then, and see what was relaxed before. If all blocks of a colour were there at once it would be Jacobi's
  // sweep, undamped, which does not smooth: then each colour is a launch.
  std::vector<Turn> chaotic_turns() const {
    std::vector<Turn> turns;
    bool together = !products_now_; // products are of a colour, and relax_ is not prepared where they are used
    const auto fill = [&](index_t blocks, index_t resident) { together = together && blocks >= resident; };
    for (int c = 0; c < order_.colours(); ++c) {
      turns.push_back({c, c + 1});
      if (products_now_) continue;
      if (split_now_) {
        fill(split_->uniform(c, c + 1).count, SmallTensor::resident());
        fill(split_->others(c, c + 1).count, relax_.resident());
      } else
        fill(order_.first(c + 1) - order_.first(c), small_now_ ? SmallTensor::resident() : relax_.resident());
    }
    return together ? std::vector<Turn>{{0, order_.colours()}} : turns;
  }

  // Other patches are as they were before the sweep.
  void once(const double *b, const double *from, double *to, bool zero) {
    const bool ghosts = from == to && turns_.size() > 1;
    if (ghosts) A_.keep_ghosts(from, on_.stream);
    for (std::size_t k = 0; k < turns_.size(); ++k) {
      const Turn turn = turns_[k];
      const bool from_zero = zero && k == 0;
      for (int c = turn.first; c < turn.last && !from_zero; ++c) A_.sum_links(c, from, ghosts, on_.stream);
      Pass pass{A_.blocks(),
                0,
                b,
                from,
                to,
                options_.omega,
                from_zero,
                l_.neighbours.halo[2] > 0,
                A_.values(),
                A_.link_sums(),
                int(l_.most_cells())};
      if (products_now_) {
        products_->relax(turn.first, pass, inverses_, on_.stream);
        continue;
      }
      if (split_now_) {
        relax_part(split_->others(turn.first, turn.last), false, pass);
        relax_part(split_->uniform(turn.first, turn.last), true, pass);
      } else
        relax_part({A_.blocks() + order_.first(turn.first), order_.first(turn.last) - order_.first(turn.first)},
                   small_now_, pass);
    }
  }

  void relax_part(const Split::Range &part, bool small, Pass pass) {
    pass.blocks = part.blocks;
    pass.count = static_cast<int>(part.count);
    if (pass.count == 0) return;
    if (small)
      small_->relax(pass, on_.stream);
    else
      relax_(pass, inverses_, on_.stream);
  }

  const Cuda &on_;
  const Layout l_;
  const Options options_;
  const BlockOrder order_;
  DeviceMatrix A_;
  BlockInverses inverses_;
  GeneralRelax relax_;
  std::unique_ptr<SmallTensor> small_; // if there may be use for it
  std::unique_ptr<DenseProducts> products_;
  std::unique_ptr<Split> split_;
  bool small_now_ = false, split_now_ = false, products_now_ = false;
  std::vector<Turn> turns_; // of a sweep
  cuda::Buffer<double> other_;
};

} // namespace

std::unique_ptr<BlockRelax> make_blockrelax(const Cuda &on, const Domain &domain, const Options &options) {
  return std::make_unique<DeviceBlockRelax>(on, domain, options);
}

} // namespace petscrrb::blockrelax
