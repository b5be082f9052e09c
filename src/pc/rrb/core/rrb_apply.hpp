// The application z = M^-1 r and its two halves: the sweeps of all levels in order, AMLI in their midst, the energy.
#pragma once

#include "pc/rrb/core/rrb.hpp"

namespace petscrrb::rrb {

// At every node of a class of a grid in natural order: op(Inner{}) where all neighbours exist, op(Edge{}) on the rim.
template <class Backend, class Op> void at_nodes(const Backend &on, Class c, const Extent &x, const Op &op) {
  on.for_each(x.nodes_of(c), x.interior_of(c, 1), op(Inner{}), op(Edge{}));
}

// From the next grid's solution and what the forward sweep left: z (first grid) or the grid's own vector.
template <class Backend, class T, class First>
void Rrb<Backend, T, First>::backward_dense(int g, const double *r, double *z, Part part) {
  const NaturalVectors vectors = g == 0 ? natural(r, z, part) : NaturalVectors{};
  const Scaling scaling = part == Part::whole ? Scaling::full : Scaling::root;
  choose(part != Part::left, [&](auto coupled) {
    grids_.with(g, [&](const auto &d) {
      sweeps_.template backward<decltype(coupled)::value>(on_, d, solution(g + 1), vectors, scaling);
    });
  });
}

template <class Backend, class T, class First> void Rrb<Backend, T, First>::forward_tail(int q, double *x) {
  const auto f = tail_.factor(q);
  const auto in = tail_.field(x, q);
  const auto out = in.get(Inner{});
  at_nodes(on_, b1, tail_.grid(q), [&](auto w) { return ForwardB1{f.get(w), in.get(w), out[b1]}; });
  at_nodes(on_, b2, tail_.grid(q), [&](auto w) {
    return ForwardB2{f.get(w), in.get(w), in.get(w)[b1], out[b2], tail_.even(q)};
  });
}

template <class Backend, class T, class First>
void Rrb<Backend, T, First>::backward_tail(int q, double *x, bool couple, Scaling scaling) {
  const Extent &e = tail_.grid(q);
  const auto in = tail_.field(x, q);
  const auto out = in.get(Inner{});
  choose(couple, [&](auto coupled) {
    const auto f = [&](auto w) { return with_couplings<decltype(coupled)::value>(tail_.factor(q).get(w)); };
    const auto at = [&](auto w, Class c) { return in.get(w)[c]; };
    if (tail_.even(q))
      at_nodes(on_, b1, e, [&](auto w) { return BackwardB1{f(w), at(w, b1), at(w, b2), out[b1], scaling}; });
    at_nodes(on_, r1, e, [&](auto w) { return BackwardR1{f(w), at(w, r1), at(w, b1), at(w, b2), out[r1], scaling}; });
    at_nodes(on_, r2, e, [&](auto w) { return BackwardR2{f(w), at(w, r2), at(w, b1), at(w, b2), out[r2], scaling}; });
  });
}

struct Scale {
  double *x;
  const double *v;

  PETSCRRB_HD void operator()(index_t i, index_t) const { x[i] *= v[i]; }
};
template <bool to_tail> struct CoarseCopy {
  double *coarse, *tail;
  const index_t *at;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    if (to_tail)
      tail[at[i]] = coarse[i];
    else
      coarse[i] = tail[at[i]];
  }
};

template <class Backend, class T, class First>
void Rrb<Backend, T, First>::down(int from, int to, const double *r, double *z, Part part) {
  const int dense = options_.storage_grids;
  const Range2 nodes{0, extent_.nodes(), 0, 1}, unknowns{0, block_.size(), 0, 1};
  double *x = dense ? tail_.vector() : z;
  if (from == 0 && !dense) {
    on_.copy(z, r, extent_.nodes());
    if (natural(r, z, part).v_r) on_.for_each(nodes, Scale{z, v_});
  }
  // from r (first grid) or the grid's own vector: b1 after the sweep, b2 to the next grid
  for (int g = from; g < std::min(to, dense); ++g)
    choose(part != Part::right, [&](auto coupled) {
      grids_.with(g, [&](const auto &d) {
        sweeps_.template forward<decltype(coupled)::value>(on_, d, right_hand_side(g + 1),
                                                           g == 0 ? natural(r, nullptr, part) : NaturalVectors{});
      });
    });
  for (int g = std::max(from, dense); g < to && part != Part::right; ++g) forward_tail(g - dense, x);
  if (to == grids() && !in_place()) on_.for_each(unknowns, CoarseCopy<false>{coarse_r_.data(), x, at_.data()});
}

template <class Backend, class T, class First>
void Rrb<Backend, T, First>::up(int from, int to, const double *r, double *z, Part part, Energy energy) {
  const int dense = options_.storage_grids;
  const Range2 nodes{0, extent_.nodes(), 0, 1}, unknowns{0, block_.size(), 0, 1};
  double *x = dense ? tail_.vector() : z;
  if (energy == Energy::yes) start_energy(from, to, z);
  if (from == grids() && !in_place()) on_.for_each(unknowns, CoarseCopy<true>{coarse_z_.data(), x, at_.data()});
  for (int g = from - 1; g >= std::max(to, dense); --g) {
    if (energy == Energy::yes) add_tail_energy(g - dense);
    backward_tail(g - dense, x, part != Part::left, part == Part::whole ? Scaling::full : Scaling::root);
  }
  for (int g = std::min(from, dense) - 1; g >= to; --g)
    if (energy == Energy::yes)
      backward_dense_with_energy(g, from);
    else
      backward_dense(g, r, z, part);
  if (to == 0 && !dense && natural(r, z, part).v_z) on_.for_each(nodes, Scale{z, v_});
}

