// The factorization and its sweeps on the host.
#include "pc/mic/core/mic.hpp"

#include "exec/host/host.hpp"
#include "stencil/host/rows.hpp"
#include "pc/mic/host/order.hpp"
#include "pc/mic/host/pipeline.hpp"
#include "pc/mic/core/read.hpp"

namespace petscrrb::mic {
namespace {

template <int lanes, class T> class HostMic final : public Mic {
public:
  HostMic(const Grid &grid, const Options &options, const Order &order)
      : g_(lattice_of(grid)), options_(options), o_(order), together_(g_.size() >= host::serial_below),
        progress_(static_cast<std::size_t>(order.tiles[0])) {
    const std::size_t n = static_cast<std::size_t>(o_.size());
    for (int m = 0; m < g_.steps; ++m) w_[m].resize(n);
    inverse_.resize(n);
    u_.resize(n);
    if (o_.tiles[0] > 1) edges_.resize(n / lanes);
  }

  Findings refresh(const Csr &A) override {
    Findings found;
    const bool ssor = options_.type == Type::ssor;
    const Values<T> to{{w_[0].data(), w_[1].data(), w_[2].data()}, inverse_.data()};
    T common[3] = {};
    read_matrix(A, g_, o_, to, u_.data(), ssor ? options_.omega : 0, common,
                [&](PetscInt rows, const auto &f) { at_rows(rows, f, found.read); });
    constant_ = found.constant = !found.read.varies;
    for (int m = 0; m < 3; ++m) common_[m] = ssor ? common[m] / (2 - options_.omega) : common[m];
    if (!ssor && found.read.result() == ReadResult::ok && found.read.bad_pivot == no_row)
      sweep_blocks<lanes>(o_, together_, progress_, [&](const Column &c) {
        return Factorize<lanes, T>(o_, c, to, {options_.omega, options_.shift}, u_.data(), edges_.data(), found);
      });
    return found;
  }

  void apply(const double *r, index_t r_stride, double *z, index_t z_stride, int columns) override {
    for (int k = 0; k < columns; ++k) {
      solve<Forward, false>(r + k * r_stride, nullptr);
      solve<Backward, false>(nullptr, z + k * z_stride);
    }
  }
  void apply_left(const double *r, double *z) override { solve<Forward, true>(r, z); }
  void apply_right(const double *r, double *z) override { solve<Backward, true>(r, z); }

  double bytes() const override {
    std::size_t sum = inverse_.bytes() + u_.bytes() + edges_.bytes();
    for (const auto &w : w_) sum += w.bytes();
    return static_cast<double>(sum);
  }

private:
  // one of both sweeps, by a factor as it is stored
  template <template <int, class, bool> class Solve, bool half> void solve(const double *r, double *z) {
    const auto by = [&](const auto &factor) {
      sweep_blocks<lanes>(o_, together_, progress_, [&](const Column &c) {
        return Solve<lanes, std::decay_t<decltype(factor)>, half>(o_, c, factor, r, u_.data(), edges_.data(), z);
      });
    };
    const int *axis = o_.axis;
    if (constant_)
      by(Alike<T>{{common_[axis[0]], common_[axis[1]], common_[axis[2]]}, inverse_.data()});
    else
      by(Stored<T>{{w_[axis[0]].data(), w_[axis[1]].data(), w_[axis[2]].data()}, inverse_.data()});
  }

  const Lattice g_;
  const Options options_;
  const Order o_;
  const bool together_;
  bool constant_ = false;
  double common_[3] = {};          // couplings, along the natural directions, if they are constant
  host::Buffer<T> w_[3], inverse_; // w: along the natural directions
  host::Buffer<double> u_, edges_;
  std::vector<Progress> progress_;
};

template <class T> std::unique_ptr<Mic> make_host(const Grid &g, const Options &options) {
  const Order o = host_order(g, options);
  if (o.tp == 8) return std::make_unique<HostMic<8, T>>(g, options, o);
  if (o.tp == 4) return std::make_unique<HostMic<4, T>>(g, options, o);
  return std::make_unique<HostMic<1, T>>(g, options, o);
}

} // namespace

std::unique_ptr<Mic> make_mic(const Grid &g, const Options &options) {
  return options.single ? make_host<float>(g, options) : make_host<double>(g, options);
}

} // namespace petscrrb::mic
