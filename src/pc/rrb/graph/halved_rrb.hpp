// RRB where one direction couples far more strongly than the other everywhere: that direction is halved, grid by grid, until it does not any
// more, and what is left is a matrix for plain red nodes. All of it is in arrays.
#pragma once

#include "pc/rrb/core/rrb.hpp"
#include "pc/rrb/graph/halving.hpp"
#include "pc/rrb/graph/sweeps.hpp"

#include <memory>
#include <type_traits>

namespace petscrrb::rrb {

// The first `halvings` grids are the halved ones, of one level each; those of the factorization inside follow.
template <class Backend, class T> class HalvedRrb final : public Factorization, public AmliStep {
  using Loops = GraphLoops<Backend>;
  template <class V> using Array = typename Backend::template Array<V>;

public:
  HalvedRrb(const Backend &on, const Extent &extent)
      : on_(on), extent_(extent), polynomial_(ListAsBox::rows(extent.nodes())) {}

  // False where there is nothing to halve, or plain red nodes would not do for what is left; then this is of no use. o as for
  // make_on_graph(). s stays as it is.
  bool choose(const Options &o, const PreparedStencil &s) {
    ChoiceLoops<Backend> asks(on_);
    if (s.NE || asks.any(node_t(extent_.nodes()), HasPositive{s.E, s.N})) return false;
    on_.clear(counts_);
    v_ = s.v;
    while (halvings() < most_halvings && halvings() + 1 < o.levels) {
      HalvedMatrix m;
      if (!find_direction(asks, s, m)) break;
      halves_.emplace_back();
      make(halves_.back(), m.g);
      fill(halvings() - 1, m);
    }
    if (halves_.empty() || !make_inside(o)) return false;
    if (own_amli()) make_amli(s);
    return true;
  }

  void refresh(const PreparedStencil &s, Lumping lumping) override {
    v_ = s.v;
    on_.clear(counts_);
    for (int l = 0; l < halvings(); ++l) {
      const HalvedMatrix m = matrix(s, l);
      Loops::count(on_, m.g.points(), HasBecomeWeak{{m, may_weaken_to, false}}, counts_.data() + l);
      fill(l, m);
      keep(l + 1);
    }
    inside_->refresh(stencil_inside(), lumping);
  }
  Outcome outcome() const override {
    constexpr int tolerated = 256; // one of so many points may be coupled more weakly
    Outcome o = inside_->outcome();
    const NodeCounts *counts = on_.read(counts_);
    o.failed_i = o.failed_j = -1, o.failed_level += o.ok ? 0 : halvings();
    index_t weak = 0;
    for (int l = halvings() - 1; l >= 0; --l) {
      weak += counts[l].unsupported;
      o.unsupported += counts[l].null;
      if (counts[l].failed) o.ok = false, o.failed_level = l + 1;
    }
    if (o.ok) o.unsupported += std::max<index_t>(weak - extent_.nodes() / tolerated, 0);
    return o;
  }

  void down(int from, int to, const double *r, double *z, Part part) override {
    for (int l = from; l < std::min(to, halvings()); ++l) {
      const Half &h = halves_[l];
      Loops::each(on_, h.g.blacks() * h.g.across(),
                  HalveDown<T>{h.g, h.before.data(), h.after.data(), right_hand_side_of(l, r, part),
                               halves_[l].r.data(), part != Part::right});
    }
    if (to > halvings())
      inside_->down(std::max(from - halvings(), 0), to - halvings(), halves_.back().r.data(), inner_z(z), part);
  }
  void up(int from, int to, const double *r, double *z, Part part, Energy) override {
    if (from > halvings())
      inside_->up(from - halvings(), std::max(to - halvings(), 0), halves_.back().r.data(), inner_z(z), part,
                  Energy::no);
    for (int l = std::min(from, halvings()) - 1; l >= to; --l) {
      const Half &h = halves_[l];
      Loops::each(on_, h.g.blacks() * h.g.across(),
                  HalveUp<T>{h.g, h.before.data(), h.after.data(), h.inverse.data(), right_hand_side_of(l, r, part),
                             h.z.data(), l ? halves_[l - 1].z.data() : z, l || part == Part::left ? nullptr : v_,
                             part != Part::left, part == Part::whole ? Scaling::full : Scaling::root});
    }
  }
  int grids() const override { return halvings() + inside_->grids(); }
  const double *coarse_r() const override { return inside_->coarse_r(); }
  double *coarse_z() override { return inside_->coarse_z(); }

  int steps() const override { return options_.amli_grid ? 1 : 0; }
  AmliStep &step(int) override { return *this; }
  int grid() const override { return options_.amli_grid; }
  AmliReport amli() const override {
    if (own_amli()) return {kept(), 1, polynomial_.lambda_max(), polynomial_.used()};
    AmliReport report = inside_->amli();
    report.nx *= report.ny, report.ny = 1; // points, as on a graph
    return report;
  }
  void keep_right_hand_side(double *z) override {
    if (!own_amli()) return inside_->step(0).keep_right_hand_side(inner_z(z));
    on_.copy(r_.data(), kept_r(), kept());
  }
  void second_right_hand_side(double *z) override {
    if (!own_amli()) return inside_->step(0).second_right_hand_side(inner_z(z));
    Loops::each(on_, kept(),
                HalvedPolynomial{{kept_matrix(), kept_z()}, r_.data(), polynomial_.c0(), polynomial_.c1(), kept_r()});
  }
  void start_estimate() override {
    if (!own_amli()) return inside_->step(0).start_estimate();
    const HalvedProduct A{kept_matrix(), nullptr};
    Loops::each(on_, kept(), GraphStart<HalvedProduct>{A, nullptr, A.m.g.nx, s_.data()});
    Loops::each(on_, kept(), StoreHalvedProduct{{kept_matrix(), s_.data()}, r_.data()});
  }
  void put_residual() override { own_amli() ? on_.copy(kept_r(), r_.data(), kept()) : inside_->step(0).put_residual(); }
  void estimate_step(int j) override {
    if (!own_amli()) return inside_->step(0).estimate_step(j);
    const auto times_z = [&](const Array<double> &y) { return AtEntry<ProductOf>{{kept_z(), y.data()}, kept()}; };
    Loops::each(on_, kept(), StoreHalvedProduct{{kept_matrix(), kept_z()}, s_.data()});
    const EstimateStep step = polynomial_.step(on_, j, ListAsBox::box(kept()), times_z(r_), times_z(s_), [](int) {});
    Loops::each(on_, kept(), GraphResidual{s_.data(), q_.data(), r_.data(), step});
  }
  bool finish_estimate(int steps) override {
    return own_amli() ? polynomial_.finish(on_, steps) : inside_->step(0).finish_estimate(steps);
  }
  double *work(int = 0) const override { return own_amli() ? nullptr : inside_->work(); }
  bool has_own_vectors(int g) const override { return g < grids(); }

  LastBlock &last_block() override { return inside_->last_block(); }
  const double *last_values() const override { return inside_->last_values(); }
  const double *last_excess() const override { return inside_->last_excess(); }
  const Extent &extent() const override { return extent_; }
  const Options &options() const override { return options_; }
  Precision precision() const override { return precision_of<T>; }
  std::size_t bytes() const override {
    std::size_t n = bytes_of(*inside_, counts_, polynomial_, r_, s_, q_);
    for (const auto &a : kept_) n += a.bytes();
    for (const auto &numbers : numbers_)
      for (const auto &a : numbers) n += a.bytes();
    for (const Half &h : halves_) n += bytes_of(h.before, h.after, h.inverse, h.r, h.z);
    return n;
  }
  GraphReport graph() const override {
    GraphReport report;
    for (const Half &h : halves_) report.halvings.push_back(h.g.in_x ? 'x' : 'y');
    return report;
  }
  std::vector<index_t> unknowns_by_level() const override {
    std::vector<index_t> n;
    for (const Half &h : halves_) n.push_back(h.g.points());
    for (const index_t m : inside_->unknowns_by_level()) n.push_back(m);
    return n;
  }

private:
  static constexpr int most_halvings = 30;
  // As strong as this is the direction that is halved at all points, and as the second one at most of them; in later values it may become
  // weaker.
  static constexpr double everywhere = 1.5, mostly = 3.0, may_weaken_to = 1.0;

  struct Half {
    HalvedGrid g;
    Array<T> before, after; // weights/d of the red points
    Array<double> inverse;  // their 1/d
    Array<double> r, z;     // vectors of the next grid
  };

  int halvings() const { return int(halves_.size()); }
  double *inner_z(double *z) { return z && z == inside_->work() ? z : halves_.back().z.data(); }
  Scaled right_hand_side_of(int l, const double *r, Part part) const {
    if (l) return {halves_[l - 1].r.data(), nullptr};
    return {r, part == Part::right ? nullptr : v_};
  }

  Side side(bool x) const { return x ? extent_.x : extent_.y; }
  // after so many halvings
  HalvedGrid grid_after(int l, bool in_x = true) const {
    HalvedGrid g{node_t(extent_.x.n), node_t(extent_.y.n), in_x, side(in_x).periodic, side(!in_x).periodic};
    for (int k = 0; k < l; ++k) (halves_[k].g.in_x ? g.nx : g.ny) = halves_[k].g.blacks();
    return g;
  }
  // Numbers of the grid that halving l begins with.
  HalvedMatrix matrix_of(const PreparedStencil &s, int l, const HalvedGrid &g) {
    const auto &n = numbers_[(l + 1) % 2];
    double *x = l ? n[0].data() : s.X, *east = l ? n[1].data() : s.E, *north = l ? n[2].data() : s.N;
    return {g, x, g.in_x ? east : north, g.in_x ? north : east};
  }
  HalvedMatrix matrix(const PreparedStencil &s, int l) { return matrix_of(s, l, halves_[l].g); }
  PreparedStencil stencil_inside() {
    auto &n = numbers_[(halvings() + 1) % 2];
    return {n[0].data(), n[1].data(), n[2].data(), nullptr, nullptr, nullptr};
  }

  bool find_direction(ChoiceLoops<Backend> &asks, const PreparedStencil &s, HalvedMatrix &m) {
    for (const bool in_x : {true, false}) {
      const HalvedGrid g = grid_after(halvings(), in_x);
      if (g.along() < 4 || (g.ring_a && g.along() % 2)) continue;
      m = matrix_of(s, halvings(), g);
      if (2 * asks.sum(g.points(), IsWeakAlong{m, mostly, true}) < g.points() &&
          !asks.any(g.points(), IsWeakAlong{m, everywhere, false}))
        return true;
    }
    return false;
  }
  void make(Half &h, const HalvedGrid &g) {
    const std::size_t reds = std::size_t(g.reds()) * g.across(), blacks = std::size_t(g.blacks()) * g.across();
    h.g = g;
    h.before.resize(reds), h.after.resize(reds), h.inverse.resize(reds);
    h.r.resize(blacks), h.z.resize(blacks);
    for (auto &a : numbers_[(halvings() + 1) % 2])
      if (a.size() < blacks) a.resize(blacks);
  }
  void fill(int l, const HalvedMatrix &m) {
    Half &h = halves_[l];
    auto &to = numbers_[l % 2];
    double *east = to[1].data(), *north = to[2].data();
    Loops::count(on_, m.g.reds() * m.g.across(), FactorHalf<T>{m, h.inverse.data(), h.before.data(), h.after.data()},
                 counts_.data() + l);
    Loops::each(on_, m.g.blacks() * m.g.across(),
                FillHalf{m, h.inverse.data(), to[0].data(), m.g.in_x ? east : north, m.g.in_x ? north : east});
  }
  bool make_inside(const Options &o) {
    const index_t nx = grid_after(halvings()).nx, ny = grid_after(halvings()).ny;
    const Extent rest{{0, nx, nx, extent_.x.periodic}, {0, ny, ny, extent_.y.periodic}};
    Options inside;
    inside.block = o.block;
    inside.levels = Backend::on_device ? default_device_levels(nx, ny) : default_levels(nx, ny, o.last_unknowns);
    if (o.last_unknowns == 1) inside.levels = max_levels(nx, ny); // -pc_rrb_levels says when to end
    inside.levels = std::min(inside.levels, o.levels - halvings());
    inside.storage_grids =
        Backend::on_device ? inside.levels / 2 : max_storage_grids(nx, ny, inside.block, inside.levels);
    const int amli = o.amli_grid && halvings() + inside.levels >= 5 ? amli_grid(nx, ny, inside.levels) : 0;
    inside.amli_grid = std::max(amli - halvings(), 0);
    inside_ = make_factorization(on_, rest, inside, precision_of<T>);
    inside_->refresh(stencil_inside(), {1.0, false, true, plain_limits});
    options_ = inside_->options();
    options_.storage_grids = 0;
    options_.levels += halvings();
    options_.amli_grid = amli;
    const Outcome now = outcome();
    return now.ok && !now.unsupported;
  }
  // The first one with at most 1/8 of the points, or a tenth more.
  int amli_grid(index_t nx, index_t ny, int levels) const {
    const auto is_small = [&](index_t points) { return double(points) <= 1.1 / 8 * double(extent_.nodes()); };
    for (int l = 1; l < halvings(); ++l)
      if (is_small(halves_[l].g.points())) return l;
    if (is_small(nx * ny)) return halvings();
    for (int g = 1; 2 * g < levels; ++g)
      if (is_small((nx >> g) * (ny >> g))) return halvings() + g;
    return 0;
  }

  // --- AMLI's step where it is on one of the halved grids, or on the one after them ---

  bool own_amli() const { return options_.amli_grid && options_.amli_grid <= halvings(); }
  HalvedGrid kept_grid() const { return grid_after(options_.amli_grid); }
  HalvedMatrix kept_matrix() const { return {kept_grid(), kept_[0].data(), kept_[1].data(), kept_[2].data()}; }
  node_t kept() const { return kept_grid().points(); }
  double *kept_r() const { return halves_[options_.amli_grid - 1].r.data(); }
  double *kept_z() const { return halves_[options_.amli_grid - 1].z.data(); }
  void make_amli(const PreparedStencil &s) {
    for (auto *a : {&kept_[0], &kept_[1], &kept_[2], &r_, &s_, &q_}) a->resize(kept());
    for (int l = 0; l < options_.amli_grid; ++l) fill(l, matrix(s, l));
    keep(options_.amli_grid);
  }
  // Of the grid after so many halvings, before it is overwritten.
  void keep(int l) {
    if (!own_amli() || l != options_.amli_grid) return;
    for (int k = 0; k < 3; ++k) on_.copy(kept_[k].data(), numbers_[(l + 1) % 2][k].data(), kept());
  }

  const Backend &on_;
  Extent extent_;
  Options options_;
  std::vector<Half> halves_;
  Array<double> numbers_[2][3]; // excess, weights east and north, of the grids by turns
  Array<NodeCounts> counts_{most_halvings};
  std::unique_ptr<Factorization> inside_;
  Array<double> kept_[3], r_, s_, q_; // AMLI's grid: excess, weights east and north; and vectors there
  AmliPolynomial<Backend> polynomial_;
  const double *v_ = nullptr; // M^-1 = V (factor of V A V)^-1 V; NULL: V = I
};

template <class Backend>
std::unique_ptr<Factorization> make_by_support(const Backend &on, const Extent &x, const Options &o, bool single,
                                               const PreparedStencil &s, Lumping lumping) {
  const auto halved = [&](auto made) -> std::unique_ptr<Factorization> {
    if (!s.rows.start && lumping.omega == 1.0 && made->choose(o, s)) return made;
    return nullptr;
  };
  auto made = single ? halved(std::make_unique<HalvedRrb<Backend, float>>(on, x))
                     : halved(std::make_unique<HalvedRrb<Backend, double>>(on, x));
  return made ? std::move(made) : make_on_graph(on, x, o, single, s, lumping);
}

} // namespace petscrrb::rrb
