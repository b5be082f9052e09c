// RRB with red nodes chosen by support: the application.
#pragma once

#include "pc/rrb/graph/graph_rrb.hpp"

namespace petscrrb::rrb {

// AMLI's at one level, whose nodes and later ones it repeats.
template <class Backend, class T> class GraphRrb<Backend, T>::Step final : public AmliStep {
public:
  Step(GraphRrb &of, int level, node_t nodes)
      : of_(of), on_(of.on_), level_(level), n_(nodes), polynomial_(ListAsBox::rows(nodes)) {
    r.resize(nodes);
  }

  int grid() const override { return level_; }
  AmliReport amli() const override { return {index_t(n_), 1, polynomial_.lambda_max(), polynomial_.used()}; }
  void keep_right_hand_side(double *) override {} // down() has put it into r, too
  void second_right_hand_side(double *) override {
    const SharedSweeps *shared = of_.shared_before(level_);
    const node_t first = of_.first_[level_];
    double *const y = of_.s_.data(); // q_ is of an estimate above, which applies this step
    if (shared) shared->bring_for_product(level_, x());
    const GraphPolynomial next(matrix(), r.data(), x(), polynomial_.c0(), polynomial_.c1(), y);
    of_.each_range(shared, level_, of_.grids(), [&](NodeRange part) {
      NodeSums::each(on_, part.size(), couplings(), next.from(part.begin - first));
    });
    of_.each_range(shared, level_, of_.grids(), [&](NodeRange part) {
      on_.copy(x() + (part.begin - first), y + (part.begin - first), part.size());
    });
  }
  void start_estimate() override {
    of_.alone_ = true;
    double *s = of_.s_.data();
    Loops::each(on_, n_, GraphStart<KeptGraph>{matrix(), of_.point_.data() + of_.first_[level_], of_.extent_.x.n, s});
    NodeSums::each(on_, n_, couplings(), GraphProduct(matrix(), s, r.data()));
  }
  void put_residual() override { on_.copy(x(), r.data(), n_); }
  void estimate_step(int j) override {
    double *s = of_.s_.data();
    const auto times_x = [&](const double *y) { return AtEntry<ProductOf>{{x(), y}, n_}; };
    NodeSums::each(on_, n_, couplings(), GraphProduct(matrix(), x(), s));
    const EstimateStep step = polynomial_.step(on_, j, ListAsBox::box(n_), times_x(r.data()), times_x(s), [](int) {});
    Loops::each(on_, n_, GraphResidual{s, of_.q_.data(), r.data(), step});
  }
  bool finish_estimate(int steps) override {
    const bool finished = polynomial_.finish(
        on_, steps, [&](double bound) { return of_.shared_ ? of_.shared_->number_of_first_rank(bound) : bound; });
    of_.alone_ = !finished;
    return finished;
  }
  std::size_t bytes() const { return bytes_of(split, rows, w, e, r, polynomial_); }

  Array<node_t> split;     // of each node, where its couplings with nodes of this level and later ones begin in lower_
  RowArrays<Backend> rows; // the level's graph
  Array<double> w, e, r;

private:
  KeptGraph matrix() const { return {rows.rows(), w.data(), e.data()}; }
  double couplings() const { return rows.on_average(); }
  double *x() const { return of_.x_.data() + of_.first_[level_]; }

  GraphRrb &of_;
  const Backend &on_;
  int level_;
  node_t n_;
  AmliPolynomial<Backend> polynomial_;
};

template <class Backend, class T>
bool GraphRrb<Backend, T>::share(Ranks &ranks, const std::vector<index_t> &cuts, index_t gather_size) {
  int l = below(0) <= gather_size ? 0 : grids();
  for (auto step = steps_.rbegin(); l && step != steps_.rend(); ++step)
    if (below((*step)->grid()) <= gather_size) l = (*step)->grid();
  if (l == 0) return false;
  Array<index_t> at;
  Array<node_t> owner;
  Backend::assign(at, cuts), owner.resize(below(0));
  Loops::each(on_, below(0), OwnerOf{point_.data(), at.data(), ranks.count(), owner.data()});
  SharedFactor f{first_, on_.to_host(owner.data(), owner.size()), {}, {}};
  f.upper = crossings(on_, upper_rows_.rows(), first_[l], owner.data());
  for (const auto &step : steps_)
    if (const int k = step->grid(); k < l)
      f.amli[k] = crossings(on_, step->rows.rows(), below(k), owner.data() + first_[k]);
  shared_ = std::make_unique<SharedSweeps>(ranks, l, f);
  return true;
}

template <class Backend, class T>
void GraphRrb<Backend, T>::down(int from, int to, const double *r, double *, Part part) {
  double *const x = x_.data();
  const SharedSweeps *const shared = shared_before(from);
  if (from == 0)
    each_range(shared, 0, grids(), [&](NodeRange own) {
      Loops::each(on_, own.size(),
                  Load{point_.data() + own.begin, r, part != Part::right ? v_ : nullptr, x + own.begin});
    });
  if (part == Part::right && shared) shared->bring_rest(x);
  if (part == Part::right || from == grids())
    on_.copy(coarse_r_.data(), coarse_z(), below(grids()));
  else if (from == to) // where AMLI's first step is
    on_.copy(step_at(to)->r.data(), x + first_[to], below(to));
  if (part == Part::right || from == to) return;
  // A sweep that ends at level 1 is followed by one from there. Where S1 has its own vector, that has all of level 0 then; else the next one takes it.
  if constexpr (std::is_same_v<T, double>)
    if (from == 0 && to == 1 && black_ && !forward_[0].copy)
      return take_from_earlier(1, grids(), {black_->lower, below(1), black_->on_average(below(1)), nullptr});
  const bool from_whole = from == 0 || black_ || step_at(from);
  for (int l = from + from_whole; l <= to; ++l)
    if (l < to || l == grids() || step_at(l))
      take_from_earlier(l, step_at(l) ? grids() : l, from == 1 && black_ ? below_first_[l - 2] : forward_[l - 1]);
}

// Of levels l to `last`.
template <class Backend, class T> void GraphRrb<Backend, T>::take_from_earlier(int l, int last, const Taken &taken) {
  double *const x = x_.data(), *const of_level = x + first_[l];
  const SharedSweeps *const shared = shared_before(l - 1);
  const bool gathers = shared && l == shared->whole();
  double *const copy = gathers ? nullptr : taken.copy;
  if (shared) shared->bring_down(l - 1, x);
  each_range(shared, l, last, [&](NodeRange part) {
    const node_t i = part.begin - first_[l];
    NodeSums::each(on_, part.size(), taken.on_average,
                   Forward<T>{taken.couplings.from(i), x, of_level + i, copy ? copy + i : nullptr});
  });
  if (!gathers) return;
  shared->bring_rest(x);
  if (taken.copy) on_.copy(taken.copy, of_level, taken.n);
}

template <class Backend, class T>
void GraphRrb<Backend, T>::up(int from, int to, const double *, double *z, Part part, Energy) {
  const double *v = part != Part::left ? v_ : nullptr;
  for (int l = from - 1; l >= to; --l) {
    const SharedSweeps *const shared = shared_before(l);
    each_range(shared, l, l, [&](NodeRange own) {
      const node_t *const start = upper_rows_.start.data() + own.begin;
      NodeSums::each(on_, own.size(), couplings(l),
                     Backward<T>{{start, start + (part != Part::left), upper_rows_.column.data(), upper_.data()},
                                 inverse_.data(),
                                 x_.data(),
                                 to == 0 ? point_.data() : nullptr,
                                 z,
                                 v,
                                 own.begin,
                                 part == Part::whole ? Scaling::full : Scaling::root});
    });
    if (shared) shared->bring_up(l, x_.data());
  }
  if (to > 0) return;
  each_range(shared_before(0), from, grids(), [&](NodeRange own) {
    Loops::each(on_, own.size(), StoreSolution{x_.data(), point_.data(), z, v, own.begin});
  });
}

template <class Backend>
std::unique_ptr<Factorization> make_on_graph(const Backend &on, const Extent &x, const Options &o, bool single,
                                             const PreparedStencil &s, Lumping lumping) {
  if (single) return std::make_unique<GraphRrb<Backend, float>>(on, x, o, s, lumping);
  return std::make_unique<GraphRrb<Backend, double>>(on, x, o, s, lumping);
}

} // namespace petscrrb::rrb
