// Exchanges and gathers between devices: mpiexec -n 2 build/tests/cuda --gtest_filter='*DeviceRanks.*', with a device a rank.
#include "cuda/sums_support.hpp"
#include "unit/random_plans.hpp"

#include "exec/cuda/graph.hpp"
#include "petsc/compat.h"
#include "comm/ranks_cuda.h"

#include <gtest/gtest.h>

#include <petscdevice.h>

#include <deque>

namespace {

namespace cuda = petscrrb::cuda;
namespace rrb = petscrrb::rrb;
using petscrrb::Cuda;
using petscrrb::index_t;
using support::RandomPlans;
using support::SomeSums;
using Values = std::vector<double>;

void ok(PetscErrorCode code) { ASSERT_EQ(code, PETSC_SUCCESS); }

int devices() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

struct Transport {
  const char *name;
  PetscErrorCode (*create)(MPI_Comm, const Cuda &, std::unique_ptr<rrb::Ranks> *, std::string *);

  friend std::ostream &operator<<(std::ostream &out, const Transport &t) { return out << t.name; }
};

struct DeviceRanks : testing::TestWithParam<Transport> {
  static void SetUpTestSuite() {
    if (!devices()) return;
    ok(PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0"));
    ok(PetscInitializeNoArguments());
#if PETSCRRB_ON_DEVICES
    ok(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#endif
    ok(PetscCommDuplicate(PETSC_COMM_WORLD, &comm, nullptr)); // which keeps what NCCL takes long to make
  }
  static void TearDownTestSuite() {
    if (!devices()) return;
    ok(PetscCommDestroy(&comm));
    ok(PetscFinalize());
  }

  void SetUp() override {
    if (!devices()) GTEST_SKIP() << "there is no CUDA device";
    int size;
    MPI_Comm_size(comm, &size);
    device_ = std::make_unique<Cuda>();
    cuda::check(cudaStreamCreateWithFlags(&on().stream, cudaStreamNonBlocking), "cudaStreamCreate");
    std::string why_not;
    ok(GetParam().create(comm, on(), &ranks, &why_not));
    if (ranks) return;
    const bool shared = why_not.find("share a GPU") != std::string::npos;
    EXPECT_TRUE(shared || size <= devices()) << why_not;
    GTEST_SKIP() << size << (size == 1 ? " rank, " : " ranks, ") << devices() << " devices: " << why_not;
  }
  void TearDown() override {
    ranks.reset();
    if (device_) (void)cudaStreamDestroy(on().stream);
  }

  Values read(const cuda::Buffer<double> &x) const {
    Values values(x.size());
    cuda::check(cudaMemcpyAsync(values.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost, on().stream), "cudaMemcpy");
    cuda::check(cudaStreamSynchronize(on().stream), "cudaStreamSynchronize");
    return values;
  }
  // they have to live as long as the ranks
  const RandomPlans &keep(const RandomPlans &plans) { return plans_.emplace_back(plans); }
  const rrb::Plan &mine(const RandomPlans &plans) const { return plans.plan[std::size_t(ranks->rank())]; }

  // What a rank gives to a gather, all different, and how much of it.
  Values part(int rank, index_t n, int round) const {
    Values x(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) x[std::size_t(i)] = 1e6 * rank + 1e3 * round + double(i);
    return x;
  }
  void expect_gathered(const std::vector<index_t> &n, bool in_a_graph);

  Cuda &on() const { return *device_; }
  static inline MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<rrb::Ranks> ranks;

private:
  std::unique_ptr<Cuda> device_;
  std::deque<RandomPlans> plans_;
};

TEST_P(DeviceRanks, AreThoseOfMPI) {
  int size, rank;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  EXPECT_EQ(ranks->count(), size);
  EXPECT_EQ(ranks->rank(), rank);
  Values all;
  for (int r = 0; r < size; ++r) all.insert(all.end(), {1.0 + r, 0.5});
  EXPECT_EQ(ranks->gather_numbers({1.0 + rank, 0.5}), all);
}

TEST_P(DeviceRanks, AreMadeAgain) {
  std::string why_not;
  std::unique_ptr<rrb::Ranks> others;
  ok(GetParam().create(comm, on(), &others, &why_not));
  EXPECT_TRUE(others) << why_not;
  const RandomPlans &plans = keep({ranks->count(), 20, 1.0, 3});
  for (rrb::Ranks *r : {ranks.get(), others.get(), ranks.get()}) {
    const cuda::Buffer<double> x(plans.before(r->rank()));
    r->exchange(mine(plans), x.data());
    EXPECT_EQ(read(x), plans.after(r->rank()));
  }
}

TEST_P(DeviceRanks, ExchangeValues) {
  unsigned seed = 1;
  for (const index_t most : {1, 16, 17, 1000, 40000})
    for (const double probability : {0.0, 0.4, 1.0}) {
      SCOPED_TRACE("up to " + std::to_string(most) + " values, probability " + std::to_string(probability));
      const RandomPlans &plans = keep({ranks->count(), most, probability, ++seed});
      for (int round = 0; round < 3; ++round) {
        const cuda::Buffer<double> x(plans.before(ranks->rank(), round));
        ranks->exchange(mine(plans), x.data());
        EXPECT_EQ(read(x), plans.after(ranks->rank(), round));
      }
    }
}

// None of them finds the values of another, or of the next round.
TEST_P(DeviceRanks, ExchangeManyTimesWithoutWaiting) {
  const RandomPlans &few = keep({ranks->count(), 5, 0.7, 11}), &many = keep({ranks->count(), 20000, 1.0, 12});
  std::vector<cuda::Buffer<double>> x, y;
  for (int round = 0; round < 20; ++round) {
    x.emplace_back(few.before(ranks->rank(), round));
    y.emplace_back(many.before(ranks->rank(), round));
  }
  for (std::size_t round = 0; round < x.size(); ++round) {
    ranks->exchange(mine(few), x[round].data());
    ranks->exchange(mine(many), y[round].data());
  }
  for (int round = 0; round < int(x.size()); ++round) {
    EXPECT_EQ(read(x[round]), few.after(ranks->rank(), round));
    EXPECT_EQ(read(y[round]), many.after(ranks->rank(), round));
  }
}

TEST_P(DeviceRanks, StartTwoBeforeTheyFinish) {
  const RandomPlans &one = keep({ranks->count(), 300, 1.0, 13}), &other = keep({ranks->count(), 200, 0.6, 14});
  const cuda::Buffer<double> x(one.before(ranks->rank())), y(other.before(ranks->rank()));
  ranks->start(mine(one), x.data());
  ranks->start(mine(other), y.data());
  ranks->finish(mine(one), x.data());
  ranks->finish(mine(other), y.data());
  EXPECT_EQ(read(x), one.after(ranks->rank()));
  EXPECT_EQ(read(y), other.after(ranks->rank()));
}

TEST_P(DeviceRanks, ExchangeInAGraph) {
  if (!ranks->only_enqueue()) GTEST_SKIP() << "the host takes part";
  const RandomPlans &few = keep({ranks->count(), 3, 0.5, 21}), &many = keep({ranks->count(), 3000, 1.0, 22});
  cuda::Buffer<double> x(many.before(ranks->rank())), y(few.before(ranks->rank()));
  ranks->prepare(mine(few));
  ranks->prepare(mine(many));
  cuda::Graph graph; // is destroyed before the ranks
  graph.capture(on(), [&] {
    ranks->exchange(mine(many), x.data());
    ranks->exchange(mine(few), y.data());
    ranks->exchange(mine(many), x.data()); // changes nothing
    return 0;
  });
  for (int round = 0; round < 7; ++round) {
    const cuda::Buffer<double> new_x(many.before(ranks->rank(), round)), new_y(few.before(ranks->rank(), round));
    on().copy(x.data(), new_x.data(), x.size());
    on().copy(y.data(), new_y.data(), y.size());
    graph.launch(on());
    EXPECT_EQ(read(x), many.after(ranks->rank(), round));
    EXPECT_EQ(read(y), few.after(ranks->rank(), round));
  }
}

// As in an array that needs 64 bits: the places are counted from an address before it.
TEST_P(DeviceRanks, ExchangeAtFarPlaces) {
  if (sizeof(PetscInt) < sizeof(index_t) && !ranks->only_enqueue()) GTEST_SKIP() << "PetscSF has 32 bits here";
  const index_t by = (index_t(1) << 31) + 100;
  const RandomPlans near(ranks->count(), 100, 1.0, 31);
  const RandomPlans &far = keep(near.shifted(by));
  const cuda::Buffer<double> x(near.before(ranks->rank()));
  ranks->exchange(mine(far), x.data() - by);
  EXPECT_EQ(read(x), near.after(ranks->rank()));
}

void DeviceRanks::expect_gathered(const std::vector<index_t> &n, bool in_a_graph) {
  const index_t own = n[std::size_t(ranks->rank())], total = std::accumulate(n.begin(), n.end(), index_t(0));
  cuda::Buffer<double> part_of_it(std::size_t(own) + 1), all(std::size_t(total) + 1);
  const auto gather = [&] {
    ranks->gather(part_of_it.data(), n, all.data());
    return 0;
  };
  cuda::Graph graph;
  gather();
  if (in_a_graph) graph.capture(on(), gather);
  for (int round = 0; round < 3; ++round) {
    const cuda::Buffer<double> values(part(ranks->rank(), own, round));
    on().copy(part_of_it.data(), values.data(), values.size());
    if (in_a_graph)
      graph.launch(on());
    else
      gather();
    Values expected;
    for (int r = 0; r < ranks->count(); ++r) {
      const Values theirs = part(r, n[std::size_t(r)], round);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    expected.push_back(0.0); // beyond its end
    EXPECT_EQ(read(all), expected);
  }
}

TEST_P(DeviceRanks, Gather) {
  const std::size_t count = std::size_t(ranks->count());
  for (const bool in_a_graph : {false, true}) {
    if (in_a_graph && !ranks->only_enqueue()) break;
    for (const index_t n : {0, 1, 7, 4096, 100001}) {
      SCOPED_TRACE(std::to_string(n) + " values" + (in_a_graph ? ", in a graph" : ""));
      std::vector<index_t> parts(count, n);
      expect_gathered(parts, in_a_graph);
      parts[0] += 3;
      expect_gathered(parts, in_a_graph);
      for (std::size_t r = 0; r < count; ++r) parts[r] = index_t(r) * n; // the first one has none
      expect_gathered(parts, in_a_graph);
      parts.assign(count, 0);
      parts.back() = n; // nobody else has any
      expect_gathered(parts, in_a_graph);
    }
  }
}

TEST_P(DeviceRanks, AddWhileTheyExchange) {
  const RandomPlans &plans = keep({ranks->count(), 300, 0.7, 41});
  for (int round = 0; round < 3; ++round) {
    const SomeSums some(ranks->count(), ranks->rank(), round);
    const cuda::Buffer<double> x(plans.before(ranks->rank(), round));
    if (!ranks->exchange_and_add(mine(plans), x.data(), some.sums())) GTEST_SKIP() << "two steps";
    EXPECT_EQ(read(x), plans.after(ranks->rank(), round));
    EXPECT_EQ(read(some.results()), some.expected());
  }
}

// Backwards, with sums and without, and sums alone.
TEST_P(DeviceRanks, AddWhileTheyGatherToPlaces) {
  for (const index_t own : {0, 1, 50000})
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(std::to_string(own) + " values");
      const SomeSums some(ranks->count(), ranks->rank(), round);
      std::vector<index_t> n(std::size_t(ranks->count()), own);
      if (own) n[0] += 2;
      Values expected;
      for (int r = ranks->count() - 1; r >= 0; --r) {
        const Values theirs = part(r, n[std::size_t(r)], round);
        expected.insert(expected.end(), theirs.rbegin(), theirs.rend());
      }
      std::vector<int> backwards(expected.size());
      std::iota(backwards.rbegin(), backwards.rend(), 0);
      expected.push_back(0.0); // beyond its end
      const cuda::Buffer<double> all(expected.size()),
          own_part(part(ranks->rank(), n[std::size_t(ranks->rank())], round));
      const cuda::Buffer<int> place(backwards);
      const bool sums = round != 1;
      if (!ranks->gather_and_add(own_part.data(), n, place.data(), all.data(), sums ? some.sums() : petscrrb::Sums()))
        GTEST_SKIP() << "two steps";
      EXPECT_EQ(read(all), expected);
      EXPECT_EQ(read(some.results()), sums ? some.expected() : Values(SomeSums::count + 1, 0.0));
    }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceRanks,
                         testing::Values(Transport{"nccl", PetscRRBCreateRanksNccl},
                                         Transport{"nccl_lsa", PetscRRBCreateRanksStoresNccl},
                                         Transport{"cuda_ipc", PetscRRBCreateRanksStores},
                                         Transport{"petscsf", PetscRRBCreateRanksSF}),
                         [](const auto &info) { return info.param.name; });

} // namespace
