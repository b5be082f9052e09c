// The inverses of the diagonal blocks on the host. Blocks that are alike share one.
#pragma once

#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blockrelax.hpp"
#include "pc/blockrelax/host/matrix.hpp"
#include "pc/blockrelax/core/method.hpp"
#include "pc/blockrelax/host/transform.hpp"

#include <array>
#include <cstring>
#include <tuple>

namespace petscrrb::blockrelax {

class HostInverses {
public:
  HostInverses(const Layout &layout, const HostMatrix &matrix, const Options &options)
      : l_(layout), A_(matrix), options_(options), key_(static_cast<std::size_t>(layout.blocks())),
        kind_of_(static_cast<std::size_t>(layout.blocks())) {}

  // Of the matrix as it is now. Returns the first row of a block that is not positive definite, or no_row.
  index_t refresh(host::Scratch &scratch) {
    find_kinds();
    Extent extent;
    for (const Kind &kind : kinds_) extent.add(kind.n, kind.band.width);
    method_ = choose(options_.inverse, A_.constant() ? &A_.common() : nullptr, l_.neighbours, extent);
    if (method_ == Method::tensor)
      for (const Kind &kind : kinds_)
        for (int n : kind.n) bases_.add(n);
    place();
    index_t first = no_row;
    scratch.prepare(work_);
#pragma omp parallel
    {
      double *const work = scratch.mine();
#pragma omp for schedule(dynamic) reduction(min : first)
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        const Kind &kind = kinds_[k];
        const bool stored = kind.at != nowhere;
        const int bad = stored ? make(kind, inverse_.data() + kind.at, work) : factor(kind, work);
        if (bad >= 0)
          first = std::min(first, l_.at(kind.block, [&](const Patch &p, const Block &b) {
            const Place<int> at(bad, b.n);
            return static_cast<index_t>(row_at(p, b.first[0] + at.x, b.first[1] + at.y, b.first[2] + at.z));
          }));
      }
    }
    return first;
  }

  // r becomes A_bb^-1 r; work: as many doubles as work() says.
  void solve(index_t b, double *r, double *work) const {
    const Kind &kind = kinds_[static_cast<std::size_t>(kind_of_[b])];
    if (kind.at == nowhere) {
      (void)factor(kind, work);
      return kind.band.solve(work, r);
    }
    const double *inverse = inverse_.data() + kind.at;
    if (method_ == Method::tensor) return diagonalized(bases_, kind.n, inverse, r, work);
    if (method_ == Method::factored) return kind.band.solve(inverse, r);
    const int cells = kind.band.n;
    std::copy_n(r, cells, work);
    for (int i = 0; i < cells; ++i) {
      const double *row = inverse + std::size_t(i) * cells;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int k = 0; k < cells; ++k) sum += row[k] * work[k];
      r[i] = sum;
    }
  }

  std::size_t work() const { return work_; }
  index_t kinds() const { return static_cast<index_t>(kinds_.size()); }
  const char *used() const { return name_of(method_); }
  double bytes() const {
    return static_cast<double>(inverse_.bytes() + kinds_.size() * sizeof(Kind) + key_.size() * sizeof(Key) +
                               kind_of_.size() * sizeof(int)) +
           bases_.bytes();
  }

