// An exchange's values as they are packed for messages, with the messages copied.
#include "random_plans.hpp"

#include "comm/packed.hpp"

#include <gtest/gtest.h>

namespace {

using petscrrb::index_t;
using petscrrb::rrb::Packed;
using petscrrb::rrb::Plan;
using Values = std::vector<double>;

// What the ranks have after it.
std::vector<Values> exchange(const std::vector<Plan> &plans, std::vector<Values> x) {
  std::vector<Packed> packed;
  std::vector<Values> values;
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const Packed &p = packed.emplace_back(plans[r], int(r));
    Values &v = values.emplace_back(p.size(), -1.0);
    const std::vector<index_t> pack = p.pack.listed();
    for (std::size_t i = 0; i < pack.size(); ++i)
      if (pack[i] >= 0) v[i] = x[r][pack[i]];
  }
  for (std::size_t r = 0; r < plans.size(); ++r)
    for (const Packed::Message &to : packed[r].sent)
      for (const Packed::Message &from : packed[to.rank].received) {
        if (from.rank != int(r)) continue;
        EXPECT_EQ(from.count, to.count);
        std::copy_n(&values[r][to.at], to.count, &values[to.rank][from.at]);
      }
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const std::vector<index_t> unpack = packed[r].unpack.listed();
    for (std::size_t i = 0; i < unpack.size(); ++i)
      if (unpack[i] >= 0) x[r][unpack[i]] = values[r][packed[r].first_unpacked + i];
  }
  return x;
}

TEST(Packed, ValuesArrive) {
  for (const int ranks : {1, 2, 3, 7})
    for (const index_t most : {1, 15, 16, 17, 200})
      for (const double probability : {0.0, 0.3, 1.0}) {
        const support::RandomPlans plans(ranks, most, probability, 10 * ranks + unsigned(most));
        std::vector<Values> before, after;
        for (int r = 0; r < ranks; ++r) before.push_back(plans.before(r)), after.push_back(plans.after(r));
        EXPECT_EQ(exchange(plans.plan, before), after) << ranks << " ranks, " << most << " values, " << probability;
      }
}

TEST(Packed, MessagesAreAlignedAndOfOthers) {
  const support::RandomPlans plans(4, 40, 1.0, 5);
  for (int r = 0; r < 4; ++r) {
    const Packed p(plans.plan[r], r);
    EXPECT_EQ(p.sent.size(), 3u);
    EXPECT_EQ(p.received.size(), 3u);
    for (const auto *messages : {&p.sent, &p.received})
      for (const Packed::Message &m : *messages) {
        EXPECT_EQ(m.at % Packed::alignment, 0);
        EXPECT_NE(m.rank, r);
        EXPECT_LE(m.at + m.count, p.size());
      }
  }
}

TEST(Packed, NothingIsNothing) {
  const Packed p(Plan(), 3);
  EXPECT_EQ(p.size(), 0);
  EXPECT_TRUE(p.sent.empty() && p.received.empty() && p.pack.empty() && p.unpack.empty());
}

} // namespace
