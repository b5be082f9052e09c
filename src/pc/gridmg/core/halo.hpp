// What is around a rank's box: one point of each neighbour on all sides, which a field has in its border.
#pragma once

#include "comm/ranks.hpp"
#include "pc/gridmg/core/cuts.hpp"
#include "stencil/facts.hpp"

#include <functional>
#include <memory>

namespace petscrrb::gridmg {

// The 26 directions in which a box has neighbours; those of its faces lead in one direction.
struct Side {
  int by[3];

  static constexpr int count = 27; // with the box itself
  static Side number(int i) { return {{i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1}}; }
  int directions() const { return (by[0] != 0) + (by[1] != 0) + (by[2] != 0); }
};

constexpr index_t all_colours = -1;

// Which rank has the points that are on a side of a box; each side's have one owner.
class Sides {
public:
  explicit Sides(const Cuts &cuts) : cuts_(cuts), owner_(std::size_t(cuts.count()) * Side::count, -1) {
    for (int rank = 0; rank < cuts.count(); ++rank)
      for (int i = 0; i < Side::count; ++i) owner_[std::size_t(rank) * Side::count + i] = find(rank, Side::number(i));
  }
  // -1: there are none
  int owner(int rank, int side) const { return owner_[std::size_t(rank) * Side::count + side]; }
  // visit(i, j, k) for a side's points of a colour in order, counted from the first point of the box of the rank `from`: the one whose
  // side it is, or their owner. Of one colour where boxes begin at even points.
  template <class Visit>
  void each_point(int rank, const Side &side, index_t colour, int from, const Visit &visit) const {
    index_t begin[3], end[3];
    const Sizes n = cuts_.sizes(rank);
    for (int q = 0; q < 3; ++q) {
      begin[q] = begin_of(side, n, q);
      if (from != rank && side.by[q]) begin[q] = around(q, cuts_.first(rank, q) + begin[q]) - cuts_.first(from, q);
      end[q] = begin[q] + (side.by[q] ? 1 : n[q]);
    }
    for (index_t k = begin[2]; k < end[2]; ++k)
      for (index_t j = begin[1]; j < end[1]; ++j)
        for (index_t i = begin[0]; i < end[0]; ++i)
          if (colour == all_colours || ((i + j + k) & 1) == colour) visit(i, j, k);
  }
  index_t points(int rank, const Side &side, index_t colour) const {
    index_t count = 1, first = 0;
    const Sizes n = cuts_.sizes(rank);
    for (int q = 0; q < 3; ++q) count *= side.by[q] ? 1 : n[q], first += begin_of(side, n, q);
    if (colour == all_colours) return count;
    return (count + ((first & 1) == colour)) / 2; // the first point's colour has one more of an odd number
  }

private:
  static index_t begin_of(const Side &side, const Sizes &n, int q) {
    return side.by[q] < 0 ? -1 : side.by[q] > 0 ? n[q] : 0;
  }
  index_t around(int q, index_t i) const {
    const index_t n = cuts_.at[q].back();
    return (i + n) % n;
  }
  int find(int rank, const Side &side) const {
    const Shape x = cuts_.box(rank);
    auto part = cuts_.parts_of(rank);
    if (!x.points() || !side.directions()) return -1;
    for (int q = 0; q < 3; ++q) {
      if (!side.by[q]) continue;
      if (!(side.by[q] < 0 ? x.more_before : x.more_after)[q]) return -1;
      part[q] = cuts_.part_with(q, around(q, cuts_.first(rank, q) + (side.by[q] < 0 ? -1 : x.n[q])));
    }
    return cuts_.rank_of(part);
  }

