// The inverses of the diagonal blocks on the host. Blocks that are alike share one.
#pragma once

#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blockrelax.hpp"
#include "pc/blockrelax/host/matrix.hpp"
#include "pc/blockrelax/core/method.hpp"

#include <array>

namespace petscrrb::blockrelax {

class HostInverses {
public:
  HostInverses(const Layout &layout, const HostMatrix &matrix, const Options &options)
      : l_(layout), A_(matrix), options_(options), key_(static_cast<std::size_t>(layout.blocks())),
        kind_of_(static_cast<std::size_t>(layout.blocks())) {}

  // Of the matrix as it is now. Returns the first row of a block that is not positive definite, or no_row.
  index_t refresh(host::Scratch &);
  // r becomes A_bb^-1 r; work: as many doubles as work() says.
  void solve(index_t b, double *r, double *work) const;

  std::size_t work() const { return work_; }
  index_t kinds() const { return static_cast<index_t>(kinds_.size()); }
  const char *used() const { return name_of(method_); }
  double bytes() const;

private:
  using Hash = std::array<std::uint64_t, 2>;
  struct Key {
    Hash hash;
    index_t block;
  };
  struct Kind {
    index_t block; // the first of its kind
    int n[3], cells, width;
    std::size_t at; // where its inverse lies, or nowhere
  };
  static constexpr std::size_t nowhere = ~std::size_t(0);

  Hash hash(index_t b) const;
  void find_kinds();
  Kind kind_of(index_t b) const;
  void place();
  std::size_t size(const Kind &) const;
  int factor(const Kind &, double *to) const;
  int make(const Kind &, double *to, double *work) const;
  void make_dense(const Band &, const double *factor, double *to) const;

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
