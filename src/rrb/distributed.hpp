// RRB-l on several ranks: grids on boxes, then one gather, and below it the factorization of one rank on every rank
// (docs/design_ranks.md).
#pragma once

#include "rrb/distributed_grid.hpp"
#include "rrb/rrb.hpp"

namespace petscrrb::rrb {

// *sum: of terms, in order
struct AddTerms {
  Terms terms;
  double *sum;

  PETSCRRB_HD void operator()(index_t, index_t) const {
    *sum = 0.0;
    for (index_t i = 0; i < terms.count; ++i) *sum += terms.term[i];
  }
};

template <class Backend, class Int, class T> class DistributedRrb {
public:
  using Tail = Factorization<Int>;

  // o: of all levels; storage_grids are those of the tail. gathered: the first grid that all ranks have, 2 gathered <=
  // o.levels. on and ranks must outlive this.
  DistributedRrb(const Backend &on, Ranks &ranks, const Boxes &boxes, const Options &o, int gathered)
      : on_(on), ranks_(ranks), boxes_(boxes), gathered_(gathered), own_(boxes.extent(ranks.rank(), gathered)),
        all_(boxes.all(gathered)), counts_(4 * gathered) {
    for (int g = 0; g < gathered; ++g)
      grids_.push_back(std::make_unique<DistributedGrid<Backend, T>>(boxes, g, ranks.rank(), o.block));
    Options below = o;
    below.levels -= 2 * gathered;
    below.amli_grid = o.amli_grid > gathered ? o.amli_grid - gathered : 0;
    tail_ = make_factorization<Int>(on, all_, below, std::is_same_v<T, float>);
    for (int rank = 0; rank < ranks.count(); ++rank) nodes_.push_back(boxes.extent(rank, gathered).nodes());
    mine_.resize(5 * own_.nodes() + 1);
    received_.resize(5 * all_.nodes() + ranks.count());
    shares_.resize(ranks.count());
    index_t parts = 0;
    for (const auto &grid : grids_) parts += grid->energy_parts();
    energy_.reserve(parts);
    stencil_.resize(5 * all_.nodes());
    r_.resize(all_.nodes());
    z_.resize(all_.nodes());
  }

  Tail &tail() { return *tail_; }
  const double *tail_r() const { return r_.data(); } // in natural order, as tail() takes them
  double *tail_z() const { return z_.data(); }
  // of the rank's box, in natural order
  Extent extent() const { return boxes_.extent(ranks_.rank(), 0); }

  // s: of the rank's own nodes, in natural order
  void refresh(const PreparedStencil &s, Lumping lumping) {
    on_.clear(counts_);
    const double *from[] = {s.X, s.E, s.N, s.NE, s.NW};
    const StencilOut<Split> *to = nullptr;
    const StencilOut<Split> first = grids_.empty() ? StencilOut<Split>{} : grids_[0]->matrix();
    if (!grids_.empty()) to = &first;
    int i = 0;
    for (const Split StencilOut<Split>::*field : {&StencilOut<Split>::X, &StencilOut<Split>::E, &StencilOut<Split>::N,
                                                  &StencilOut<Split>::NE, &StencilOut<Split>::NW}) {
      const double *values = from[i];
      if (to)
        set(to->*field, extent(), values);
      else if (values)
        on_.copy(mine_.data() + i * own_.nodes(), values, own_.nodes());
      else
        set(natural(mine_.data() + i * own_.nodes(), own_), own_, nullptr);
      ++i;
    }
    for (int g = 0; g < gathered_; ++g)
      if (g + 1 < gathered_)
        grids_[g]->factor(on_, ranks_, lumping, grids_[g + 1]->matrix(), counts_.data() + 4 * g);
      else
        grids_[g]->factor(on_, ranks_, lumping, out(), counts_.data() + 4 * g);
    gather(5, stencil_.data(), nullptr);
    fold();
    const index_t n = all_.nodes();
    double *p = stencil_.data();
    tail_->refresh({p, p + n, p + 2 * n, p + 3 * n, p + 4 * n, nullptr}, lumping);
  }

  // From own r in natural order to tail_r(), and from tail_z() to own z.
  void down(const double *r) {
    if (grids_.empty()) on_.copy(mine_.data(), r, own_.nodes());
    if (!grids_.empty()) set(grids_[0]->vector(), extent(), r);
    energy_.start();
    for (int g = 0; g < gathered_; ++g) {
      grids_[g]->down(on_, ranks_);
      grids_[g]->add_energy(on_, energy_);
      const Extent next = boxes_.extent(ranks_.rank(), g + 1);
      const Dense left = grids_[g]->vector().q[b2];
      if (g + 1 < gathered_)
        copy(left, grids_[g + 1]->vector(), next);
      else
        copy(left, natural(mine_.data(), next), next);
    }
    on_.for_each({0, 1, 0, 1}, AddTerms{energy_.terms(), mine_.data() + own_.nodes()});
    gather(1, r_.data(), shares_.data());
  }
  void up(double *z) {
    for (int g = gathered_ - 1; g >= 0; --g) {
      const Extent next = boxes_.extent(ranks_.rank(), g + 1);
      const Dense solution = grids_[g]->vector().q[b2];
      if (g + 1 < gathered_)
        copy(grids_[g + 1]->vector(), solution, next);
      else
        copy(natural(z_.data(), all_), solution, next);
      grids_[g]->up(on_, ranks_);
    }
    if (grids_.empty())
      copy(natural(z_.data(), all_), natural(z, own_), own_);
    else
      copy(grids_[0]->vector(), natural(z, extent()), extent());
  }

  // After down(): r^T M^-1 r is the sum of what each rank adds here and of the product of tail_r() and tail_z().
  const double *shares() const { return shares_.data(); }

  // How the last refresh went, on all ranks; waits for it.
  Outcome outcome() {
    Outcome below = tail_->outcome(), o = distributed_outcome();
    o.unlumped += below.unlumped;
    o.null += below.null;
    if (!o.ok || below.ok) return o;
    o.ok = false;
    o.failed_level = below.failed_level + 2 * gathered_;
    o.failed_i = below.failed_i << gathered_;
    o.failed_j = below.failed_j << gathered_;
    return o;
  }

private:
  // The first failure by levels, classes, rows and columns, as one rank would find it.
  Outcome distributed_outcome() {
    constexpr std::size_t told = 5;
    const NodeCounts *n = on_.read(counts_);
    std::vector<double> mine(told, 0.0);
    mine[2] = 4 * gathered_;
    for (int i = 4 * gathered_ - 1; i >= 0; --i) {
      mine[0] += double(n[i].unlumped);
      mine[1] += double(n[i].null);
      if (n[i].failed)
        mine[2] = i, mine[3] = double(n[i].first_failed >> 32),
        mine[4] = double(n[i].first_failed % (index_t(1) << 32));
    }
    const std::vector<double> all = ranks_.tell(mine);
    std::size_t first = 0;
    Outcome o;
    for (std::size_t p = 0; p < all.size(); p += told) {
      o.unlumped += index_t(all[p]);
      o.null += index_t(all[p + 1]);
      if (std::lexicographical_compare(&all[p + 2], &all[p] + told, &all[first + 2], &all[first] + told)) first = p;
    }
    const int at = int(all[first + 2]), g = at / 4;
    o.ok = at == 4 * gathered_;
    if (o.ok) return o;
    o.failed_level = 2 * g + (at % 4 == b1 ? 2 : 1);
    o.failed_i = (2 * index_t(all[first + 4]) + parity_x(Class(at % 4))) << g;
    o.failed_j = (2 * index_t(all[first + 3]) + parity_y(Class(at % 4))) << g;
    return o;
  }

  template <class From, class To> void copy(const From &from, const To &to, const Extent &x) const {
    on_.for_each({x.x.lo, x.x.hi, x.y.lo, x.y.hi}, CopyNode<From, To>{from, to});
  }
  template <class To> void set(const To &to, const Extent &x, const double *natural_order) const {
    if (natural_order)
      copy(natural(const_cast<double *>(natural_order), x), to, x);
    else
      copy(Zero{}, to, x);
  }
  // a box's array in natural order, by coordinates
  static Strided<1> natural(double *p, const Extent &x) {
    const index_t pitch = x.x.hi - x.x.lo;
    return x.empty() ? Strided<1>{} : Strided<1>{p - (x.y.lo * pitch + x.x.lo), pitch, 1};
  }
  StencilOut<Strided<1>> out() const {
    const auto at = [&](int i) { return natural(mine_.data() + i * own_.nodes(), own_); };
    return {at(0), at(1), at(2), at(3), at(4)};
  }

  // fields of own nodes, one after the other, to the same of all nodes; one number more to each rank's place in last
  void gather(int fields, double *to, double *last) {
    std::vector<index_t> n(nodes_);
    for (index_t &values : n) values = values * fields + (last ? 1 : 0);
    ranks_.gather(mine_.data(), n, received_.data());
    double *from = received_.data();
    for (int rank = 0; rank < ranks_.count(); ++rank) {
      const Extent x = boxes_.extent(rank, gathered_);
      for (int i = 0; i < fields; ++i, from += nodes_[rank])
        if (nodes_[rank]) copy(natural(from, x), natural(to + i * all_.nodes(), all_), x);
      if (last) on_.copy(last + rank, from++, 1);
    }
  }
  // A ring of one point: corners become straight, couplings of a node with itself are none.
  void fold() {
    if (!gathered_) return;
    Extent ring = boxes_.all(gathered_ - 1).coarser();
    const index_t n = all_.nodes();
    double *p = stencil_.data();
    const auto field = [&](int i) { return NaturalField<1>{p + i * n, 0, 0, ring.x.n, 1, ring}; };
    const StencilFields<NaturalField<1>, NaturalField<1>> m{field(0), field(1), field(2), field(3), field(4)};
    const SeamAccess g(m.get(Edge{}), ring);
    using V = std::decay_t<decltype(g.views())>;
    if (ring.x.periodic && ring.x.n == 1) on_.for_each({0, ring.y.n, 0, 1}, FoldX<V>{g});
    if (!ring.y.periodic || ring.y.n > 1) return;
    if (ring.x.n == 1) ring.x.periodic = false;
    const SeamAccess h(m.get(Edge{}), ring);
    on_.for_each({0, ring.x.n, 0, 1}, FoldY<V>{h});
    on_.for_each({0, ring.x.n, 0, 1}, ClearFoldY<V>{h});
  }

  template <class V> using Array = typename Backend::template Array<V>;

  const Backend &on_;
  Ranks &ranks_;
  Boxes boxes_;
  int gathered_;
  Extent own_, all_; // on the gathered grid
  std::vector<std::unique_ptr<DistributedGrid<Backend, T>>> grids_;
  std::unique_ptr<Tail> tail_;
  std::vector<index_t> nodes_; // of each rank, gathered
  Array<double> mine_, received_, stencil_, r_, z_, shares_;
  PartialSum<Backend> energy_;
  Array<NodeCounts> counts_;
};

// The most grids that may be distributed: no ring of theirs has one point only.
inline int most_distributed(const Boxes &boxes, int levels) {
  Extent x = boxes.all(0);
  int g = 0;
  const auto may_stay = [](const Side &s) { return !s.periodic || s.n > 1; };
  for (; g < levels / 2 && may_stay(x.x) && may_stay(x.y); ++g) x = x.coarser();
  return g;
}

} // namespace petscrrb::rrb