  const Cuts cuts_;
  std::vector<int> owner_;
};

template <class T> struct ValueAt {
  const T *field;

  PETSCRRB_HD T operator()(index_t place) const { return field[place]; }
};
template <class Value, int N> struct Pack {
  Value value[N];
  const index_t *places;
  double *to;

  PETSCRRB_HD void operator()(index_t i, index_t, index_t) const {
    const index_t place = places[i];
    PETSCRRB_UNROLL
    for (int n = 0; n < N; ++n) to[N * i + n] = double(value[n](place));
  }
};
template <class T, int N> struct Unpack {
  T *field[N];
  const index_t *places;
  const double *from;

  PETSCRRB_HD void operator()(index_t i, index_t, index_t) const {
    const index_t place = places[i];
    PETSCRRB_UNROLL
    for (int n = 0; n < N; ++n) field[n][place] = T(from[N * i + n]);
  }
};

// An exchange of one layout's fields, of all points or those of one colour; of so many fields at a time, a point's side by side. Values travel in double precision, packed: of this rank for each that gets some, in the order of
// ranks and of sides, then what comes.
template <class Backend> class Halo {
  template <class V> using Array = typename Backend::template Array<V>;

public:
  // Sides that lead in at most so many directions: 1 for faces, 3 for all. Each rank does this by itself.
  Halo(const Sides &sides, int rank, int ranks, const Layout &layout, int directions, index_t colour, int fields) {
    std::vector<index_t> send, fill;
    const auto put = [&](rrb::Places &to, index_t point) {
      for (int n = 0; n < fields; ++n) to.push_back(fields * point + n);
    };
    const auto place = [&](std::vector<index_t> &to) {
      return [&](index_t i, index_t j, index_t k) { to.push_back(layout.place(i, j, k)); };
    };
    const auto each_side = [&](int of, int owner, const auto &visit) {
      for (int i = 0; i < Side::count; ++i)
        if (Side::number(i).directions() <= directions && sides.owner(of, i) == owner) visit(Side::number(i));
    };
    for (int other = 0; other < ranks; ++other) {
      rrb::Plan::Peer peer{other, {}, {}, {}};
      index_t first = index_t(send.size());
      each_side(other, rank, [&](const Side &s) { sides.each_point(other, s, colour, rank, place(send)); });
      for (; first < index_t(send.size()); ++first) put(peer.send, first);
      first = index_t(fill.size());
      each_side(rank, other, [&](const Side &s) { sides.each_point(rank, s, colour, rank, place(fill)); });
      if (first < index_t(fill.size())) {
        index_t there = 0; // where what is for this rank begins in the other one's
        for (int before = 0; before < rank; ++before)
          each_side(before, other, [&](const Side &s) { there += sides.points(before, s, colour); });
        for (; first < index_t(fill.size()); ++first) put(peer.fill, first), put(peer.from, there++);
      }
      if (!peer.send.empty() || !peer.fill.empty()) plan_.peers.push_back(std::move(peer));
    }
    for (auto &peer : plan_.peers) peer.fill.move(fields * index_t(send.size()));
    sent_ = index_t(send.size()), filled_ = index_t(fill.size());
    send.insert(send.end(), fill.begin(), fill.end());
    places_.assign(send);
    packed_.resize(send.size() * std::size_t(fields));
  }

  void prepare(rrb::Ranks &ranks) const { ranks.prepare(plan_); }
  // Of as many fields as it was made for.
  template <class T, int N> void fill(const Backend &on, rrb::Ranks &ranks, const Field<T> (&f)[N]) const {
    ValueAt<T> value[N];
    for (int n = 0; n < N; ++n) value[n].field = f[n].p;
    exchange<T, N>(on, ranks, f, value);
  }
  // Of one; value(place): what others get of a rank's own point, whatever the field has there.
  template <class T, class Value>
  void fill(const Backend &on, rrb::Ranks &ranks, const Field<T> &f, const Value &value) const {
    exchange<T, 1>(on, ranks, {f}, {value});
  }
  std::size_t bytes() const { return places_.bytes() + packed_.bytes(); }

private:
  template <class T, int N, class Value>
  void exchange(const Backend &on, rrb::Ranks &ranks, const Field<T> (&f)[N], const Value (&value)[N]) const {
    Pack<Value, N> pack{{}, places_.data(), packed_.data()};
    Unpack<T, N> unpack{{}, places_.data() + sent_, packed_.data() + N * sent_};
    for (int n = 0; n < N; ++n) pack.value[n] = value[n], unpack.field[n] = f[n].p;
    on.for_each_point({{sent_, sent_ ? 1 : 0, 1}}, pack);
    ranks.exchange(plan_, packed_.data());
    on.for_each_point({{filled_, filled_ ? 1 : 0, 1}}, unpack);
  }

  rrb::Plan plan_;
  index_t sent_ = 0, filled_ = 0;
  Array<index_t> places_;
  Array<double> packed_;
};

// Who shares a grid, and what they do together.
struct Dealt {
  rrb::Ranks *ranks = nullptr; // NULL: it is one rank's
  Cuts cuts;
  index_t gather_size = 0; // of several ranks: a grid of as many points or fewer is on every one
  // Calls what each rank does by itself: where it throws on one, all throw.
  std::function<void(const std::function<void()> &)> together = [](const auto &f) { f(); };
  // Makes what each rank has found of its rows what all have found.
  std::function<void(RowFacts &)> agree = [](RowFacts &) {};

  int rank() const { return ranks ? ranks->rank() : 0; }
};

// The halos of all grids that there have been: the plans of exchanges stay where they are.
template <class Backend> class Halos {
public:
  // Sides that lead in at most so many directions. Collective.
  const Halo<Backend> &of(const Dealt &dealt, const Cuts &cuts, int directions, index_t colour = all_colours,
                          int fields = 1) {
    for (const auto &h : halos_)
      if (h.directions == directions && h.colour == colour && h.fields == fields && h.cuts == cuts) return *h.halo;
    dealt.together([&] {
      const int rank = dealt.ranks->rank();
      auto halo = std::make_unique<Halo<Backend>>(Sides(cuts), rank, cuts.count(), Layout(cuts.sizes(rank)), directions,
                                                  colour, fields);
      halos_.push_back({cuts, directions, colour, fields, std::move(halo)});
    });
    halos_.back().halo->prepare(*dealt.ranks);
    return *halos_.back().halo;
  }
  std::size_t bytes() const {
    std::size_t n = 0;
    for (const auto &h : halos_) n += h.halo->bytes();
    return n;
  }

private:
  struct Known {
    Cuts cuts;
    int directions;
    index_t colour;
    int fields;
    std::unique_ptr<Halo<Backend>> halo;
  };
  std::vector<Known> halos_;
};

} // namespace petscrrb::gridmg
