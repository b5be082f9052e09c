// How the host's loops over the rows of one r1/r2/b1/b2 grid are dealt out to threads: a chunk of rows each.
#pragma once

#include "pc/rrb/host/rows.hpp"

#include <limits>

namespace petscrrb::rrb {

class Chunks {
public:
  static constexpr index_t none = std::numeric_limits<index_t>::min();

  struct Chunk {
    index_t k0, k1;
    int thread;
    const RowScratch *rows;

    double *scratch(int i) const { return rows->row(thread, i); }
  };

  Chunks(const Extent &x, const RowScratch &scratch) : x_(x), scratch_(scratch) {
    for (Class c : {r1, r2, b1, b2}) n_[c] = x.nodes_of(c);
    k0_ = half_down(x.y.lo);
    k1_ = x.empty() ? k0_ : half_down(x.y.hi - 1) + 1;
  }

  // main(chunk) for all rows, once before(chunk) has been done for all of them
  template <class Before, class Main> void run(const Before &before, const Main &main) const {
    const index_t rows = k1_ - k0_;
    if (rows <= 0) return;
    const int threads = x_.nodes() > 4 * host::serial_below ? std::min<index_t>(scratch_.threads(), rows) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      int me = 0, all = 1;
#if defined(_OPENMP)
      me = omp_get_thread_num(), all = omp_get_num_threads();
#endif
      const Chunk c{k0_ + rows * me / all, k0_ + rows * (me + 1) / all, me, &scratch_};
      before(c);
#pragma omp barrier
      main(c);
    }
  }

  index_t first() const { return k0_; }
  index_t rows() const { return k1_ - k0_; }
  // The row below / above in a ring or in the domain, or none.
  index_t below(index_t k) const { return k > k0_ ? k - 1 : (x_.y.wraps() ? k1_ - 1 : none); }
  index_t above(index_t k) const { return k + 1 < k1_ ? k + 1 : (x_.y.wraps() ? k0_ : none); }
  bool owns(Class c, index_t k) const { return k >= n_[c].k0 && k < n_[c].k1 && n_[c].h1 > n_[c].h0; }
  const Range2 &nodes(Class c) const { return n_[c]; }
  // What a row's neighbours read past its ends.
  void border(Class c, double *row) const {
    const bool ring = x_.x.wraps();
    row[n_[c].h0 - 1] = ring ? row[n_[c].h1 - 1] : 0.0;
    row[n_[c].h1] = ring ? row[n_[c].h0] : 0.0;
  }
  void clear(double *row) const { std::fill(row + half_down(x_.x.lo) - 1, row + half_down(x_.x.hi - 1) + 2, 0.0); }

private:
  const Extent &x_;
  const RowScratch &scratch_;
  Range2 n_[4];
  index_t k0_, k1_;
};

} // namespace petscrrb::rrb
