// The factorization on several ranks: DistributedRrb's constructor, refresh() and what it found.
#pragma once

#include "pc/rrb/ranks/distributed_amli.hpp"

namespace petscrrb::rrb {

template <class Backend, class T, class First>
DistributedRrb<Backend, T, First>::DistributedRrb(const Backend &on, Ranks &ranks, const Boxes &boxes, const Options &o,
                                                  int gathered)
    : on_(on), ranks_(ranks), boxes_(boxes), gathered_(gathered), options_(o), extent_(boxes.extent(ranks.rank(), 0)),
      gather_(on, ranks, boxes, gathered), sweeps_(extent_), counts_(4 * gathered) {
  for (int g = 0; g < gathered; ++g) grids_.add(boxes, g, ranks.rank(), o.block);
  Options below = o;
  below.levels -= 2 * gathered;
  below.storage_grids = std::max(0, o.storage_grids - gathered);
  below.amli_grid = 0;
  for (int g = o.levels / 2; g > gathered; --g)
    if (o.amli_at(g)) below.amli_grid = g - gathered;
  options_.storage_grids = std::max(o.storage_grids, gathered);
  tail_ = make_factorization(on, gather_.all(), below, gathered ? precision_of<T> : precision_of<T, First>);
  const index_t n = gather_.all().nodes();
  stencil_.resize(Gather<Backend>::most_fields * n);
  r_.resize(n);
  z_.resize(n);
  index_t parts = 0;
  for (int g = 0; g < gathered; ++g) parts += BoxSweeps<Backend>::parts(grids_[g].extent);
  index_t rest = PartialSum<Backend>::parts({0, n, 0, 1});
  for (int g = 0; g <= gathered; ++g)
    if (o.amli_at(g)) amli_.push_back(std::make_unique<Step>(*this, g));
  for (int k = 0; k < tail_->steps(); ++k) below_.push_back(std::make_unique<StepBelow>(*this, tail_->step(k)));
  index_t kept = 0;
  for (const auto &step : amli_) {
    index_t &most = step->above() ? kept : rest;
    most = std::max(most, step->energy_parts());
  }
  parts += kept;
  if (!gathered) return;
  energy_.reserve(parts);
  total_.reserve(1 + rest);
  wide_b1_ = make_plan(boxes, 0, ranks.rank(), o.block, Exchanged::wide_b1, 0, 1);
  wide_b2_ = make_plan(boxes, 0, ranks.rank(), o.block, Exchanged::wide_b2, 0, 1);
}

// The finest grid's, which is distributed: what is not given stays 0.
template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::take_matrix(const PreparedStencil &s) {
  const StencilOut<Split> m = grids_.finest().matrix_out();
  const auto take = [&](const Split &to, const double *values) {
    if (values) sweeps_.take(on_, extent_, to.q, values, nullptr);
  };
  take(m.X, s.X), take(m.E, s.E), take(m.N, s.N), take(m.NE, s.NE), take(m.NW, s.NW);
}

template <class Backend, class T, class First>
void DistributedRrb<Backend, T, First>::refresh(const PreparedStencil &s, Lumping lumping) {
  v_ = s.v;
  if (gathered_) ranks_.prepare(wide_b1_), ranks_.prepare(wide_b2_);
  for (const auto &step : amli_) step->prepare();
  on_.clear(counts_);
  const auto gathered = natural_stencil(gather_.mine(), gather_.own());
  const auto copy = [&](const double *values, const Strided<1> &to) {
    if (values)
      copy_nodes(on_, natural_order(values, extent_), to, extent_);
    else
      copy_nodes(on_, Zero{}, to, extent_);
  };
  if (!gathered_) {
    copy(s.X, gathered.X), copy(s.E, gathered.E), copy(s.N, gathered.N);
    copy(s.NE, gathered.NE), copy(s.NW, gathered.NW);
  } else
    take_matrix(s);
  for (int g = 0; g < gathered_; ++g) {
    double *keep = nullptr;
    for (const auto &step : amli_)
      if (step->grid() == g) keep = step->matrix_place();
    grids_.with(g, [&](const auto &grid) {
      if (g + 1 < gathered_)
        grid.refresh(on_, ranks_, lumping, grids_[g + 1].matrix_out(), counts_.data() + 4 * g, keep);
      else
        grid.refresh(on_, ranks_, lumping, gathered, counts_.data() + 4 * g, keep);
    });
  }
  gather_.to_all(Gather<Backend>::most_fields, stencil_.data());
  const index_t n = gather_.all().nodes();
  double *p = stencil_.data();
  if (gathered_) {
    const Extent x = boxes_.all(gathered_ - 1).coarser(); // a ring of one point is still one
    const auto field = [&](int i) { return NaturalField<1>{p + i * n, 0, 0, x.x.n, 1, x}; };
    fold_rings(on_, StencilFields<NaturalField<1>, NaturalField<1>>{field(0), field(1), field(2), field(3), field(4)},
               x);
  }
  for (const auto &step : amli_) step->keep_matrix(natural_stencil(stencil_.data(), gather_.all()));
  tail_->refresh({p, p + n, p + 2 * n, p + 3 * n, p + 4 * n, nullptr}, lumping);
}

template <class Backend, class T, class First> Outcome DistributedRrb<Backend, T, First>::outcome() const {
  const Outcome below = tail_->outcome();
  Outcome o = distributed_outcome();
  o.add(below.unlumped, below.null, below.unsupported);
  if (!o.ok || below.ok) return o;
  o.ok = false;
  o.failed_level = below.failed_level + 2 * gathered_;
  o.failed_i = below.failed_i << gathered_;
  o.failed_j = below.failed_j << gathered_;
  return o;
}

// The first failure by levels, classes, rows and columns, as one rank would find it.
template <class Backend, class T, class First> Outcome DistributedRrb<Backend, T, First>::distributed_outcome() const {
  constexpr std::size_t counted = 3, told = counted + 3; // then the first failure: class of a grid, row, column
  const NodeCounts *n = on_.read(counts_);
  std::vector<double> mine(told, 0.0);
  mine[counted] = 4 * gathered_;
  for (int i = 4 * gathered_ - 1; i >= 0; --i) {
    mine[0] += double(n[i].unlumped);
    mine[1] += double(n[i].null);
    mine[2] += double(n[i].unsupported);
    if (!n[i].failed) continue;
    mine[counted] = i;
    mine[counted + 1] = double(n[i].first_failed >> 32);
    mine[counted + 2] = double(n[i].first_failed % (index_t(1) << 32));
  }
  const std::vector<double> all = ranks_.gather_numbers(mine);
  const double *first = &all[counted];
  Outcome o;
  for (std::size_t p = 0; p < all.size(); p += told) {
    o.add(index_t(all[p]), index_t(all[p + 1]), index_t(all[p + 2]));
    const double *failure = &all[p + counted];
    if (std::lexicographical_compare(failure, &all[p] + told, first, first + told - counted)) first = failure;
  }
  if (first[0] < 4 * gathered_) o.fail(int(first[0]), index_t(first[2]), index_t(first[1]));
  return o;
}

template <class Backend, class T, class First> std::size_t DistributedRrb<Backend, T, First>::bytes() const {
  std::size_t n = grids_.bytes() + tail_->bytes() + gather_.bytes() + sweeps_.bytes() + energy_.bytes() +
                  total_.bytes() + stencil_.bytes() + r_.bytes() + z_.bytes();
  for (const auto &step : amli_) n += step->bytes();
  return n;
}

template <class Backend>
std::unique_ptr<FactorizationOnRanks> make_distributed(const Backend &on, Ranks &ranks, const Boxes &boxes,
                                                       const Options &o, int gathered, Precision precision) {
  if (precision == Precision::in_single)
    return std::make_unique<DistributedRrb<Backend, float>>(on, ranks, boxes, o, gathered);
  if (precision == Precision::mixed && o.storage_grids)
    return std::make_unique<DistributedRrb<Backend, float, double>>(on, ranks, boxes, o, gathered);
  return std::make_unique<DistributedRrb<Backend, double>>(on, ranks, boxes, o, gathered);
}

} // namespace petscrrb::rrb
