// Exchanges by stores into other ranks' inboxes: where values go, and that two sets of slots are enough, with a thread a rank.
#include "random_plans.hpp"

#include "comm/inbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using petscrrb::index_t;
using petscrrb::rrb::Inbox;
using petscrrb::rrb::Outbox;
using Values = std::vector<double>;

// A value and the number of its round. It does not tell a value of one round from the same of another, so those differ.
struct Slot {
  std::atomic<double> value{0};
  std::atomic<int> round{0};

  void put(double x, int r) {
    value.store(x, std::memory_order_relaxed);
    round.store(r, std::memory_order_release);
  }
  double get(int r) const {
    while (round.load(std::memory_order_acquire) != r) std::this_thread::yield();
    return value.load(std::memory_order_relaxed);
  }
};

class StoringRanks {
public:
  explicit StoringRanks(const support::RandomPlans &plans) : plans_(plans) {
    const int count = int(plans.plan.size());
    for (const auto &plan : plans.plan) in_.emplace_back(plan, count);
    for (int r = 0; r < count; ++r) {
      std::vector<index_t> start;
      for (const Inbox &in : in_) start.push_back(in.start[r]);
      out_.emplace_back(plans.plan[r], start);
      for (int turn = 0; turn < 2; ++turn) slots_[turn].emplace_back(in_[r].place.size());
    }
  }

  void round(int rank, int number, Values &x) {
    auto &slots = slots_[number % 2];
    const std::vector<index_t> out = out_[rank].place.listed(), in = in_[rank].place.listed();
    std::size_t sent = 0;
    for (const Outbox::Message &m : out_[rank].messages)
      for (index_t i = 0; i < m.count; ++i) {
        const index_t place = out[sent++];
        slots[m.rank][m.slot + i].put(place < 0 ? 0 : x[place], number);
      }
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double value = slots[rank][i].get(number);
      if (in[i] >= 0) x[in[i]] = value;
    }
  }
  const Inbox &in(int rank) const { return in_[rank]; }

private:
  const support::RandomPlans &plans_;
  std::vector<Inbox> in_;
  std::vector<Outbox> out_;
  std::vector<std::vector<Slot>> slots_[2]; // odd and even rounds; of each rank
};

TEST(Inbox, TwoSetsOfSlotsAreEnough) {
  for (const int count : {1, 2, 3, 6})
    for (const index_t most : {1, 30})
      for (const double probability : {0.3, 1.0}) {
        const support::RandomPlans plans(count, most, probability, 7 * count + unsigned(most));
        StoringRanks ranks(plans);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int r = 0; r < count; ++r)
          threads.emplace_back([&, r] {
            for (int round = 1; round <= 200; ++round) {
              Values x = plans.before(r, round);
              if ((round + r) % 7 == 0) std::this_thread::yield();
              ranks.round(r, round, x);
              wrong += x != plans.after(r, round);
            }
          });
        for (std::thread &t : threads) t.join();
        EXPECT_EQ(wrong, 0) << count << " ranks, " << most << " values, " << probability;
      }
}

TEST(Inbox, HasAMessageOfEachRankThatIsSentOne) {
  const support::RandomPlans plans(5, 4, 0.4, 3);
  const StoringRanks ranks(plans);
  for (int r = 0; r < 5; ++r)
    for (const auto &peer : plans.plan[r].peers) {
      EXPECT_GE(ranks.in(r).start[peer.rank], 0);
      EXPECT_GE(ranks.in(peer.rank).start[r], 0);
    }
}

} // namespace
