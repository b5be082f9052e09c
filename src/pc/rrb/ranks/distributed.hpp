// RRB-l on several ranks: grids on boxes, then one gather, and below it the factorization of one rank on every rank
// (docs/design_ranks.md).
#pragma once

#include "pc/rrb/ranks/black_ranks.hpp"
#include "pc/rrb/ranks/distributed_grid.hpp"
#include "pc/rrb/ranks/gather.hpp"
#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

// What make_distributed() makes.
class FactorizationOnRanks : public Factorization, public BlackRanks {};

// T: what the factor is stored in; First: on the finest grid. Everything is collective but bytes() and what only tells of boxes.
template <class Backend, class T, class First = T> class DistributedRrb final : public FactorizationOnRanks {
public:
  // gathered: the first grid that all ranks have, 2 gathered <= o.levels. on and ranks must outlive this. Local: says
  // nothing to other ranks.
  DistributedRrb(const Backend &on, Ranks &ranks, const Boxes &boxes, const Options &o, int gathered);

  // s: of the box, in natural order
  void refresh(const PreparedStencil &s, Lumping lumping) override;
  Outcome outcome() const override;

  // r and z: of the box, in natural order
  void down(int from, int to, const double *r, double *z, Part part) override;
  void up(int from, int to, const double *r, double *z, Part part, Energy energy) override;
  int grids() const override { return gathered_ + tail_->grids(); }
  const double *coarse_r() const override { return tail_->coarse_r(); }
  double *coarse_z() override { return tail_->coarse_z(); }

  int steps() const override { return int(amli_.size()) + tail_->steps(); }
  AmliStep &step(int k) override {
    if (is_below(k)) return *below_[k - int(amli_.size())];
    return *amli_[k];
  }
  double *work(int k = 0) const override { return is_below(k) ? tail_->work(k - int(amli_.size())) : z_.data(); }

  LastBlock &last_block() override { return tail_->last_block(); }
  const double *last_values() const override { return tail_->last_values(); }
  const double *last_excess() const override { return tail_->last_excess(); }

  // g: up to the gathered grid. An application from grid 1 on, which is one with energy, begins with add_up_below().
  NextGrid right_hand_side(int g) const override { return g < 1 || g > gathered_ ? NextGrid() : next_grid(g - 1); }
  NextGrid solution(int g) const override {
    if (g < 1 || g > gathered_) return {};
    return {{}, grids_[g - 1].next_solution(), false, next_box(g - 1)};
  }
  Terms energy() const override { return total_.terms(); }

  // Where the finest grid is not the gathered one.
  BlackLevel black_level() const override {
    if (!gathered_) return {};
    return {grids_.finest(), right_hand_side(1), solution(1), BlackRanks::around};
  }
  StencilOut<Split> rows(const PreparedStencil &s) override {
    take_matrix(s);
    grids_.finest().exchange_rows(ranks_);
    return grids_.finest().matrix_out();
  }
  Quad<Dense> residual(const double *r, const double *v) override {
    sweeps_.take(on_, extent_, grids_.finest().right_hand_side(), r, v);
    grids_.finest().exchange_right_hand_side(ranks_);
    return grids_.finest().right_hand_side();
  }
  void exchange_solution() override {
    if (gathered_ == 1)
      take_gathered(0);
    else
      grids_.finest().exchange_solution(ranks_, wide_b2_);
  }
  // A plan is for the four classes of a field, whose third one is b1.
  void exchange_b1(const Dense &a, const Sums &sums) override {
    const DenseLayout &layout = grids_.finest().layout();
    exchange(wide_b1_, a.p - layout.place(0, 0) - b1 * layout.size(), sums);
  }
  void add_up(const Sums &sums) override { gather_.sums().add(sums); }
  void add_up_below(const Sums &sums) override {
    sums_ = sums;
    energy_.start();
  }

  const Extent &extent() const override { return extent_; } // the rank's box
  const Options &options() const override { return options_; }
  Precision precision() const override { return gathered_ ? precision_of<T, First> : tail_->precision(); }
  std::size_t bytes() const override;
  std::vector<index_t> unknowns_by_level() const override { return black_nodes(boxes_.all(0), options_.levels); }

private:
  template <class V> using Array = typename Backend::template Array<V>;

  Extent next_box(int g) const { return boxes_.extent(ranks_.rank(), g + 1); }
  // where the right-hand side of grid g goes on
  NextGrid next_grid(int g) const {
    if (g + 1 < gathered_) return {grids_[g + 1].right_hand_side(), {}, true, next_box(g)};
    return {{}, natural_order(gather_.mine(), next_box(g)), false, next_box(g)};
  }
  class Step;      // of AMLI
  class StepBelow; // one of the tail's
  bool is_below(int k) const { return k >= int(amli_.size()); }
  // The tail's z: ours, but for AMLI's estimate in a tail in natural order, which has a vector of its own for that.
  double *tail_place(double *z) const { return z && z == tail_->work() ? z : z_.data(); }
  // The first step in use above the gathered grid, which its second visit brings another right-hand side; or NULL.
  const Step *amli_above() const;
  void take_matrix(const PreparedStencil &);
  void take_gathered(int g) const {
    grids_[g].take_solution(on_, natural_order(z_.data(), gather_.all()), gather_.all());
  }
  // Those that an application adds up, and the energy of own red nodes.
  Sums take_sums() {
    Sums sums = std::exchange(sums_, {});
    total_.start();
    sums.add(energy_.terms(), total_.take(1));
    return sums;
  }
  void add_rest_of_energy();
  // sums: those that are added meanwhile, or none
  void exchange(const Plan &plan, double *array, const Sums &sums) {
    if (sums.count && ranks_.exchange_and_add(plan, array, sums)) return;
    if (sums.count) add_up(sums);
    ranks_.exchange(plan, array);
  }
  Outcome distributed_outcome() const;

  const Backend &on_;
  Ranks &ranks_;
  Boxes boxes_;
  int gathered_;
  Options options_;
  Extent extent_;
  Gather<Backend> gather_;
  template <class V> using Grid = DistributedGrid<Backend, V>;
  Grids<Grid, DistributedArrays<Backend>, First, T> grids_; // above the gathered one
  BoxSweeps<Backend> sweeps_;
  std::unique_ptr<Factorization> tail_;
  Array<double> stencil_, r_, z_; // of the gathered grid
  Plan wide_b1_, wide_b2_;
  Sums sums_;                          // which an application adds up, with the energy; none: or it has
  PartialSum<Backend> energy_, total_; // of own red nodes; of all, and what there is below
  Array<NodeCounts> counts_;
  std::vector<std::unique_ptr<Step>> amli_; // down to the gathered grid; later ones are the tail's,
  std::vector<std::unique_ptr<StepBelow>> below_;
  const double *v_ = nullptr; // M^-1 = V (factor of V A V)^-1 V; NULL: V = I
};

// The most grids that may be distributed: no ring of theirs has one point only.
inline int most_distributed(const Boxes &boxes, int levels) {
  Extent x = boxes.all(0);
  int g = 0;
  const auto may_stay = [](const Side &s) { return !s.periodic || s.n > 1; };
  for (; g < levels / 2 && may_stay(x.x) && may_stay(x.y); ++g) x = x.coarser();
  return g;
}

// The first grid with at most `size` points, or the last one that may be gathered.
inline int gathered_grid(const Boxes &boxes, int levels, index_t size) {
  const int most = most_distributed(boxes, levels);
  int g = 0;
  while (g < most && boxes.all(g).nodes() > size) ++g;
  return g;
}

// As make_factorization() in rrb.hpp.
template <class Backend>
std::unique_ptr<FactorizationOnRanks> make_distributed(const Backend &on, Ranks &, const Boxes &, const Options &,
                                                       int gathered, Precision);

} // namespace petscrrb::rrb
