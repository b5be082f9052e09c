// Plans of one exchange that fit together, a plan for each rank, by chance.
#pragma once

#include "reference/problems.hpp"
#include "comm/ranks.hpp"

#include <algorithm>
#include <numeric>

namespace support {

struct RandomPlans {
  using index_t = petscrrb::index_t;
  using Plan = petscrrb::rrb::Plan;

  std::vector<Plan> plan;
  index_t size; // of a rank's array: places below its half may be sent, the others filled

  // A rank sends at most `most` values to another, and to that with this probability, to itself as well.
  RandomPlans(int count, index_t most, double probability, unsigned seed) : plan(count), size(2 * count * most) {
    reference::Random random(seed);
    std::vector<std::vector<index_t>> free(count, std::vector<index_t>(size / 2));
    for (auto &places : free) {
      std::iota(places.begin(), places.end(), size / 2);
      for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[below(i, random)]);
    }
    std::vector<std::vector<Plan::Peer>> peers(count, std::vector<Plan::Peer>(count));
    for (int from = 0; from < count; ++from)
      for (int to = 0; to < count; ++to) {
        if (random() >= probability) continue;
        const index_t n = 1 + index_t(below(most, random));
        for (index_t i = 0; i < n; ++i) {
          const index_t sent = below(size / 2, random);
          peers[from][to].send.push_back(sent);
          peers[to][from].from.push_back(sent);
          peers[to][from].fill.push_back(free[to].back());
          free[to].pop_back();
        }
      }
    for (int rank = 0; rank < count; ++rank)
      for (int other = 0; other < count; ++other) {
        Plan::Peer &peer = peers[rank][other];
        peer.rank = other;
        if (!peer.send.empty() || !peer.fill.empty()) plan[rank].peers.push_back(std::move(peer));
      }
  }

  // What a rank has before, all different, and what it must have after.
  std::vector<double> before(int rank, int round = 0) const {
    std::vector<double> x(size);
    for (index_t i = 0; i < size; ++i) x[i] = double(round) + 100.0 * double(i * index_t(plan.size()) + rank);
    return x;
  }
  std::vector<double> after(int rank, int round = 0) const {
    std::vector<double> x = before(rank, round);
    for (const Plan::Peer &peer : plan[rank].peers) {
      const std::vector<double> theirs = before(peer.rank, round);
      const std::vector<index_t> fill = peer.fill.listed(), from = peer.from.listed();
      for (std::size_t i = 0; i < fill.size(); ++i) x[fill[i]] = theirs[from[i]];
    }
    return x;
  }

  // The same with each place so much larger.
  RandomPlans shifted(index_t by) const {
    RandomPlans s = *this;
    for (Plan &p : s.plan)
      for (Plan::Peer &peer : p.peers)
        for (auto *places : {&peer.send, &peer.fill, &peer.from}) places->move(by);
    return s;
  }

private:
  template <class Random> static std::size_t below(std::size_t n, Random &random) {
    return std::min(n - 1, std::size_t(random() * double(n)));
  }
};

} // namespace support
