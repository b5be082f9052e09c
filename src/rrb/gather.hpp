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

// From what the ranks sent one after the other, each its fields and then some numbers, to fields of the whole grid in natural
// order: at (p, i), the p-th node of field i, and at (rank, fields), the numbers of a rank.
struct PlaceGathered {
  const double *from;
  const index_t *start; // of each rank's nodes among those of all; one more for the end
  const int *rank;      // who has the p-th node of all,
  const int *place;     // and which of its own that is
  index_t nodes, fields, numbers;
  double *to, *shares;

  PETSCRRB_HD void operator()(index_t p, index_t i) const {
    if (i < fields) {
      const index_t r = rank[p];
      to[i * nodes + p] = from[begin(r) + i * (start[r + 1] - start[r]) + place[p]];
    } else
      for (index_t j = 0; j < numbers; ++j) shares[p * numbers + j] = from[begin(p + 1) - numbers + j];
  }

private:
  PETSCRRB_HD index_t begin(index_t r) const { return fields * start[r] + numbers * r; }
};

template <class Backend> class Gather {
public:
  static constexpr int most_fields = 5, most_shares = 8;

  Gather(const Backend &on, Ranks &ranks, const Boxes &boxes, int grid)
      : on_(on), ranks_(ranks), own_(boxes.extent(ranks.rank(), grid)), all_(boxes.all(grid)),
        mine_(most_fields * own_.nodes() + most_shares),
        received_(most_fields * all_.nodes() + most_shares * ranks.count()) {
    std::vector<index_t> start{0};
    std::vector<int> place(all_.nodes()), owner(all_.nodes());
    for (int rank = 0; rank < ranks.count(); ++rank) {
      const Extent x = boxes.extent(rank, grid);
      n_.push_back(x.nodes());
      start.push_back(start.back() + x.nodes());
      int i = 0;
      for (index_t b = x.y.lo; b < x.y.hi; ++b)
        for (index_t a = x.x.lo; a < x.x.hi; ++a) {
          owner[b * all_.x.n + a] = rank;
          place[b * all_.x.n + a] = i++;
        }
    }
    Backend::assign(start_, start), Backend::assign(place_, place), Backend::assign(rank_, owner);
  }

  const Extent &own() const { return own_; }
  const Extent &all() const { return all_; }
  double *mine() const { return mine_.data(); } // own nodes' fields in natural order, to be filled before bring()

  // to: the same of all nodes. Behind its fields a rank may send a few numbers more, which go to `shares`, rank by rank.
  void bring(int fields, double *to, int numbers = 0, double *shares = nullptr) const {
    std::vector<index_t> n;
    for (const index_t nodes : n_) n.push_back(fields * nodes + numbers);
    ranks_.gather(mine_.data(), n, received_.data());
    const PlaceGathered put{received_.data(), start_.data(), rank_.data(), place_.data(), all_.nodes(),
                            fields,           numbers,       to,           shares};
    on_.for_each({0, all_.nodes(), 0, fields}, put);
    if (numbers) on_.for_each({0, ranks_.count(), fields, fields + 1}, put);
  }
  std::size_t bytes() const {
    return mine_.bytes() + received_.bytes() + start_.bytes() + place_.bytes() + rank_.bytes();
  }

private:
  const Backend &on_;
  Ranks &ranks_;
  Extent own_, all_;
  std::vector<index_t> n_; // nodes of each rank
  typename Backend::template Array<double> mine_, received_;
  typename Backend::template Array<index_t> start_;
  typename Backend::template Array<int> place_, rank_;
};

} // namespace petscrrb::rrb
