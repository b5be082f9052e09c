// The grid that every rank has, and all below it.
#pragma once

#include "pc/gridmg/core/cycle.hpp"

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

template <class Backend, class T> class Gathered {
  template <class V> using Array = typename Backend::template Array<V>;

public:
  // Of the grid with these cuts, which is the coarsest one of a Multigrid on boxes. Each rank does this by itself.
  Gathered(Backend &on, rrb::Ranks &ranks, const Cuts &cuts, const Options &o)
      : on_(on), ranks_(ranks), cuts_(cuts), box_(cuts.sizes(ranks.rank())), cycle_(on, cuts.whole(), o) {
    const Layout layout(cuts.whole().n);
    std::vector<index_t> places;
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const Sizes n = cuts.sizes(rank);
      for (index_t k = 0; k < n[2]; ++k)
        for (index_t j = 0; j < n[1]; ++j)
          for (index_t i = 0; i < n[0]; ++i)
            places.push_back(layout.place(cuts.first(rank, 0) + i, cuts.first(rank, 1) + j, cuts.first(rank, 2) + k));
      counts_.push_back(n[0] * n[1] * n[2]);
    }
    for (int q = 0; q < 3; ++q) first_[q] = cuts.first(ranks.rank(), q);
    places_.assign(places);
    mine_.resize(std::size_t(counts_[std::size_t(ranks.rank())]));
    all_.resize(places.size());
  }

  // A: of the box
  void gather(const Matrix &A) const {
    const Matrix to = cycle_.grids().finest();
    for (int q = 0; q < 3; ++q) gather(A.w[q], to.w[q]);
    gather(A.e, to.e);
  }
  const Cuts &cuts() const { return cuts_; }
  Cycle<Backend, T> &cycle() { return cycle_; }
  const Cycle<Backend, T> &cycle() const { return cycle_; }

  // From b to x, of the box.
  void solve(const Field<T> &b, const Field<T> &x) {
    const auto &finest = *cycle_.grids().levels().front();
    gather(b, finest.b());
    cycle_.run();
    on_.for_each_point({{box_[0], box_[1], box_[2]}}, TakeBox<T>{finest.x(), x, {first_[0], first_[1], first_[2]}});
  }
  double bytes() const { return cycle_.bytes() + double(places_.bytes() + mine_.bytes() + all_.bytes()); }

private:
  template <class V> void gather(const Field<V> &box, const Field<V> &whole) const {
    on_.for_each_point({{box_[0], box_[1], box_[2]}}, Store<V>{box, mine_.data(), nullptr, 1.0, box_[0], box_[1]});
    ranks_.gather(mine_.data(), counts_, all_.data());
    on_.for_each_point({{index_t(places_.size()), 1, 1}}, Spread<V>{all_.data(), places_.data(), whole.p});
  }

  Backend &on_;
  rrb::Ranks &ranks_;
  const Cuts cuts_;
  Sizes box_;
  index_t first_[3];
  std::vector<index_t> counts_;
  Array<index_t> places_;
  Array<double> mine_, all_;
  Cycle<Backend, T> cycle_;
};

} // namespace petscrrb::gridmg
