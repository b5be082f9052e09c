// What of RRB is left below a grid, on a device: the solution against the host's, its energy against the product of both.
#include "unit/reference_support.hpp"
#include "unit/rrb_support.hpp"

#include "exec/cuda/graph.hpp"
#include "dense/cuda/substructured.hpp"

#include <gtest/gtest.h>

#include <petscsystypes.h>

#include <numeric>

namespace {

namespace dense = petscrrb::dense;
namespace cuda = petscrrb::cuda;
namespace rrb = petscrrb::rrb;
using petscrrb::index_t;
using reference::Vector;
using rrb::Energy;
using support::Choice;

// A matrix factored on the device, with the last block's inverse there; its stream is not one that the NULL stream awaits.
class DeviceRRB {
  auto solver() {
    return [this](rrb::Part) {
      last_->apply(core_->coarse_r(), core_->coarse_z(), on_.stream);
      return 0;
    };
  }

public:
  DeviceRRB(const support::Problem &p, const Choice &c) {
    cuda::check(cudaStreamCreateWithFlags(&on_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    petscrrb::Grid grid;
    grid.n[0] = p.nx, grid.n[1] = p.ny;
    grid.periodic[0] = p.periodic_x && p.nx > 2, grid.periodic[1] = p.periodic_y && p.ny > 2;
    petscrrb::Stencil s = support::stencil_of(p.A, grid, p.corners, p.v);
    const std::vector<double> *host[] = {&s.C, &s.E, &s.N, &s.NE, &s.NW, &s.v};
    for (int i = 0; i < 6; ++i) stencil_[i].assign(*host[i]);
    const rrb::Extent extent{{0, p.nx, p.nx, grid.periodic[0]}, {0, p.ny, p.ny, grid.periodic[1]}};
    core_ = rrb::make_factorization(on_, extent, {c.levels, c.storage_grids, c.block, c.amli_grid}, c.precision);
    const auto &b = core_->last_block();
    last_ = std::make_unique<dense::SubstructuredInverse>(
        dense::Substructure(ints(b.ia), ints(b.ja), ints(b.x), ints(b.y),
                            {int(b.grid.x.n), int(b.grid.y.n), b.grid.x.periodic, b.grid.y.periodic, b.skew ? 2 : 1}));
    factor(c);
  }
  DeviceRRB(const DeviceRRB &) = delete;
  DeviceRRB &operator=(const DeviceRRB &) = delete;
  ~DeviceRRB() { (void)cudaStreamDestroy(on_.stream); }

  bool ok() const { return ok_; }
  rrb::Factorization &core() { return *core_; }

  Vector read(const rrb::NextGrid &g) const {
    Vector x(g.extent.nodes());
    copy(g, x, cudaMemcpyDeviceToHost);
    return x;
  }
  double energy() const {
    const petscrrb::Terms terms = core_->energy();
    Vector term(terms.count);
    cuda::check(
        cudaMemcpyAsync(term.data(), terms.term, term.size() * sizeof(double), cudaMemcpyDeviceToHost, on_.stream),
        "energy");
    cuda::check(cudaStreamSynchronize(on_.stream), "energy");
    return std::accumulate(term.begin(), term.end(), 0.0);
  }
  // the right-hand side of grid g that comes out of a sweep down
  Vector right_hand_side(int g, const Vector &b) {
    const cuda::Buffer<double> r(b);
    core_->down(0, g, r.data(), nullptr, rrb::Part::whole);
    return read(core_->right_hand_side(g));
  }
  Vector apply_below(int g, Vector y, Energy energy) {
    copy(core_->right_hand_side(g), y, cudaMemcpyHostToDevice);
    rrb::Cycle(*core_).apply_below(g, solver(), energy);
    return read(core_->solution(g));
  }
  Vector apply_below_in_a_graph(int g, Vector y) {
    cuda::Graph graph;
    graph.capture(on_, [&] { return rrb::Cycle(*core_).apply_below(g, solver(), Energy::yes); });
    copy(core_->right_hand_side(g), y, cudaMemcpyHostToDevice);
    graph.launch(on_);
    return read(core_->solution(g));
  }

private:
  template <class Int> static std::vector<int> ints(const std::vector<Int> &x) { return {x.begin(), x.end()}; }
  void factor(const Choice &c) {
    const auto &s = stencil_;
    core_->refresh({s[0].data(), s[1].data(), s[2].data(), s[3].data(), s[4].data(), s[5].data()}, {c.omega, c.both});
    ok_ = core_->outcome().ok;
    if (!ok_) return;
    last_->refresh(core_->last_values(), core_->last_excess(), 0.0, on_.stream);
    rrb::Cycle(*core_).estimate(solver());
  }

  // between a vector on the device and one in natural order on the host
  void copy(const rrb::NextGrid &g, Vector &x, cudaMemcpyKind kind) const {
    const auto lines = [&](double *device, std::size_t pitch, double *host, index_t columns, index_t rows) {
      if (columns <= 0 || rows <= 0) return;
      const std::size_t width = columns * sizeof(double), far = pitch * sizeof(double);
      const bool to_host = kind == cudaMemcpyDeviceToHost;
      cuda::check(cudaMemcpy2DAsync(to_host ? host : device, to_host ? width : far, to_host ? device : host,
                                    to_host ? far : width, width, rows, kind, on_.stream),
                  "cudaMemcpy2DAsync");
      cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    };
    const index_t nx = g.extent.x.hi, ny = g.extent.y.hi;
    if (!g.dense) {
      lines(&g.natural.at(0, 0), g.natural.row, x.data(), nx, ny);
      return;
    }
    for (rrb::Class c : {rrb::r1, rrb::r2, rrb::b1, rrb::b2}) {
      const petscrrb::Range2 n = g.extent.nodes_of(c);
      const auto each = [&](const auto &f) {
        for (index_t i = 0; i < n.size(); ++i)
          f(i, (2 * (i / n.h1) + rrb::parity_y(c)) * nx + 2 * (i % n.h1) + rrb::parity_x(c));
      };
      Vector part(n.size());
      each([&](index_t i, index_t p) { part[i] = x[p]; });
      lines(&g.split[c].at(0, 0), g.split[c].pitch, part.data(), n.h1, n.k1);
      each([&](index_t i, index_t p) { x[p] = part[i]; });
    }
  }

  petscrrb::Cuda on_;
  cuda::Buffer<double> stencil_[6];
  std::unique_ptr<rrb::Factorization> core_;
  std::unique_ptr<dense::SubstructuredInverse> last_;
  bool ok_ = false;
};

struct BelowAGrid : testing::Test {
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) GTEST_SKIP() << "there is no CUDA device";
  }
  int used = 0; // AMLI

