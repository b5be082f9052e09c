// Sweeps over blocks on the host.
#include "pc/blockrelax/core/blockrelax.hpp"

#include "pc/blockrelax/host/inverses.hpp"
#include "pc/blockrelax/host/residual.hpp"

namespace petscrrb::blockrelax {
namespace {

// What a sweep reads and writes: twice the same vector, but for Jacobi.
struct Vectors {
  const double *b, *from;
  double *to;
};

class HostBlockRelax final : public BlockRelax {
public:
  HostBlockRelax(const Domain &domain, const Options &options)
      : l_(domain, options.cut()), options_(options), A_(l_), inverses_(l_, A_, options),
        blocks_(options.order == Order::coloured ? order_of_blocks(l_, options) : natural_order(l_)),
        together_(l_.rows >= host::serial_below), passes_(colours_in_turn(blocks_.colours(), options)) {
    if (options.order == Order::jacobi) other_.resize(static_cast<std::size_t>(l_.rows));
  }

  Findings refresh(const Csr &A) override {
    Findings found;
    found.read = A_.read(A);
    found.constant = A_.constant();
    ghosts_.resize(A_.ghosts().size());
    if (found.read.result() != ReadResult::ok || found.read.bad_pivot != no_row) return found;
    found.pivot = inverses_.refresh(scratch_);
    prepare();
    found.shapes = inverses_.kinds();
    found.used = inverses_.used();
    return found;
  }

  void sweep(const double *b, double *x, int sweeps, bool from_zero) override {
    const bool jacobi = options_.order == Order::jacobi;
    prepare(); // again, for there may be more threads now
    if (from_zero && (!jacobi || sweeps == 0)) fill(x, nullptr);
    if (jacobi && !from_zero && sweeps % 2 == 1) fill(other_.data(), x);
    // all sweeps of a patch, which may stay in cache, where patches are not coupled
    const int at_once = ways() == Parallel::patches && A_.ghosts().empty() ? sweeps : 1;
    for (int left = sweeps; left > 0; left -= at_once)
      some(b, x, left, at_once, from_zero && left == sweeps && options_.order != Order::chaotic);
  }

  double bytes() const override {
    return A_.bytes() + inverses_.bytes() + blocks_.bytes() + scratch_.bytes() +
           static_cast<double>(other_.bytes() + ghosts_.size() * sizeof(double));
  }

private:
  void prepare() { scratch_.prepare(inverses_.work() + l_.most_cells() + l_.most_window()); }

  // Of a sweep; Jacobi's last one is to end in x.
  Vectors vectors(const double *b, double *x, int left) const {
    if (options_.order != Order::jacobi) return {b, x, x};
    double *const two[2] = {x, other_.data()};
    return {b, two[left % 2], two[(left - 1) % 2]};
  }

  void fill(double *to, const double *from) const { // null: zero
#pragma omp parallel for schedule(static) if (together_)
    for (PetscInt p = 0; p < l_.rows; ++p) to[p] = from ? from[p] : 0;
  }

  Parallel ways() const {
    if (options_.parallel != Parallel::automatic) return options_.parallel;
    // enough patches for all threads to end at about the same time
    return l_.patches.size() >= 8 * std::size_t(host::most_threads()) ? Parallel::patches : Parallel::both;
  }

  void patch(index_t p, const Vectors &v, bool zero, double *memory) const {
    for (std::size_t k = 0; k < passes_.size(); ++k)
      for (index_t t = first(k, p); t < first(k, p + 1); ++t) relax(blocks_[t], v, zero && k == 0, memory);
  }

  // So many of the sweeps that are left. Other patches are as they were before.
  void some(const double *b, double *x, int left, int sweeps, bool zero) {
    const Vectors v = vectors(b, x, left);
    const std::vector<PetscInt> &rows = A_.ghosts();
    const Parallel way = ways();
    const index_t patches = static_cast<index_t>(l_.patches.size()), ghosts = static_cast<index_t>(rows.size());
#pragma omp parallel if (together_)
    {
      double *const memory = scratch_.mine();
#pragma omp for schedule(static)
      for (index_t g = 0; g < ghosts; ++g) ghosts_[g] = zero ? 0 : v.from[rows[g]];
      if (way == Parallel::patches) {
#pragma omp for schedule(dynamic)
        for (index_t p = 0; p < patches; ++p)
          for (int s = 0; s < sweeps; ++s) patch(p, vectors(b, x, left - s), zero && s == 0, memory);
      } else {
        const index_t step = way == Parallel::both ? patches : 1;
        for (index_t p = 0; p < patches; p += step)
          for (std::size_t k = 0; k < passes_.size(); ++k) {
#pragma omp for schedule(static)
            for (index_t t = first(k, p); t < first(k, p + step); ++t) relax(blocks_[t], v, zero && k == 0, memory);
          }
      }
    }
  }
  index_t first(std::size_t pass, index_t patch) const { return blocks_.first(passes_[pass], patch); }

  void relax(index_t b, const Vectors &v, bool zero, double *memory) const {
    const bool shared = options_.order == Order::chaotic && together_;
    shared ? relax<true>(b, v, zero, memory) : relax<false>(b, v, zero, memory);
  }

  // zero: x is zero, and is not read
  template <bool shared> void relax(index_t b, const Vectors &v, bool zero, double *memory) const {
    double *const r = memory + inverses_.work(), *const u = r + l_.most_cells();
    l_.at(b, [&](const Patch &p, const Block &block) {
      Window window(l_, p, block, u);
      if (zero) {
        at_cells(p, block, [&](int cell, PetscInt row, const PetscInt *) { r[cell] = v.b[row]; });
      } else {
        window.fill<shared>(v.from);
        residual_of_block(l_, A_, p, block, window, v.b, r);
        for (const Link *link = A_.links(b); link != A_.links_end(b); ++link)
          r[link->cell] -= link->a * (link->to < 0 ? ghosts_[~link->to] : load<shared>(v.from + link->to));
      }
      inverses_.solve(b, r, memory);
      at_length(block.n[0], [&](auto n) {
        const double *now = r;
        for (int k = 0; k < block.n[2]; ++k)
          for (int j = 0; j < block.n[1]; ++j, now += n) {
            double *to = v.to + row_at(p, block.first[0], block.first[1] + j, block.first[2] + k);
            const double *old = window.line(j, k);
            for (int i = 0; i < n; ++i) store<shared>(to + i, (zero ? 0 : old[i]) + options_.omega * now[i]);
          }
      });
    });
  }

  const Layout l_;
  const Options options_;
  HostMatrix A_;
  HostInverses inverses_;
  const BlockOrder blocks_;
  const bool together_;
  const std::vector<int> passes_; // colours, in the order in which a sweep takes them
  host::Buffer<double> other_;
  std::vector<double> ghosts_;
  host::Scratch scratch_;
};

} // namespace

std::unique_ptr<BlockRelax> make_blockrelax(const Domain &domain, const Options &options) {
  return std::make_unique<HostBlockRelax>(domain, options);
}

} // namespace petscrrb::blockrelax
