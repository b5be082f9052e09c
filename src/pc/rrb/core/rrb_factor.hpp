// The factorization of all levels: Rrb's constructor and refresh().
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

template <class Backend, class T, class First>
Rrb<Backend, T, First>::Rrb(const Backend &on, const Extent &extent, const Options &o)
    : on_(on), extent_(folded(extent)), options_(o), seams_(extent_, true), sweeps_(extent_) {
  Extent x = extent_;
  for (int g = 0; g < o.storage_grids; ++g) {
    grids_.add(x, DenseLayout(x, o.block), g == 0, o.amli_at(g));
    x = folded(x.coarser());
  }
  tail_ = NaturalTail<Backend, T>(x, o.levels - 2 * o.storage_grids, o.storage_grids > 0);
  builder_ = std::make_unique<LastBlockBuilder<Backend, T>>(tail_, block_);
  counts_.resize(4 * grids() + 2);
  coarse_r_.resize(block_.size());
  coarse_z_.resize(block_.size());
  Backend::assign(at_, block_.at);
  for (int g = 0; g < grids(); ++g)
    if (o.amli_at(g)) amli_.push_back(std::make_unique<Step>(*this, g));
  if (!amli_.empty() && !has_dense()) work_.resize(extent_.nodes());
  if (has_dense()) reserve_energy();
  if (!Backend::on_device) return;
  a_.resize(block_.a.size());
  excess_.resize(block_.excess.size());
}

template <class Backend, class T, class First>
void Rrb<Backend, T, First>::refresh(const PreparedStencil &s, Lumping lumping) {
  lumping_ = lumping;
  v_ = s.v;
  corners_ = s.NE;
  on_.clear(counts_);
  const Extent &x = extent_;
  if (!has_dense()) {
    tail_.load(on_, s);
  } else {
    using Field = NaturalField<2>;
    const auto field = [&](double *a) { return Field{a, x.x.lo, x.y.lo, x.x.hi - x.x.lo, 1, x}; };
    if (s.NE)
      factor_dense(0, StencilFields<Field, Field>{field(s.X), field(s.E), field(s.N), field(s.NE), field(s.NW)});
    else
      factor_dense(0, StencilFields<Field, ZeroField>{field(s.X), field(s.E), field(s.N), {}, {}});
  }
  // While the grids after the finest one are factored, which take a device as long and leave most of it idle.
  if (looks_for_kinds())
    kinds_.look(beside_->after(on_), SchurRows{schur_memory_.data(), grids_.finest().layout().size()},
                &counts_of_kinds()->failed);
  for (int g = has_dense() ? 1 : 0; g < grids(); ++g) {
    const int q = g - options_.storage_grids;
    if (options_.amli_at(g)) step_at(g).keep_matrix();
    if (q < 0)
      factor_dense(g, grids_[g].matrix);
    else
      factor_tail(q, tail_.matrix(q));
  }
  const int q = tail_.last_index();
  double *a = Backend::on_device ? a_.data() : block_.a.data();
  double *excess = Backend::on_device ? excess_.data() : block_.excess.data();
  builder_->fill(on_, tail_.matrix(q), tail_.factor(q), lumping_, seams_, block_, a, excess);
  if (looks_for_kinds()) beside_->join(on_);
}

template <class Backend, class T, class First> void Rrb<Backend, T, First>::want_schur(bool wanted) {
  if constexpr (std::is_same_v<First, double>) {
    const bool makes = wanted && has_dense() && !extent_.x.periodic && !extent_.y.periodic;
    if (makes == schur_.has_value()) return;
    schur_.reset();
    schur_memory_ = {};
    const DenseLayout layout = has_dense() ? grids_.finest().layout() : DenseLayout();
    // A host would look up each value by itself, and gains nothing; nor do smaller grids.
    const bool looks = makes && Backend::on_device && layout.size() >= least_rows_for_kinds_beside;
    (void)kinds_.resize(looks ? layout.size() : 0, SchurRows::count);
    if (looks && !beside_) beside_ = std::make_unique<typename Backend::Branch>();
    if (!makes) return;
    schur_ = {make_schur(layout, schur_memory_), grids_.finest().factor};
    if (looks) schur_->kind = kinds_.kind() + layout.place(0, 0), schur_->values = kinds_.values();
  }
}