  static double scale(const Vector &x, const Vector &y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] * y[i]);
    return sum;
  }

  void expect_energy(const reference::Problem &problem, const Choice &choice) {
    DeviceRRB device(support::converted(problem), choice);
    if (!device.ok() && choice.omega > 0) { // as PCRRB does
      Choice unlumped = choice;
      unlumped.omega = 0;
      return expect_energy(problem, unlumped);
    }
    ASSERT_TRUE(device.ok());
    used += device.core().amli().used;
    for (int g = 1; g <= choice.storage_grids && (!choice.amli_grid || g <= choice.amli_grid); ++g) {
      SCOPED_TRACE("from grid " + std::to_string(g) + (device.core().amli().used ? ", AMLI" : ""));
      const Vector y = device.right_hand_side(g, problem.b), z = device.apply_below(g, y, Energy::yes);
      const double energy = device.energy();
      EXPECT_NEAR(energy, reference::dot(y, z), 1e-13 * scale(y, z));
      EXPECT_EQ(z, device.apply_below(g, y, Energy::no));
      EXPECT_EQ(z, device.apply_below_in_a_graph(g, y));
      EXPECT_EQ(energy, device.energy()) << "in a graph";
    }
  }

  static void expect_solution(const reference::Problem &problem, const Choice &choice) {
    DeviceRRB device(support::converted(problem), choice);
    support::RealRRB host(support::converted(problem), choice);
    const auto ours = device.core().amli(), theirs = host.core().amli();
    EXPECT_EQ(ours.used, theirs.used);
    EXPECT_NEAR(ours.lambda_max, theirs.lambda_max, 1e-6 * theirs.lambda_max);
    const Vector y = device.right_hand_side(1, problem.b), z = device.apply_below(1, y, Energy::yes),
                 expected = host.apply_below(1, y);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      error = std::max(error, std::abs(z[i] - expected[i])), size = std::max(size, std::abs(expected[i]));
    EXPECT_LE(error, 1e-6 * size);
  }
};

template <class Test> void for_each_choice(std::initializer_list<int> levels, const Test &test) {
  for (const int l : levels)
    for (const int dense : {1, l / 2})
      for (int grid = 0; grid < 3 && 2 * grid < l; ++grid)
        for (const auto precision : support::precisions) {
          Choice choice;
          choice.levels = l, choice.storage_grids = dense, choice.amli_grid = grid, choice.precision = precision;
          SCOPED_TRACE("levels " + std::to_string(l) + ", dense " + std::to_string(dense) + ", AMLI's grid " +
                       std::to_string(grid) + support::word(precision));
          test(choice);
        }
}

TEST_F(BelowAGrid, EnergyIsTheProductOfBothVectors) {
  for (const auto &[name, problem] : reference::zoo_and_rings())
    for_each_choice({2, 3, 8}, [&, &name = name, &problem = problem](const Choice &choice) {
      SCOPED_TRACE(name);
      if (choice.levels <= rrb::max_levels(problem.grid.nx, problem.grid.ny)) expect_energy(problem, choice);
    });
  EXPECT_GT(used, 100);
}

TEST_F(BelowAGrid, SolutionIsTheHosts) {
  unsigned seed = 40;
  for (const auto &[nx, ny] : {std::pair{16, 16}, {17, 24}, {33, 29}})
    for (const bool ring_x : {false, true})
      for (const bool ring_y : {false, true})
        for_each_choice({4, 7}, [&, nx = nx, ny = ny](const Choice &choice) {
          SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny));
          expect_solution(reference::random_nine_points({nx, ny, ring_x, ring_y}, 0, 0.01, ++seed), choice);
        });
}

TEST_F(BelowAGrid, ManyBlocksAddToTheEnergy) {
  Choice choice;
  choice.levels = 6, choice.storage_grids = 3, choice.block = 32;
  for (choice.amli_grid = 0; choice.amli_grid < 3; ++choice.amli_grid)
    expect_energy(reference::random_faces({601, 302}, 100), choice);
}

// for the sanitizers
TEST_F(BelowAGrid, Small) {
  const auto problem = reference::random_nine_points({37, 34, false, true}, 0, 0.01, 3);
  for (const int levels : {2, 7, 8}) {
    Choice choice;
    choice.levels = levels, choice.storage_grids = levels / 2, choice.amli_grid = levels > 2 ? 2 : 0;
    expect_energy(problem, choice);
    choice.storage_grids = 1;
    expect_energy(problem, choice);
  }
  EXPECT_GT(used, 0);
}

} // namespace
