// Exchanges and gathers by stores, with several ranks on one device: each has a stream, and they wait for one another there.
#include "cuda/sums_support.hpp"
#include "unit/random_plans.hpp"

#include "exec/cuda/graph.hpp"
#include "comm/cuda/stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

namespace cuda = petscrrb::cuda;
namespace rrb = petscrrb::rrb;
using petscrrb::Cuda;
using petscrrb::index_t;
using support::RandomPlans;
using support::SomeSums;
using Values = std::vector<double>;

struct Rank {
  Cuda on;
  cuda::Buffer<double> x;
  std::unique_ptr<cuda::Watcher> watcher;
  std::unique_ptr<rrb::StoredExchange> exchange;
  std::unique_ptr<rrb::StoredGather> gather;
  std::unique_ptr<rrb::StoredSums> sums;

  Rank() { cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;
  ~Rank() { (void)cudaStreamDestroy(on.stream); }
};

class Ranks {
public:
  explicit Ranks(int count) {
    for (int r = 0; r < count; ++r) rank.push_back(std::make_unique<Rank>());
  }
  Ranks(const RandomPlans &plans) : Ranks(int(plans.plan.size())) {
    std::vector<rrb::Inbox> in;
    index_t size = 0;
    for (const auto &plan : plans.plan) size = std::max(size, index_t(in.emplace_back(plan, count()).place.size()));
    const rrb::Inboxes inboxes = make_inboxes(size);
    for (int r = 0; r < count(); ++r) {
      std::vector<index_t> start;
      for (const auto &there : in) start.push_back(there.start[std::size_t(r)]);
      rank[std::size_t(r)]->exchange = std::make_unique<rrb::StoredExchange>(
          in[std::size_t(r)], rrb::Outbox(plans.plan[std::size_t(r)], start), watched(inboxes, r), r);
    }
  }
  void make_gathers(index_t values) {
    const rrb::Inboxes inboxes = make_inboxes(rrb::StoredGather::slots(values, count()));
    for (int r = 0; r < count(); ++r)
      rank[std::size_t(r)]->gather = std::make_unique<rrb::StoredGather>(watched(inboxes, r), r);
  }
  void make_sums() {
    const rrb::Inboxes inboxes = make_inboxes(rrb::StoredSums::slots(count()));
    for (int r = 0; r < count(); ++r) rank[std::size_t(r)]->sums = std::make_unique<rrb::StoredSums>(inboxes, r);
  }

