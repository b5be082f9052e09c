// RRB with red nodes chosen by support: the factor. Its application is in graph_apply.hpp.
#pragma once

#include "pc/rrb/graph/black_graph.hpp"
#include "pc/rrb/graph/choose_levels.hpp"
#include "pc/rrb/graph/shared_sweeps.hpp"
#include "pc/rrb/graph/sweeps.hpp"

#include <memory>
#include <optional>

namespace petscrrb::rrb {

// Nodes are numbered level by level, and within a level as its graph is; the last block comes last. T: what the couplings of the factor
// are stored in.
template <class Backend, class T> class GraphRrb final : public Factorization {
  using Loops = GraphLoops<Backend>;
  using NodeSums = CouplingSums<Backend>;
  template <class V> using Array = typename Backend::template Array<V>;

  class Step; // of AMLI

public:
  // Chooses by the numbers of s, and is factored by them. o.levels: at most; o.amli_grid: not 0 if AMLI's step is wanted. Both become what
  // there is.
  GraphRrb(const Backend &on, const Extent &extent, const Options &o, const PreparedStencil &s, Lumping lumping)
      : on_(on), extent_(extent), options_(o), levels_(on, extent) {
    levels_.choose(s, lumping, o);
    v_ = s.v, of_rows_ = s.rows.start;
    options_.storage_grids = 0;
    options_.levels = levels_.count();
    first_.assign(1, 0);
    for (int l = 0; l < grids(); ++l) first_.push_back(first_.back() + levels_.level(l).reds);
    first_.push_back(first_.back() + levels_.level(grids()).rows.n());
    if (o.amli_grid) add_steps(!s.rows.start);
    options_.amli_grid = steps_.empty() ? 0 : steps_.front()->grid();
    make_order();
    make_factor();
    make_forward(nullptr, forward_);
    if (black_) make_forward(black_->lower.end, below_first_);
    make_last_block();
    make_amli();
    levels_.end_choosing(
        [&](int l, const Backend &on, const Graph &g, const double *inverse) { take(l, on, g, inverse); });
    for (int l = 1; l <= grids(); ++l) fill_lower(on_, l);
    const Outdated now = levels_.outdated();
    failing_at_first_ = now.reds + now.slides;
  }

  bool share(Ranks &ranks, const std::vector<index_t> &cuts, index_t gather_size) override;
  void prepare_exchanges() override { shared_->prepare(); }

  void refresh(const PreparedStencil &s, Lumping lumping) override {
    v_ = s.v;
    levels_.refresh(s, lumping, [&](int l, const Backend &on, const Graph &g, const double *inverse) {
      take(l, on, g, inverse);
      if (l < grids()) fill_lower(beside_.after(on), l + 1);
    });
    beside_.join(on_);
  }
  bool keeps_matrix() const override { return of_rows_; }
  Outcome outcome() const override {
    Outcome o = levels_.outcome();
    o.failed_i = o.failed_j = -1;
    if (o.ok) o.unsupported = outdated();
    return o;
  }

  const BlackGraph *black_graph() const override { return black_ ? &*black_ : nullptr; }
  void down(int from, int to, const double *r, double *z, Part part) override;
  void up(int from, int to, const double *r, double *z, Part part, Energy energy) override;
  int grids() const override { return levels_.count(); }
  const double *coarse_r() const override { return coarse_r_.data(); }
  double *coarse_z() override { return x_.data() + first_[grids()]; }

  int steps() const override { return int(steps_.size()); }
  AmliStep &step(int k) override { return *steps_[k]; }
  double *work(int = 0) const override { return nullptr; } // all is in x_
  bool has_own_vectors(int l) const override { return l < grids() && options_.amli_grid != 1; }

  LastBlock &last_block() override { return block_; }
  const double *last_values() const override { return Backend::on_device ? a_.data() : block_.a.data(); }
  const double *last_excess() const override { return Backend::on_device ? last_excess_.data() : block_.excess.data(); }
  const Extent &extent() const override { return extent_; }
  const Options &options() const override { return options_; }
  Precision precision() const override { return precision_of<T>; }
  std::size_t bytes() const override {
    std::size_t n = bytes_of(levels_, point_, upper_rows_, lower_rows_, source_, upper_, lower_, inverse_, x_,
                             coarse_r_, block_, s_, q_, a_, last_excess_, split_, diagonal_);
    for (const auto &o : order_) n += o.bytes();
    for (const auto &s : steps_) n += s->bytes();
    return n;
  }
  GraphReport graph() const override {
    GraphReport report;
    for (int l = 0; l <= grids(); ++l) {
      const auto &level = levels_.level(l);
      report.plain += level.plain && l < grids();
      report.couplings.push_back(couplings(l));
    }
    report.factor = below(0) ? double(upper_.size()) / below(0) : 0.0;
    return report;
  }
  std::vector<index_t> unknowns_by_level() const override {
    std::vector<index_t> n;
    for (int l = 0; l <= grids(); ++l) n.push_back(below(l));
    return n;
  }

private:
  static constexpr int amli_from_levels = 6;
  static constexpr node_t least_of_step = 4; // last blocks, off grids
  static constexpr int tolerated = 256;      // one of so many nodes may fail tests that held when the choice was made

  // Some tests fail at once: what supports a coupling may turn red later.
  index_t outdated() const {
    const Outdated now = levels_.outdated();
    return now.couplings + std::max<index_t>(now.reds + now.slides - failing_at_first_ - below(0) / tolerated, 0);
  }

  node_t below(int l) const { return first_.back() - first_[l]; } // nodes of level l and later ones
  double couplings(int l) const { return levels_.level(l).rows.on_average(); }
  // What ranks share before a level; NULL where each does all.
  const SharedSweeps *shared_before(int l) const {
    return shared_ && !alone_ && l < shared_->whole() ? shared_.get() : nullptr;
  }
  // f(range) of the nodes of levels `from` to `to`, as far as they are computed here.
  template <class F> void each_range(const SharedSweeps *shared, int from, int to, const F &f) const {
    if (!shared) return f(NodeRange{first_[from], first_[to + 1]});
    for (int l = from; l <= to; ++l)
      if (const NodeRange own = shared->own(l); own.size()) f(own);
  }
  Step *step_at(int l) const {
    for (const auto &s : steps_)
      if (s->grid() == l) return s.get();
    return nullptr;
  }
  struct Taken { // of a level's nodes, what they take from earlier ones
    Couplings<T> couplings;
    node_t n;
    double on_average;
    double *copy;
  };
  void take_from_earlier(int l, int last, const Taken &);

  // On a grid one, at the first level after the first one to start from at most 1/16 of the unknowns, or a tenth more: grid 2 of odd sides
  // has more. Else one at each 1/8, or a tenth more, but none just above the last block: what is left of a graph in space couples ever more nodes,
  // and V-cycles alone do not do.
  void add_steps(bool on_grid) {
    if (on_grid && grids() < amli_from_levels) return;
    double most = 1.1 / (on_grid ? 16 : 8) * below(0);
    for (int l = 1; l < grids() - (on_grid ? 0 : 1); ++l) {
      if (below(l) > most) continue;
      if (!on_grid && below(l) < least_of_step * below(grids())) return;
      steps_.push_back(std::make_unique<Step>(*this, l, below(l)));
      if (on_grid) return;
      most = 1.1 / 8 * below(l);
    }
  }
  void make_order() {
    order_.resize(grids() + 1);
    for (int l = grids(); l >= 0; --l) {
      const auto &level = levels_.level(l);
      order_[l].resize(level.rows.n());
      if (l == grids())
        Loops::each(on_, level.rows.n(), CountFrom{first_[l], order_[l].data()});
      else
        Loops::each(on_, level.rows.n(), Order{level.number.data(), order_[l + 1].data(), first_[l], order_[l].data()});
    }
    point_.resize(below(0));
    Loops::each(on_, below(0), PlacePoint{order_[0].data(), levels_.level(0).point.data(), point_.data()});
  }
  void make_factor() {
    const node_t n = below(0), reds = first_[grids()];
    upper_rows_.start.resize(reds + 1), lower_rows_.start.resize(n + 1);
    for (int l = 0; l < grids(); ++l) {
      const auto &level = levels_.level(l);
      Loops::each(on_, level.rows.n(),
                  CountFactor{level.rows.rows(), level.colour.data(), order_[l].data(), upper_rows_.start.data(),
                              lower_rows_.start.data()});
    }
    const node_t couplings = levels_.choosing().offsets(upper_rows_.start.data(), reds, any_number);
    const bool exact = first_is_exact();
    levels_.choosing().offsets(lower_rows_.start.data(), n, couplings);
    upper_rows_.column.resize(couplings), lower_rows_.column.resize(couplings), source_.resize(couplings);
    upper_.resize(couplings), lower_.resize(couplings);
    inverse_.resize(reds), x_.resize(n), coarse_r_.resize(below(grids()));
    Array<node_t> end;
    end.resize(n);
    Loops::each(on_, n, CopyNumber{lower_rows_.start.data(), end.data()});
    for (int l = 0; l < grids(); ++l) {
      const auto &level = levels_.level(l);
      const Rows rows = level.rows.rows();
      const signed char *colour = level.colour.data();
      const node_t *order = order_[l].data();
      if (Step *step = step_at(l)) {
        step->split.resize(below(l));
        Loops::each(on_, below(l), CopyNumber{end.data() + first_[l], step->split.data()});
      }
      Loops::each(on_, level.rows.n(),
                  ListUpper{rows, colour, order, upper_rows_.start.data(), upper_rows_.column.data()});
      Loops::each(on_, level.rows.n(),
                  ListLower{rows, colour, order, upper_rows_.start.data(), upper_rows_.column.data(), end.data(),
                            lower_rows_.column.data(), source_.data()});
      if (l == 0 && exact) {
        split_.resize(below(1)), diagonal_.resize(below(1));
        Loops::each(on_, below(1), CopyNumber{end.data() + first_[1], split_.data()});
      }
    }
    for (node_t first : first_) lower_of_.push_back(on_.to_host(lower_rows_.start.data() + first, 1)[0]);
    if constexpr (std::is_same_v<T, double>)
      if (exact)
        black_ = {first_[1],
                  below(1),
                  levels_.level(0).rows.couplings() / 2,
                  point_.data(),
                  {upper_rows_.start.data(), upper_rows_.start.data() + 1, upper_rows_.column.data(), upper_.data()},
                  {lower_rows_.start.data() + first_[1], split_.data(), lower_rows_.column.data(), lower_.data()},
                  inverse_.data(),
                  diagonal_.data(),
                  x_.data()};
  }
  // Whether each coupling of the matrix is one of a red node with a black one, and stays.
  bool first_is_exact() const {
    if (!std::is_same_v<T, double> || !grids() || levels_.level(0).slid()) return false;
    return 2 * on_.to_host(upper_rows_.start.data() + first_[1], 1)[0] == levels_.level(0).rows.couplings();
  }
  void make_last_block() {
    const auto &rows = levels_.level(grids()).rows;
    const node_t n = rows.n();
    const auto start = on_.to_host(rows.start.data(), n + 1),
               column = on_.to_host(rows.column.data(), rows.couplings());
    block_.ia.assign(1, 0);
    for (node_t p = 0; p < n; ++p) {
      node_t k = start[p];
      for (; k < start[p + 1] && column[k] < p; ++k) block_.ja.push_back(column[k]);
      block_.ja.push_back(p);
      for (; k < start[p + 1]; ++k) block_.ja.push_back(column[k]);
      block_.ia.push_back(PetscInt(block_.ja.size()));
      block_.at.push_back(first_[grids()] + p);
    }
    block_.a.assign(block_.ja.size(), 0.0);
    block_.excess.assign(n, 0.0);
    if (Backend::on_device) a_.resize(block_.a.size()), last_excess_.resize(n);
  }
  void make_amli() {
    for (const auto &step : steps_) {
      const int l = step->grid();
      const Rows rows = levels_.level(l).rows.rows();
      const node_t n = below(l), first = first_[l], *order = order_[l].data();
      step->rows.start.resize(n + 1);
      Loops::each(on_, n, CountKept{rows, order, first, step->rows.start.data()});
      step->rows.column.resize(
          levels_.choosing().offsets(step->rows.start.data(), n, levels_.level(l).rows.couplings()));
      Loops::each(on_, n, ListKept{rows, order, step->rows.start.data(), first, step->rows.column.data()});
      step->w.resize(step->rows.couplings()), step->e.resize(n);
    }
    if (!steps_.empty()) s_.resize(below(options_.amli_grid)), q_.resize(below(options_.amli_grid));
  }
  // Of each level's nodes what they take from earlier ones; of a step's level, and of the last block, that of later nodes at once. Lists of
  // what a node takes from are divided at steps only: what earlier levels give is taken on the way from level 0 or 1.
  // after_first: what is taken from level 0 ends there, for sweeps that begin at level 1; or NULL.
  void make_forward(const node_t *after_first, std::vector<Taken> &forward) {
    const Step *above = nullptr;
    for (int l = after_first ? 2 : 1; l <= grids(); ++l) {
      const Step *const step = step_at(l);
      if (after_first && above) {
        forward.push_back(forward_[l - 1]);
        continue;
      }
      const node_t *const start = lower_rows_.start.data() + first_[l];
      const node_t *const begin = above         ? above->split.data() + (first_[l] - first_[above->grid()])
                                  : after_first ? after_first + (first_[l] - first_[1])
                                                : start;
      const node_t *const end = step ? step->split.data() : start + 1;
      const node_t n = first_[step ? grids() + 1 : l + 1] - first_[l];
      const index_t couplings = levels_.choosing().sum(n, CountTaken{begin, end});
      double *const copy = l == grids() ? coarse_r_.data()
                           : step       ? step->r.data()
                                        : nullptr; // where another one is wanted
      forward.push_back({{begin, end, lower_rows_.column.data(), lower_.data()}, n, double(couplings) / n, copy});
      if (step) above = step;
    }
  }
  // The numbers of a level.
  void take(int l, const Backend &on, const Graph &g, const double *inverse) {
    if (l == grids()) {
      double *a = Backend::on_device ? a_.data() : block_.a.data();
      double *excess = Backend::on_device ? last_excess_.data() : block_.excess.data();
      Loops::each(on, g.n, FillLastBlock{g, a, excess});
      return;
    }
    const node_t *order = order_[l].data();
    if (Step *step = step_at(l))
      Loops::together(on, g.n, couplings(l),
                      FillKept{g, order, step->rows.start.data(), first_[l], step->w.data(), step->e.data()});
    const FillUpper<T> fill{g,
                            levels_.level(l).colour.data(),
                            order,
                            upper_rows_.start.data(),
                            inverse,
                            inverse_.data(),
                            upper_.data(),
                            l == 0 && black_ ? diagonal_.data() : nullptr,
                            first_[1]};
    Loops::together_or_alone(on, g.n, couplings(l), fill);
  }
  // Those of the transpose of level l's nodes, which earlier levels have.
  void fill_lower(const Backend &on, int l) {
    const node_t begin = lower_of_[l], n = lower_of_[l + 1] - begin;
    Loops::each(on, n, TakeFrom{upper_.data(), source_.data() + begin, lower_.data() + begin});
  }

  const Backend &on_;
  Extent extent_;
  Options options_;
  GraphLevels<Backend> levels_;
  std::vector<node_t> first_;                // node of each level, of the last block, and the end
  std::vector<Array<node_t>> order_;         // of the nodes of each level's graph
  Array<node_t> point_;                      // of each node
  RowArrays<Backend> upper_rows_;            // of a red node: its couplings, with nodes of later levels
  RowArrays<Backend> lower_rows_;            // the transpose, in the order of levels
  Array<node_t> source_;                     // of each entry of that, where it stands in the former
  Array<T> upper_, lower_;                   // weight/d
  Array<double> inverse_, x_, coarse_r_;     // 1/d
  std::vector<node_t> lower_of_;             // where that of each level's nodes begins, of the last block, and the end
  typename Backend::Branch beside_;          // where it is filled
  std::vector<Taken> forward_, below_first_; // of levels 1, 2, ...; of levels 2, 3, ... where a sweep begins at level 1
  Array<node_t> split_;    // of each black node, where its couplings with later ones than level 0's begin in lower_
  Array<double> diagonal_; // of these nodes
  std::optional<BlackGraph> black_; // which has both
  LastBlock block_;
  Array<double> a_, last_excess_; // where the backend is no host
  std::vector<std::unique_ptr<Step>> steps_;
  Array<double> s_, q_; // of the step at hand
  const double *v_ = nullptr;
  bool of_rows_ = false; // of a matrix, which a refresh only reads
  index_t failing_at_first_ = 0;
  std::unique_ptr<SharedSweeps> shared_;
  bool alone_ = false; // while AMLI's bounds are estimated: each rank has all vectors
};

} // namespace petscrrb::rrb
