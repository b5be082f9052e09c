// Loops that run row by row, one behind the other: as if each had ended before the next.
#include "exec/host/host.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace petscrrb;

namespace {

using Array = std::vector<double>;
constexpr index_t columns = 7;

double &at(Array &a, index_t h, index_t k) { return a[std::size_t((k + 2) * columns + h)]; }

// to = a sum of `from` in rows k - down ... k + up, which no two orders of rows give alike; at edges times 2. Flags odd values.
struct Sum {
  Array *from, *to;
  int down, up;
  double times = 1.0;

  unsigned operator()(index_t h, index_t k) const {
    double sum = double(k + 3 * h);
    for (int i = -down; i <= up; ++i) sum += (i + 5) * at(*from, h, k + i);
    at(*to, h, k) = times * sum;
    return std::fmod(sum, 2.0) == 1.0 ? node_unlumped : node_ok;
  }
};

class InStep : public testing::TestWithParam<int> {};

TEST_P(InStep, IsAsIfOneAfterTheOther) {
  std::mt19937 random(7);
  const auto number = [&](int most) { return int(random() % unsigned(most + 1)); };
  for (int run = 0; run < 40; ++run) {
    const index_t rows = run % 2 ? 1 + number(12) : 1300 + number(50); // of the latter there are enough for threads
    const index_t more = number(1);
    struct Step {
      int down, up;
      Range2 box, inner;
    } step[3];
    for (Step &s : step) {
      s = {number(1), number(1), {0, columns, 0, rows + number(1)}, {}};
      s.inner = {s.box.h0 + number(2), s.box.h1 - number(2), s.box.k0 + number(2), s.box.k1 - number(2)};
    }
    step[0].down = step[0].up = 0; // nothing is written before it
    const auto result = [&](bool together) {
      std::vector<Array> a(4, Array(std::size_t((rows + more + 6) * columns), 1.0));
      NodeCounts counts[3];
      const auto loop = [&](int i) {
        const Sum f{&a[i], &a[i + 1], step[i].down, step[i].up}, g{f.from, f.to, f.down, f.up, 2.0};
        return NodeLoop<Sum, Sum>{step[i].box, step[i].inner, f, g, counts + i, step[i].down, step[i].up};
      };
      if (together)
        on_host.in_step(loop(0), loop(1), loop(2));
      else
        for (int i = 0; i < 3; ++i) on_host.count_each(loop(i).box, loop(i).inner, loop(i).f, loop(i).g, counts + i);
      for (const NodeCounts &n : counts) a[0].push_back(double(n.unlumped));
      return a;
    };
    const auto expected = result(false);
    const Threads threads(GetParam());
    EXPECT_EQ(result(true), expected) << rows << " rows, run " << run;
  }
}
INSTANTIATE_TEST_SUITE_P(Threads, InStep, testing::Values(1, 2, 3, 8));

} // namespace