  int count() const { return int(rank.size()); }
  template <class F> void each(const F &f) {
    for (int r = 0; r < count(); ++r) f(r, *rank[std::size_t(r)]);
  }
  void wait() { cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

private:
  rrb::Inboxes make_inboxes(index_t size) {
    rrb::Inboxes all{{}, size};
    for (int r = 0; r < count(); ++r) all.of_rank.push_back(memory_.emplace_back(2 * std::size_t(size)).data());
    return all;
  }
  // of one rank, which watches its waits and tells the others
  rrb::Inboxes watched(const rrb::Inboxes &all, int r) {
    if (words_.size() == 0) words_.resize(std::size_t(count()));
    Rank &mine = *rank[std::size_t(r)];
    if (!mine.watcher) {
      std::vector<unsigned *> others;
      for (int other = 0; other < count(); ++other)
        if (other != r) others.push_back(words_.data() + other);
      mine.watcher = std::make_unique<cuda::Watcher>("what another rank sends");
      mine.watcher->connect(words_.data() + r, others);
    }
    return {all.of_rank, all.size, mine.watcher->begin()};
  }

  std::vector<cuda::Buffer<rrb::Slot>> memory_;
  cuda::Buffer<unsigned> words_;

public:
  std::vector<std::unique_ptr<Rank>> rank;
};

Values read(const cuda::Buffer<double> &x) {
  Values values(x.size());
  cuda::check(cudaMemcpy(values.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// While one kernel waits for another, that one cannot be loaded: each runs alone first.
void load_kernels() {
  for (const index_t by : {index_t(0), index_t(1) << 31}) {
    const RandomPlans plans(1, 3, 1.0, 1);
    Ranks one(plans.shifted(by));
    one.make_gathers(5);
    Rank &r = *one.rank[0];
    r.x.assign(plans.before(0));
    r.exchange->exchange(r.on, r.x.data() - by);
    r.exchange->send(r.on, r.x.data() - by);
    r.exchange->receive(r.on, r.x.data() - by);
    const cuda::Buffer<double> all(5);
    r.gather->gather(r.on, r.x.data(), {5}, all.data());
    one.wait();
  }
}

struct Stores : testing::Test {
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) GTEST_SKIP() << "there is no CUDA device";
    load_kernels();
  }
};

TEST_F(Stores, Exchange) {
  for (const int count : {1, 2, 4})
    for (const index_t most : {1, 100, 5000})
      for (const double probability : {0.4, 1.0}) {
        SCOPED_TRACE(std::to_string(count) + " ranks, up to " + std::to_string(most) + " values");
        const RandomPlans plans(count, most, probability, unsigned(10 * count + most));
        Ranks ranks(plans);
        for (int round = 0; round < 5; ++round) {
          ranks.each([&](int r, Rank &rank) { rank.x.assign(plans.before(r, round)); });
          ranks.each([&](int, Rank &rank) { rank.exchange->exchange(rank.on, rank.x.data()); });
          ranks.wait();
          ranks.each([&](int r, Rank &rank) { EXPECT_EQ(read(rank.x), plans.after(r, round)); });
        }
      }
}

TEST_F(Stores, ExchangeInTwoSteps) {
  const RandomPlans plans(3, 200, 0.7, 5);
  const index_t by = index_t(1) << 31; // needs 64 bits
  Ranks ranks(plans.shifted(by));
  for (int round = 0; round < 5; ++round) {
    ranks.each([&](int r, Rank &rank) { rank.x.assign(plans.before(r, round)); });
    ranks.each([&](int, Rank &rank) { rank.exchange->send(rank.on, rank.x.data() - by); });
    ranks.each([&](int, Rank &rank) { rank.exchange->receive(rank.on, rank.x.data() - by); });
    ranks.wait();
    ranks.each([&](int r, Rank &rank) { EXPECT_EQ(read(rank.x), plans.after(r, round)); });
  }
}

// One rank may be ahead of another as far as the messages let it.
TEST_F(Stores, ExchangeManyTimes) {
  constexpr int rounds = 50;
  const RandomPlans plans(3, 500, 1.0, 6);
  Ranks ranks(plans);
  std::vector<std::vector<cuda::Buffer<double>>> x(3);
  for (int r = 0; r < 3; ++r)
    for (int round = 0; round < rounds; ++round) x[std::size_t(r)].emplace_back(plans.before(r, round));
  ranks.each([&](int r, Rank &rank) {
    for (const auto &values : x[std::size_t(r)]) rank.exchange->exchange(rank.on, values.data());
  });
  ranks.wait();
  for (int r = 0; r < 3; ++r)
    for (int round = 0; round < rounds; ++round)
      EXPECT_EQ(read(x[std::size_t(r)][std::size_t(round)]), plans.after(r, round))
          << "rank " << r << ", round " << round;
}

TEST_F(Stores, ExchangeInGraphs) {
  const RandomPlans plans(2, 300, 1.0, 8);
  Ranks ranks(plans);
  ranks.each([&](int r, Rank &rank) { rank.x.assign(plans.before(r)); });
  cuda::Graph graph[2];
  ranks.each([&](int r, Rank &rank) {
    graph[r].capture(rank.on, [&] {
      for (int i = 0; i < 3; ++i) rank.exchange->exchange(rank.on, rank.x.data());
      return 0;
    });
  });
  for (int round = 0; round < 4; ++round) {
    ranks.each([&](int r, Rank &rank) {
      const Values before = plans.before(r, round);
      cuda::check(cudaMemcpy(rank.x.data(), before.data(), rank.x.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    });
    ranks.wait();
    ranks.each([&](int r, Rank &rank) { graph[r].launch(rank.on); });
    ranks.wait();
    ranks.each([&](int r, Rank &rank) { EXPECT_EQ(read(rank.x), plans.after(r, round)); });
  }
}

TEST_F(Stores, Gather) {
  const std::vector<std::vector<index_t>> parts = {{1, 1, 1},    {0, 5, 0}, {0, 0, 0},          {7, 0, 300},
                                                   {1000, 1, 2}, {3, 3, 3}, {2000, 2000, 2000}, {0, 0, 6000}};
  Ranks ranks(3);
  ranks.make_gathers(6000);
  for (int round = 0; round < 3; ++round)
    for (const auto &n : parts) {
      Values expected;
      std::vector<cuda::Buffer<double>> all;
      ranks.each([&](int r, Rank &rank) {
        Values mine;
        for (index_t i = 0; i < n[std::size_t(r)]; ++i) mine.push_back(1e6 * r + 1e4 * round + double(i));
        expected.insert(expected.end(), mine.begin(), mine.end());
        mine.push_back(-1); // beyond its end
        rank.x.assign(mine);
      });
      for (int r = 0; r < 3; ++r) all.emplace_back(expected.size() + 1);
      ranks.each(
          [&](int r, Rank &rank) { rank.gather->gather(rank.on, rank.x.data(), n, all[std::size_t(r)].data()); });
      ranks.wait();
      expected.push_back(0);
      for (const auto &values : all) EXPECT_EQ(read(values), expected);
    }
}

// One rank sends nothing: the others give up, all ranks hear of it, and with new inboxes they begin again.
TEST_F(Stores, SmallMissingMessagesEndAllRanks) {
  const RandomPlans plans(3, 200, 1.0, 11);
  const double before = petscrrb::timeout.exchange(0.1);
  {
    Ranks ranks(plans);
    ranks.make_gathers(6);
    std::vector<cuda::Buffer<double>> all, mine;
    for (int r = 0; r < 3; ++r) all.emplace_back(6), mine.emplace_back(2);
    ranks.each([&](int r, Rank &rank) { rank.x.assign(plans.before(r)); });
    ranks.each([&](int r, Rank &rank) {
      if (r) rank.exchange->exchange(rank.on, rank.x.data());
      if (r) rank.gather->gather(rank.on, mine[std::size_t(r)].data(), {2, 2, 2}, all[std::size_t(r)].data());
    });
    ranks.wait();
    ranks.each([&](int r, Rank &rank) {
      EXPECT_EQ(rank.watcher->gave_up(), r > 0);
      EXPECT_THROW(rank.watcher->check(true), petscrrb::TimedOut) << "rank " << r;
      if (!r) return;
      const Values x = read(rank.x), gathered = read(all[std::size_t(r)]);
      EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); }));
      EXPECT_TRUE(std::isnan(gathered[0]) && std::isnan(gathered[1]));
    });
  }
  petscrrb::timeout = before;
  Ranks ranks(plans);
  ranks.each([&](int r, Rank &rank) { rank.x.assign(plans.before(r)); });
  ranks.each([&](int, Rank &rank) { rank.exchange->exchange(rank.on, rank.x.data()); });
  ranks.wait();
  ranks.each([&](int r, Rank &rank) {
    EXPECT_EQ(read(rank.x), plans.after(r));
    EXPECT_NO_THROW(rank.watcher->check(true));
  });
}

// With an exchange, and alone, by turns.
TEST_F(Stores, Add) {
  const RandomPlans plans(3, 200, 0.8, 9);
  Ranks ranks(plans);
  ranks.make_gathers(1);
  ranks.make_sums();
  for (int round = 0; round < 6; ++round) {
    std::vector<std::unique_ptr<SomeSums>> some;
    ranks.each([&](int r, Rank &rank) {
      rank.x.assign(plans.before(r, round));
      some.push_back(std::make_unique<SomeSums>(3, r, round));
    });
    ranks.each([&](int r, Rank &rank) {
      const auto part = rank.sums->part(some[std::size_t(r)]->sums());
      if (round % 2)
        rank.exchange->exchange(rank.on, rank.x.data(), part);
      else
        rank.gather->gather(rank.on, nullptr, {0, 0, 0}, nullptr, nullptr, part);
    });
    ranks.wait();
    ranks.each([&](int r, Rank &rank) {
      EXPECT_EQ(read(some[std::size_t(r)]->results()), some[std::size_t(r)]->expected());
      EXPECT_EQ(read(rank.x), round % 2 ? plans.after(r, round) : plans.before(r, round));
    });
  }
}

} // namespace