template <class Backend, class T, class First>
template <class A>
void Rrb<Backend, T, First>::factor_dense(int g, const A &a) {
  const Extent &x = grids_[g].extent;
  const Steps<Backend> steps(on_, x, lumping_);
  seams_.lump(on_, SeamAccess{a.get(Edge{}), x}, x, lumping_.omega, counts(g) + b2);
  if (g > 0) grids_[g].exchange_matrix(on_);
  grids_.with(g, [&](const auto &d) {
    DenseField left;
    left.q.c[b1] = d.excess_b1();
    const auto all = [&](const auto &next) {
      if constexpr (std::is_same_v<A, StencilFields<NaturalField<2>, ZeroField>> &&
                    std::is_same_v<std::decay_t<decltype(d.factor)>, FactorFields<DenseField>>)
        if (schur_) return steps.all(a, d.factor, left, next, counts(g), SchurOut{schur_->s, counts_of_schur()});
      return steps.all(a, d.factor, left, next, counts(g));
    };
    const auto factor = [&](const auto &next) {
      if (!all(next)) {
        steps.odd(a, d.factor, counts(g));
        d.exchange_factor(on_, r1);
        d.exchange_factor(on_, r2);
        steps.even(a, d.factor, left, counts(g));
        d.exchange_factor(on_, b1);
        steps.coarse(a, d.factor, left, next, counts(g));
      }
      steps.test(a, d.factor, true, counts(g));
      seams_.put_kept(on_, next, x);
    };
    if (g + 1 < options_.storage_grids) {
      factor(grids_[g + 1].matrix_out());
      fold_rings(on_, grids_[g + 1].matrix, x.coarser());
    } else {
      factor(tail_.out_from_above());
      fold_rings(on_, tail_.matrix(0), x.coarser());
    }
  });
}

template <class Backend, class T, class First>
template <class A>
void Rrb<Backend, T, First>::factor_tail(int q, const A &a) {
  const Extent &x = tail_.grid(q);
  const auto f = tail_.factor(q);
  NodeCounts *n = counts(options_.storage_grids + q);
  const Steps<Backend> steps(on_, x, lumping_);
  seams_.lump(on_, SeamAccess{a.get(Edge{}), x}, x, lumping_.omega, n + b2);
  steps.odd(a, f, n);
  steps.test(a, f, tail_.even(q), n);
  if (!tail_.even(q)) return;
  steps.even(a, f, a.X, n);
  steps.coarse(a, f, a.X, tail_.out(q), n);
  seams_.put_kept(on_, tail_.out(q), x);
  fold_rings(on_, tail_.matrix(q + 1), x.coarser());
}

template <class Backend, class T, class First> Outcome Rrb<Backend, T, First>::outcome() const {
  Outcome o;
  const NodeCounts *n = on_.read(counts_);
  for (int i = 0; i < 4 * grids(); ++i) {
    o.add(n[i].unlumped, n[i].null, n[i].unsupported);
    if (n[i].failed && o.ok) o.fail(i, n[i].first_failed % (index_t(1) << 32), n[i].first_failed >> 32);
  }
  o.unscaled = n[4 * grids()].failed;
  o.few_kinds = looks_for_kinds() && !n[4 * grids() + 1].failed;
  return o;
}

template <class Backend, class T, class First> std::size_t Rrb<Backend, T, First>::bytes() const {
  std::size_t n = tail_.bytes() + sweeps_.bytes() + energy_.bytes() + block_.bytes() +
                  (coarse_r_.size() + coarse_z_.size()) * sizeof(double);
  n += grids_.bytes() + schur_memory_.bytes() + kinds_.bytes();
  for (const auto &step : amli_) n += step->on_grid().bytes();
  n += work_.bytes();
  return n;
}

template <class Backend>
std::unique_ptr<Factorization> make_factorization(const Backend &on, const Extent &x, const Options &o,
                                                  Precision precision) {
  if (precision == Precision::in_single) return std::make_unique<Rrb<Backend, float>>(on, x, o);
  if (precision == Precision::mixed && o.storage_grids) return std::make_unique<Rrb<Backend, float, double>>(on, x, o);
  return std::make_unique<Rrb<Backend, double>>(on, x, o);
}

} // namespace petscrrb::rrb