private:
  using Hash = std::array<std::uint64_t, 2>;
  struct Key {
    Hash hash;
    index_t block;
  };
  struct Kind {
    index_t block; // the first of its kind
    int n[3];
    Band band;      // of its factor
    std::size_t at; // where its inverse lies, or nowhere
  };
  static constexpr std::size_t nowhere = ~std::size_t(0);

  static Hash mixed(Hash h, std::uint64_t x) {
    h[0] = (h[0] ^ x) * 0x9e3779b97f4a7c15u;
    h[1] = (h[1] + x) * 0xd6e8feb86659fd93u;
    return {h[0] ^ h[0] >> 29, h[1] ^ h[1] >> 32};
  }
  static std::uint64_t bits(double a) {
    std::uint64_t b;
    std::memcpy(&b, &a, sizeof b);
    return b;
  }

  // Of 128 bits: blocks that have the same are taken to be alike.
  Hash hash(index_t b) const {
    Hash h = l_.at(b, [](const Patch &, const Block &block) {
      Hash sides{0, 1};
      for (int n : block.n) sides = mixed(sides, static_cast<std::uint64_t>(n));
      return sides;
    });
    if (A_.constant()) return h;
    A_.within_block(
        b, [&](int i, int j, double a) { h = mixed(mixed(h, std::uint64_t(i) << 32 | std::uint64_t(j)), bits(a)); });
    return h;
  }

  Kind kind_of(index_t b) const {
    return l_.at(b, [&](const Patch &, const Block &block) {
      Kind kind{b, {block.n[0], block.n[1], block.n[2]}, {block.cells(), 0}, nowhere};
      A_.within_block(b, [&](int cell, int other, double a) {
        if (a != 0) kind.band.width = std::max(kind.band.width, std::abs(cell - other));
      });
      return kind;
    });
  }

  void find_kinds() {
#pragma omp parallel for schedule(static)
    for (index_t b = 0; b < l_.blocks(); ++b) key_[b] = {hash(b), b};
    std::sort(key_.begin(), key_.end(),
              [](const Key &x, const Key &y) { return std::tie(x.hash, x.block) < std::tie(y.hash, y.block); });
    kinds_.clear();
    for (std::size_t k = 0; k < key_.size(); ++k) {
      const index_t b = key_[k].block;
      const bool known = k > 0 && key_[k].hash == key_[k - 1].hash;
      if (!known) kinds_.push_back(kind_of(b));
      kind_of_[b] = static_cast<int>(kinds_.size()) - 1;
    }
  }

  std::size_t size(const Kind &kind) const {
    if (method_ == Method::tensor) return std::size_t(kind.band.n);
    if (method_ == Method::dense) return std::size_t(kind.band.n) * kind.band.n;
    return kind.band.size();
  }

  // What has no place within the budget is factored anew whenever it is used.
  void place() {
    std::size_t sum = 0, factor = 0;
    int cells = 0;
    bool all = true;
    for (Kind &kind : kinds_) {
      const std::size_t next = sum + size(kind);
      const bool fits = options_.memory <= 0 || static_cast<double>(next * sizeof(double)) <= options_.memory;
      kind.at = fits ? sum : nowhere;
      if (fits) sum = next;
      all = all && fits;
      cells = std::max(cells, kind.band.n);
      factor = std::max(factor, kind.band.size());
    }
    if (inverse_.size() < sum) inverse_.resize(sum);
    work_ = std::size_t(cells) + (all && method_ != Method::dense ? 0 : factor);
  }

  int factor(const Kind &kind, double *to) const {
    std::fill_n(to, kind.band.size(), 0.0);
    A_.within_block(kind.block, [&](int i, int j, double a) {
      if (a != 0) kind.band.row(to, std::max(i, j))[std::min(i, j)] += a;
    });
    return kind.band.factor(to);
  }

  void make_dense(const Band &band, const double *factor, double *to) const {
    std::fill_n(to, std::size_t(band.n) * band.n, 0.0);
    for (int i = 0; i < band.n; ++i) {
      double *column = to + std::size_t(i) * band.n;
      column[i] = 1;
      band.solve(factor, column);
    }
    for (int i = 0; i < band.n; ++i) // symmetric to the last bit
      for (int j = 0; j < i; ++j) to[std::size_t(j) * band.n + i] = to[std::size_t(i) * band.n + j];
  }

  // Returns the first cell whose pivot is negative, or -1.
  int make(const Kind &kind, double *to, double *work) const {
    if (method_ == Method::tensor) return tensor_inverse(l_.neighbours, A_.common(), kind.n, to);
    if (method_ == Method::factored) return factor(kind, to);
    const int bad = factor(kind, work);
    if (bad < 0) make_dense(kind.band, work, to);
    return bad;
  }

  const Layout &l_;
  const HostMatrix &A_;
  const Options options_;
  Method method_ = Method::factored;
  std::vector<Key> key_;
  std::vector<int> kind_of_; // of each block
  std::vector<Kind> kinds_;
  SineBases bases_;
  host::Buffer<double> inverse_;
  std::size_t work_ = 0;
};

} // namespace petscrrb::blockrelax
