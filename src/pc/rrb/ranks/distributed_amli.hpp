// AMLI's steps on several ranks: on grids that are distributed, on the gathered one, and on those of the tail.
#pragma once

#include "pc/rrb/ranks/distributed.hpp"

namespace petscrrb::rrb {

// What a step on boxes needs of other ranks: what is around the box, and sums of all.
template <class Backend> class BordersOnRanks {
public:
  // gather: for sums; must outlive this
  BordersOnRanks(Ranks &ranks, const Gather<Backend> &gather, const Boxes &boxes, int g, index_t block)
      : ranks_(ranks), gather_(gather), slots_(boxes.extent(ranks.rank(), g), block),
        plan_(make_plan(boxes, g, ranks.rank(), block, Exchanged::all, 0, 1)) {}

  DenseLayout layout() const { return slots_.layout; }
  // x: the four classes of one array, one after the other
  void fill(const Backend &, const Quad<Dense> &x) const {
    ranks_.exchange(plan_, x[r1].p - slots_.layout.place(0, 0));
  }
  void add_up(const Backend &, const Scalars<Backend> &scalars, std::size_t i) const {
    Sums sum;
    sum.add({scalars.at(i), 1}, scalars.data() + i);
    gather_.sums().add(sum);
  }
  void prepare() const { ranks_.prepare(plan_); }

private:
  Ranks &ranks_;
  const Gather<Backend> &gather_;
  Slots slots_;
  Plan plan_;
};

// At the gathered grid or above it.
template <class Backend, class T, class First> class DistributedRrb<Backend, T, First>::Step final : public AmliStep {
public:
  Step(DistributedRrb &of, int g) : of_(of), on_(of.on_), grid_(g) {
    const index_t block = of.options_.block;
    if (g == of.gathered_) {
      const Extent &x = of.gather_.all();
      whole_ = std::make_unique<Amli<Backend>>(x, DenseLayout(x, block));
    } else {
      const BordersOnRanks<Backend> borders(of.ranks_, of.gather_, of.boxes_, g, block);
      above_ = std::make_unique<Amli<Backend, BordersOnRanks<Backend>>>(of.boxes_.extent(of.ranks_.rank(), g),
                                                                        borders.layout(), borders);
    }
  }

  int grid() const override { return grid_; }
  AmliReport amli() const override {
    AmliReport report = above_ ? above_->report() : whole_->report();
    const Extent x = of_.boxes_.all(grid_);
    report.nx = x.x.n, report.ny = x.y.n;
    return report;
  }
  bool above() const { return bool(above_); }
  void prepare() const {
    if (above_) above_->borders().prepare();
  }
  double *matrix_place() const { return above_ ? above_->matrix_place() : nullptr; }
  void keep_matrix(const StencilOut<Strided<1>> &all) const {
    if (whole_) whole_->keep_matrix(on_, all);
  }

  void keep_right_hand_side(double *) override {
    if (above_ && !in_place()) above_->copy(on_, vector(), Split{above_->right_hand_side()});
  }
  void second_right_hand_side(double *) override {
    if (whole_) {
      const Extent &x = of_.gather_.all();
      return whole_->second_right_hand_side(on_, whole_classes(of_.z_.data(), x),
                                            by_classes(natural_order(of_.r_.data(), x)));
    }
    const DistributedArrays<Backend> &before = of_.grids_[grid_ - 1];
    if (in_place()) {
      before.exchange_solution(of_.ranks_, before.solutions());
      return above_->second_right_hand_side(on_, solution(), vector().q);
    }
    above_->copy(on_, before.next_solution(), Split{above_->solution()});
    above_->second_right_hand_side(on_);
    above_->copy(on_, Split{above_->right_hand_side()}, vector());
  }
  void start_estimate() override {
    with_vector([&](auto &amli, const auto &, const auto &) { amli.start_estimate(on_); });
  }
  void put_residual() override {
    with_vector([&](auto &amli, const auto &r, const auto &) { amli.copy(on_, Split{amli.right_hand_side()}, r); });
  }
  void estimate_step(int j) override {
    with_vector([&](auto &amli, const auto &, const auto &z) {
      amli.copy(on_, z, Split{amli.solution()});
      amli.step(on_, j);
    });
  }
  bool finish_estimate(int steps) override {
    return above_ ? above_->finish_estimate(on_, steps) : whole_->finish_estimate(on_, steps);
  }

  Quad<Dense> kept() const { return above_->kept(); }
  void add_energy() const {
    if (above_)
      above_->add_energy(on_, solution(), of_.energy_);
    else
      whole_->add_energy(on_, by_classes(natural_order(of_.z_.data(), of_.gather_.all())), of_.total_);
  }
  index_t energy_parts() const {
    return whole_ ? whole_->energy_parts()
                  : std::max(BoxSweeps<Backend>::kept_parts(of_.grids_[grid_ - 1].extent), above_->energy_parts());
  }
  std::size_t bytes() const { return above_ ? above_->bytes() : whole_->bytes(); }

private:
  // Above, the right-hand side is still where it was after a visit, if the backend keeps it, and with the solution comes what
  // the product needs around it, if no neighbours are beyond the seam of an odd ring.
  bool in_place() const {
    const Extent &x = of_.grids_[grid_ - 1].extent;
    return Backend::on_device && !x.x.odd_ring() && !x.y.odd_ring();
  }
  Split vector() const { return of_.grids_[grid_].vector(); }
  // where the grid before has it
  Quad<Strided<2>> solution() const { return by_classes(of_.grids_[grid_ - 1].next_solution()); }
  // op(amli, right-hand side, solution): the arrays of its grid where the hierarchy has them, by coordinates.
  template <class Op> void with_vector(const Op &op) const {
    const Extent &x = of_.gather_.all();
    if (above_)
      op(*above_, vector(), of_.grids_[grid_ - 1].next_solution());
    else
      op(*whole_, natural_order(of_.r_.data(), x), natural_order(of_.z_.data(), x));
  }

  DistributedRrb &of_;
  const Backend &on_;
  int grid_;
  std::unique_ptr<Amli<Backend>> whole_;                          // at the gathered grid, or
  std::unique_ptr<Amli<Backend, BordersOnRanks<Backend>>> above_; // above it
};

// The tail counts its grids from the gathered one on, and its z is elsewhere.
template <class Backend, class T, class First>
class DistributedRrb<Backend, T, First>::StepBelow final : public AmliStep {
public:
  StepBelow(DistributedRrb &of, AmliStep &step) : of_(of), step_(step) {}

  int grid() const override { return step_.grid() + of_.gathered_; }
  AmliReport amli() const override { return step_.amli(); }
  void keep_right_hand_side(double *z) override { step_.keep_right_hand_side(of_.tail_place(z)); }
  void second_right_hand_side(double *z) override { step_.second_right_hand_side(of_.tail_place(z)); }
  void start_estimate() override { step_.start_estimate(); }
  void put_residual() override { step_.put_residual(); }
  void estimate_step(int j) override { step_.estimate_step(j); }
  bool finish_estimate(int steps) override { return step_.finish_estimate(steps); }

private:
  DistributedRrb &of_;
  AmliStep &step_;
};

template <class Backend, class T, class First>
auto DistributedRrb<Backend, T, First>::amli_above() const -> const Step * {
  for (const auto &step : amli_)
    if (step->above() && step->amli().used) return step.get();
  return nullptr;
}

} // namespace petscrrb::rrb