// --- AMLI: a step (amli.hpp) on one grid; where that is in the tail, which works in place, vectors are copied to and fro ---

template <class Backend, class T, class First> class Rrb<Backend, T, First>::Step final : public AmliStep {
public:
  Step(const Rrb &of, int g) : of_(of), on_(of.on_), grid_(g) {
    if (in_tail()) {
      const Extent &x = of.tail_.grid(g - of.options_.storage_grids);
      amli_ = std::make_unique<Amli<Backend>>(x, DenseLayout(x, of.options_.block));
    } else {
      const DenseArrays<Backend> &d = of.grids_[g];
      amli_ = std::make_unique<Amli<Backend>>(d.extent, d.layout(), d.right_hand_side(), d.solution());
    }
  }

  int grid() const override { return grid_; }
  AmliReport amli() const override { return amli_->report(); }
  bool in_tail() const { return grid_ >= of_.options_.storage_grids; }
  const Amli<Backend> &on_grid() const { return *amli_; }
  // The grid's vector in the tail. z: the one handed to naive storage.
  NaturalField<0> in_tail(double *z) const {
    const int dense = of_.options_.storage_grids;
    return of_.tail_.field(dense ? of_.tail_.vector() : z, grid_ - dense);
  }

  // Before its elimination.
  void keep_matrix() const {
    if (in_tail())
      amli_->keep_matrix(on_, of_.tail_.whole_matrix(grid_ - of_.options_.storage_grids));
    else
      amli_->keep_matrix(on_, of_.grids_[grid_].matrix_out());
  }
  void keep_right_hand_side(double *z) override { fetch(z, amli_->right_hand_side()); }
  void second_right_hand_side(double *z) override {
    fetch(z, amli_->solution());
    amli_->second_right_hand_side(on_);
    put_right_hand_side(z);
  }
  void start_estimate() override { amli_->start_estimate(on_); }
  void put_residual() override { put_right_hand_side(of_.work()); }
  void estimate_step(int j) override {
    fetch(of_.work(), amli_->solution());
    amli_->step(on_, j);
  }
  bool finish_estimate(int steps) override { return amli_->finish_estimate(on_, steps); }

private:
  void fetch(double *z, const Quad<Dense> &to) const {
    if (in_tail()) amli_->copy(on_, in_tail(z).all(), Split{to});
  }
  void put_right_hand_side(double *z) const {
    if (in_tail()) amli_->copy(on_, Split{amli_->right_hand_side()}, in_tail(z).all());
  }

  const Rrb &of_;
  const Backend &on_;
  int grid_;
  std::unique_ptr<Amli<Backend>> amli_;
};

// --- the energy y^T B y (rrb.hpp), which the sweeps up add while they have y and its solution at hand ---

struct TimesEntry {
  const double *x, *y;

  PETSCRRB_HD double operator()(index_t i, index_t) const { return x[i] * y[i]; }
};

template <class Backend, class T, class First> void Rrb<Backend, T, First>::reserve_energy() {
  using Sum = PartialSum<Backend>;
  index_t parts = Sum::parts({0, block_.size(), 0, 1});
  for (int g = 1; g < options_.storage_grids; ++g) parts += Sweeps<Backend>::parts(grids_[g].layout());
  for (int q = 0; q < tail_.grids(); ++q)
    for (Class c : {r1, r2, b1}) parts += Sum::parts(tail_.grid(q).nodes_of(c));
  if (!amli_.empty()) parts += amli_.front()->on_grid().energy_parts();
  energy_.reserve(parts);
}

// The next sweep up reads the solution from which it begins; it adds y.z there as well if y is in the same layout.
template <class Backend, class T, class First> bool Rrb<Backend, T, First>::sweep_adds_start(int from, int to) const {
  return from > to && (from == grids() ? in_place() : !step_at(from).in_tail());
}

template <class Backend, class T, class First> void Rrb<Backend, T, First>::start_energy(int from, int to, double *z) {
  energy_.start();
  if (sweep_adds_start(from, to)) return;
  if (from == grids()) return energy_.add(on_, {0, block_.size(), 0, 1}, TimesEntry{coarse_r(), coarse_z_.data()});
  const Step &step = step_at(from);
  if (step.in_tail())
    step.on_grid().add_energy(on_, step.in_tail(z).get(Inner{}), energy_);
  else
    step.on_grid().add_energy(on_, step.on_grid().solution(), energy_);
}

template <class Backend, class T, class First> void Rrb<Backend, T, First>::add_tail_energy(int q) {
  const auto y = tail_.field(tail_.vector(), q).get(Inner{});
  const auto f = tail_.factor(q).get(Inner{});
  const auto add = [&](Class c) {
    using Term = RedEnergy<std::decay_t<decltype(y[c])>, std::decay_t<decltype(f.dinv[c])>>;
    energy_.add(on_, tail_.grid(q).nodes_of(c), Term{y[c], f.dinv[c]});
  };
  add(r1), add(r2);
  if (tail_.even(q)) add(b1);
}

template <class Backend, class T, class First>
void Rrb<Backend, T, First>::backward_dense_with_energy(int g, int from) {
  NextGrid kept = right_hand_side(g + 1);
  if (from < grids()) kept.split = step_at(from).on_grid().kept();
  const bool start = g + 1 == from && sweep_adds_start(from, g);
  sweeps_.backward(on_, grids_.coarser(g), solution(g + 1), EnergyShare<Backend>{energy_, start ? &kept : nullptr});
}

} // namespace petscrrb::rrb
