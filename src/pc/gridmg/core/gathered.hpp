// A grid that every rank has, though each has computed a box of it.
#pragma once

#include "pc/gridmg/core/halo.hpp"
#include "pc/gridmg/core/read.hpp"

namespace petscrrb::gridmg {

// One of a few numbers to its place.
template <class T> struct Spread {
  const double *from;
  const index_t *places;
  T *to;

  PETSCRRB_HD void operator()(index_t i, index_t, index_t) const { to[places[i]] = T(from[i]); }
};
// The points of a box, out of the grid.
template <class T> struct TakeBox {
  Field<T> from, to;
  index_t first[3];

  PETSCRRB_HD void operator()(index_t i, index_t j, index_t k) const {
    to(i, j, k) = from(i + first[0], j + first[1], k + first[2]);
  }
};

template <class Backend> class Gathered {
  template <class V> using Array = typename Backend::template Array<V>;

public:
  // Each rank does this by itself.
  Gathered(const Backend &on, rrb::Ranks &ranks, const Cuts &cuts) : on_(on), ranks_(ranks), cuts_(cuts) {
    const Layout layout(cuts.whole().n);
    std::vector<index_t> places;
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const Sizes n = cuts.sizes(rank);
      const index_t x = cuts.first(rank, 0), y = cuts.first(rank, 1), z = cuts.first(rank, 2);
      each_point(n, [&](const Point &p) { places.push_back(layout.place(x + p.a[0], y + p.a[1], z + p.a[2])); });
      counts_.push_back(n[0] * n[1] * n[2]);
    }
    for (int q = 0; q < 3; ++q) first_[q] = cuts.first(ranks.rank(), q);
    box_ = cuts.box(ranks.rank()).all();
    places_.assign(places);
    mine_.resize(std::size_t(box_.size()));
    all_.resize(places.size());
  }

  const Cuts &cuts() const { return cuts_; }
  // To the whole grid on all ranks. Collective.
  template <class V> void gather(const Field<V> &box, const Field<V> &whole) const {
    on_.for_each_point(box_, Store<V>{box, mine_.data(), nullptr, 1.0, box_.n[0], box_.n[1]});
    ranks_.gather(mine_.data(), counts_, all_.data());
    on_.for_each_point({{index_t(places_.size()), 1, 1}}, Spread<V>{all_.data(), places_.data(), whole.p});
  }
  // This rank's part of it.
  template <class V> void take_box(const Field<V> &whole, const Field<V> &box) const {
    on_.for_each_point(box_, TakeBox<V>{whole, box, {first_[0], first_[1], first_[2]}});
  }
  double bytes() const { return double(places_.bytes() + mine_.bytes() + all_.bytes()); }

private:
  const Backend &on_;
  rrb::Ranks &ranks_;
  const Cuts cuts_;
  Range3 box_;
  index_t first_[3];
  std::vector<index_t> counts_;
  Array<index_t> places_;
  Array<double> mine_, all_;
};

} // namespace petscrrb::gridmg
