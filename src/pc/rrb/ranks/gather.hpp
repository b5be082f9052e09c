// The grid that every rank has all of: what each rank has in its box, from all ranks to all.
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "comm/ranks.hpp"
#include "pc/rrb/ranks/boxes.hpp"

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

// Such an array by classes.
inline Quad<Strided<2>> by_classes(const Strided<1> &a) {
  return NaturalField<2>{a.p, 0, 0, a.row, 1, {}}.get(Inner{});
}

// A class's nodes in such an array of a whole grid: around its rings, 0 beyond its other sides.
struct WholeClass {
  const double *p;
  index_t nx, ny;
  bool ring_x, ring_y;
  Class c;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    const index_t a = around(2 * h + parity_x(c), nx, ring_x), b = around(2 * k + parity_y(c), ny, ring_y);
    return a >= 0 && a < nx && b >= 0 && b < ny ? p[b * nx + a] : 0.0;
  }

private:
  PETSCRRB_HD static index_t around(index_t i, index_t n, bool ring) {
    return !ring ? i : i + (i < 0 ? n : 0) - (i >= n ? n : 0);
  }
};
inline Quad<WholeClass> whole_classes(const double *p, const Extent &x) {
  Quad<WholeClass> q;
  for (const Class c : {r1, r2, b1, b2}) q.c[c] = {p, x.x.n, x.y.n, x.x.periodic, x.y.periodic, c};
  return q;
}

// What ranks sent one after the other, each its fields and then its numbers.
struct Received {
  const double *from;
  const index_t *start; // of each rank's nodes among those of all; one more for the end
  index_t ranks, fields, numbers;

  // the i-th node of all ranks
  PETSCRRB_HD double node(index_t i, index_t field) const {
    index_t r = 0, end = ranks; // r: the last rank that begins at i or before
    while (end - r > 1) {
      const index_t middle = (r + end) / 2;
      (start[middle] <= i ? r : end) = middle;
    }
    return from[begin(r) + field * (start[r + 1] - start[r]) + i - start[r]];
  }
  PETSCRRB_HD double number(index_t rank, index_t i) const { return from[begin(rank + 1) - numbers + i]; }

private:
  PETSCRRB_HD index_t begin(index_t r) const { return fields * start[r] + numbers * r; }
};

// To fields of the whole grid.
struct PlaceNodes {
  Received from;
  const int *place; // of each node in the order of ranks
  index_t nodes;
  double *to;

  PETSCRRB_HD void operator()(index_t i, index_t field) const { to[field * nodes + place[i]] = from.node(i, field); }
};
struct AddNumbers {
  Received from;
  Sums sums;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    double sum = 0.0;
    for (index_t r = 0; r < from.ranks; ++r) sum += from.number(r, i);
    *sums.to[i] = sum;
  }
};

// Sums that all ranks have to add go with it.
template <class Backend> class Gather {
public:
  static constexpr int most_fields = 5;

  Gather(const Backend &on, Ranks &ranks, const Boxes &boxes, int grid)
      : on_(on), ranks_(ranks), own_(boxes.extent(ranks.rank(), grid)), all_(boxes.all(grid)), sums_(on, ranks),
        mine_(most_fields * own_.nodes() + Sums::most),
        received_(most_fields * all_.nodes() + Sums::most * ranks.count()) {
    std::vector<index_t> start{0};
    std::vector<int> place;
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const Extent x = boxes.extent(rank, grid);
      n_.push_back(x.nodes());
      start.push_back(start.back() + x.nodes());
      if (x.empty()) continue;
      for (index_t b = x.y.lo; b < x.y.hi; ++b)
        for (index_t a = x.x.lo; a < x.x.hi; ++a) place.push_back(int(b * all_.x.n + a));
    }
    sent_.resize(n_.size());
    Backend::assign(start_, start), Backend::assign(place_, place);
  }

  const Extent &own() const { return own_; }
  const Extent &all() const { return all_; }
  double *mine() const { return mine_.data(); } // own nodes' fields in natural order, to be filled before to_all()

  // to: the same of all nodes
  void to_all(int fields, double *to, const Sums &sums = {}) const {
    if (fields == 1 && ranks_.gather_and_add(mine(), n_, place_.data(), to, sums)) return;
    const Received received = send(fields, sums);
    on_.for_each({0, all_.nodes(), 0, fields}, PlaceNodes{received, place_.data(), all_.nodes(), to});
  }
  const RankSums<Backend> &sums() const { return sums_; } // alone
  std::size_t bytes() const {
    return mine_.bytes() + received_.bytes() + start_.bytes() + place_.bytes() + sums_.bytes();
  }

private:
  Received send(int fields, const Sums &sums) const {
    for (std::size_t rank = 0; rank < n_.size(); ++rank) sent_[rank] = fields * n_[rank] + sums.count;
    if (sums.count) PartialSum<Backend>::put(on_, sums, mine() + fields * own_.nodes());
    ranks_.gather(mine(), sent_, received_.data());
    const Received received{received_.data(), start_.data(), index_t(n_.size()), fields, sums.count};
    if (sums.count) on_.for_each({0, sums.count, 0, 1}, AddNumbers{received, sums});
    return received;
  }

  const Backend &on_;
  Ranks &ranks_;
  Extent own_, all_;
  RankSums<Backend> sums_;
  std::vector<index_t> n_;            // nodes of each rank
  mutable std::vector<index_t> sent_; // numbers of each rank: room, so that what all ranks are in allocates nothing
  typename Backend::template Array<double> mine_, received_;
  typename Backend::template Array<index_t> start_;
  typename Backend::template Array<int> place_;
};

} // namespace petscrrb::rrb
