// Red nodes chosen by support on several ranks: every rank has the matrix and the right-hand side of all of them, and factors with the code
// of one rank all that one would. Applications they share, where that can be (docs/design_ranks.md, "Red nodes by support").
#pragma once

#include "pc/rrb/ranks/gather.hpp"
#include "pc/rrb/ranks/graph_on_ranks.hpp"

namespace petscrrb::rrb {

template <class Backend> class GatheredGraph final : public GraphOnRanks {
public:
  GatheredGraph(const Backend &on, Ranks &ranks, const Boxes &boxes, bool corners)
      : on_(on), ranks_(ranks), boxes_(boxes), gather_(on, ranks, boxes, 0), fields_(corners ? 5 : 3) {
    const index_t n = gather_.all().nodes();
    stencil_.resize(fields_ * n);
    r_.resize(n), z_.resize(n);
  }

  void gather(const PreparedStencil &box) override {
    v_ = box.v;
    const auto mine = natural_stencil(gather_.mine(), gather_.own());
    const auto put = [&](const double *from, const Strided<1> &to) {
      copy_nodes(on_, natural_order(from, gather_.own()), to, gather_.own());
    };
    put(box.X, mine.X), put(box.E, mine.E), put(box.N, mine.N);
    if (corners()) put(box.NE, mine.NE), put(box.NW, mine.NW);
    gather_.to_all(fields_, stencil_.data());
  }
  void choose(const Options &o, bool single, Lumping lumping, index_t gather_size) override {
    all_ = make_by_support(on_, gather_.all(), o, single, stencil(), lumping);
    std::vector<index_t> cuts;
    for (int r = 0; r <= ranks_.count(); ++r) cuts.push_back(gather_.all().nodes() * r / ranks_.count());
    shared_ = all_->share(ranks_, cuts, gather_size);
    if (shared_) to_boxes_ = plan_to_boxes(cuts);
  }
  void prepare_exchanges() override {
    if (!shared_) return;
    all_->prepare_exchanges();
    ranks_.prepare(to_boxes_);
  }

  void refresh(const PreparedStencil &s, Lumping lumping) override {
    gather(s);
    all_->refresh(stencil(), lumping);
  }
  Outcome outcome() const override { return all_->outcome(); }

  // r and z: of the box
  void down(int from, int to, const double *r, double *, Part part) override {
    if (from == 0) {
      const Extent &own = gather_.own();
      copy_nodes(on_, natural_order(r, own), natural_order(gather_.mine(), own), own,
                 part != Part::right ? v_ : nullptr);
      gather_.to_all(1, r_.data());
    }
    all_->down(from, to, r_.data(), z_.data(), part);
  }
  void up(int from, int to, const double *, double *z, Part part, Energy energy) override {
    all_->up(from, to, r_.data(), z_.data(), part, energy);
    if (to > 0) return;
    if (shared_) ranks_.exchange(to_boxes_, z_.data());
    const Extent &own = gather_.own();
    copy_nodes(on_, natural_order(z_.data(), gather_.all()), natural_order(z, own), own,
               part != Part::left ? v_ : nullptr);
  }
  int grids() const override { return all_->grids(); }
  const double *coarse_r() const override { return all_->coarse_r(); }
  double *coarse_z() override { return all_->coarse_z(); }

  int steps() const override { return all_->steps(); }
  AmliStep &step(int k) override { return all_->step(k); }
  double *work(int = 0) const override { return all_->work(); }
  bool has_own_vectors(int g) const override { return all_->has_own_vectors(g); }

  LastBlock &last_block() override { return all_->last_block(); }
  const double *last_values() const override { return all_->last_values(); }
  const double *last_excess() const override { return all_->last_excess(); }
  const Extent &extent() const override { return gather_.own(); }
  const Options &options() const override { return all_->options(); }
  Precision precision() const override { return all_->precision(); }
  std::size_t bytes() const override {
    return gather_.bytes() + stencil_.bytes() + r_.bytes() + z_.bytes() + all_->bytes();
  }
  GraphReport graph() const override { return all_->graph(); }
  std::vector<index_t> unknowns_by_level() const override { return all_->unknowns_by_level(); }

private:
  // From ranks that computed what stands between the cuts, in natural order.
  Plan plan_to_boxes(const std::vector<index_t> &cuts) const {
    const int me = ranks_.rank();
    const index_t nx = gather_.all().x.n;
    Plan plan;
    for (int r = 0; r < ranks_.count(); ++r) {
      Plan::Peer peer{r,
                      points(boxes_.extent(r, 0), nx, cuts[me], cuts[me + 1]),
                      points(gather_.own(), nx, cuts[r], cuts[r + 1]),
                      {}};
      peer.from = peer.fill;
      if (r != me && !(peer.send.empty() && peer.fill.empty())) plan.peers.push_back(std::move(peer));
    }
    return plan;
  }
  // Those of a box that are among from ... to - 1.
  static Places points(const Extent &box, index_t nx, index_t from, index_t to) {
    Places all;
    for (index_t b = box.y.lo; b < box.y.hi; ++b)
      for (index_t a = std::max(box.x.lo, from - b * nx); a < std::min(box.x.hi, to - b * nx); ++a)
        all.push_back(b * nx + a);
    return all;
  }
  bool corners() const { return fields_ == 5; }
  PreparedStencil stencil() {
    const index_t n = gather_.all().nodes();
    double *p = stencil_.data();
    return {p, p + n, p + 2 * n, corners() ? p + 3 * n : nullptr, corners() ? p + 4 * n : nullptr, nullptr};
  }

  const Backend &on_;
  Ranks &ranks_;
  Boxes boxes_;
  Gather<Backend> gather_;
  int fields_;
  typename Backend::template Array<double> stencil_, r_, z_; // of all ranks
  std::unique_ptr<Factorization> all_;
  bool shared_ = false;
  Plan to_boxes_;
  const double *v_ = nullptr; // of the box: M^-1 = V (factor of V A V)^-1 V; NULL: V = I
};

template <class Backend>
std::unique_ptr<GraphOnRanks> make_graph_on_ranks(const Backend &on, Ranks &ranks, const Boxes &boxes, bool corners) {
  return std::make_unique<GatheredGraph<Backend>>(on, ranks, boxes, corners);
}

} // namespace petscrrb::rrb
