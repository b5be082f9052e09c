// Each rank finds out by itself what all of them need: it knows all couplings.
#include "pc/rrb/graph/shared_sweeps.hpp"

#include <algorithm>

namespace petscrrb::rrb {

namespace {

// An exchange, from what ranks need to know.
class Needs {
public:
  Needs(int me, int count) : me_(me), send_(count), fill_(count) {}

  // Rank `taker` needs the value that `owner` has at a place.
  void add(index_t place, int owner, int taker) {
    if (owner == taker) return;
    if (owner == me_) send_[taker].push_back(place);
    if (taker == me_) fill_[owner].push_back(place);
  }
  Plan plan() {
    Plan plan;
    for (int r = 0; r < int(send_.size()); ++r) {
      sort(send_[r]), sort(fill_[r]);
      if (send_[r].empty() && fill_[r].empty()) continue;
      const Places send(send_[r]), fill(fill_[r]);
      plan.peers.push_back({r, send, fill, fill});
    }
    return plan;
  }

private:
  static void sort(std::vector<index_t> &places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }

  int me_;
  std::vector<std::vector<index_t>> send_, fill_;
};

} // namespace

SharedSweeps::SharedSweeps(Ranks &ranks, int whole, const SharedFactor &f) : ranks_(ranks), whole_(whole) {
  const int me = ranks.rank(), count = ranks.count();
  const node_t rest = f.first[whole], all = f.first.back();
  const std::vector<node_t> &owner = f.owner;
  const auto level = [&](node_t node) {
    return std::upper_bound(f.first.begin(), f.first.end(), node) - f.first.begin() - 1;
  };
  std::vector<Needs> down(whole, Needs(me, count)), up(down);
  for (int l = 0; l <= f.levels(); ++l) {
    const auto begin = owner.begin();
    const auto [from, to] = std::equal_range(begin + f.first[l], begin + f.first[l + 1], me);
    own_.push_back({node_t(from - begin), node_t(to - begin)});
  }
  for (std::size_t k = 0; k < f.upper.row.size(); ++k) {
    const node_t a = f.upper.row[k], q = f.upper.column[k];
    down[level(a)].add(a, owner[a], owner[q]);
    if (q < rest) up[level(q)].add(q, owner[q], owner[a]);
  }
  for (int l = 0; l < whole; ++l) down_.push_back(down[l].plan()), up_.push_back(up[l].plan());
  for (const auto &[l, c] : f.amli) {
    const node_t first = f.first[l];
    Needs needs(me, count);
    for (std::size_t k = 0; k < c.row.size(); ++k)
      needs.add(c.column[k], owner[first + c.column[k]], owner[first + c.row[k]]);
    products_.emplace(l, needs.plan());
  }
  Needs needs(me, count);
  for (node_t q = rest; q < all; ++q)
    for (int r = 0; r < count; ++r) needs.add(q, owner[q], r);
  rest_ = needs.plan();
}

void SharedSweeps::prepare() const {
  for (const Plan &plan : down_) ranks_.prepare(plan);
  for (const Plan &plan : up_) ranks_.prepare(plan);
  for (const auto &product : products_) ranks_.prepare(product.second);
  ranks_.prepare(rest_);
}

} // namespace petscrrb::rrb
