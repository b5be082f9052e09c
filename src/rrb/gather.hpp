// The grid that every rank has all of: what each rank has in its box, from all ranks to all.
#pragma once

#include "rrb/amli.hpp"
#include "rrb/boxes.hpp"
#include "rrb/ranks.hpp"

namespace petscrrb::rrb {

// A box's array in natural order, by coordinates.
inline Strided<1> natural_order(const double *p, const Extent &x) {
  const index_t pitch = x.x.hi - x.x.lo;
  return x.empty() ? Strided<1>{} : Strided<1>{const_cast<double *>(p) - (x.y.lo * pitch + x.x.lo), pitch, 1};
}
// Five fields of such a box, one after the other: excess and weights.
inline StencilOut<Strided<1>> natural_stencil(double *p, const Extent &x) {
  const auto at = [&](int i) { return natural_order(p + i * x.nodes(), x); };
  return {at(0), at(1), at(2), at(3), at(4)};
}

// to = from, or from times v, at each point of a box
template <class From, class To> struct CopyScaled {
  From from;
  To to;
  Strided<1> v;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { to.at(a, b) = from(a, b) * v(a, b); }
};
template <class Backend, class From, class To>
void copy_nodes(const Backend &on, const From &from, const To &to, const Extent &x, const double *v = nullptr) {
  const Range2 nodes{x.x.lo, x.x.hi, x.y.lo, x.y.hi};
  if (v)
    on.for_each(nodes, CopyScaled<From, To>{from, to, natural_order(v, x)});
  else
    on.for_each(nodes, CopyNode<From, To>{from, to});
}

template <class Backend> class Gather {
public:
  static constexpr int most_fields = 5, most_shares = 8;

  Gather(const Backend &on, Ranks &ranks, const Boxes &boxes, int grid)
      : on_(on), ranks_(ranks), all_(boxes.all(grid)),
        mine_(most_fields * boxes.extent(ranks.rank(), grid).nodes() + most_shares),
        received_(most_fields * all_.nodes() + most_shares * ranks.count()) {
    for (int rank = 0; rank < ranks.count(); ++rank) box_.push_back(boxes.extent(rank, grid));
  }

  const Extent &own() const { return box_[ranks_.rank()]; }
  const Extent &all() const { return all_; }
  double *mine() const { return mine_.data(); } // own nodes' fields in natural order, to be filled before bring()

  // to: the same of all nodes. Behind its fields a rank may send a few numbers more, which go to `shares`, rank by rank.
  void bring(int fields, double *to, int numbers = 0, double *shares = nullptr) const {
    std::vector<index_t> n;
    for (const Extent &x : box_) n.push_back(fields * x.nodes() + numbers);
    ranks_.gather(mine_.data(), n, received_.data());
    const double *from = received_.data();
    for (std::size_t rank = 0; rank < box_.size(); ++rank) {
      const Extent &x = box_[rank];
      for (int i = 0; i < fields; ++i, from += x.nodes())
        copy_nodes(on_, natural_order(from, x), natural_order(to + i * all_.nodes(), all_), x);
      if (numbers) on_.copy(shares + rank * numbers, from, numbers);
      from += numbers;
    }
  }
  std::size_t bytes() const { return mine_.bytes() + received_.bytes(); }

private:
  const Backend &on_;
  Ranks &ranks_;
  Extent all_;
  std::vector<Extent> box_; // of each rank
  typename Backend::template Array<double> mine_, received_;
};

} // namespace petscrrb::rrb
