// Times relaxation by blocks on a device, as CSV: block_sweeps [types|sets|sizes|counts|grids ...], all without arguments.
// One sweep a call, and three, as in the paper of the method; and how much three sweeps take off the residual of uniform
// random values, which shows whether a chaotic order smooths.
#include "pc/blockrelax/core/blockrelax.hpp"
#include "measure.hpp"
#include "patch_matrix.cuh"

#include <cub/device/device_reduce.cuh>

#include <array>
#include <cmath>
#include <cstring>
#include <string>

namespace petscrrb {
namespace {

using blockrelax::Options;
using blockrelax::Order;
using blockrelax::Patch;
using Sides = std::array<int, 3>;

struct Case {
  const char *group;
  std::string name;
  std::vector<Patch> patches;
  Faces faces;
  Sides block;
};

struct Type {
  const char *name;
  Order order;
  double omega;
  bool symmetric;
};
constexpr Type jacobi{"jacobi", Order::jacobi, 0.8, false}, chaotic{"chaotic", Order::chaotic, 1, false},
    coloured{"coloured", Order::coloured, 1, false}, symmetric{"coloured symmetric", Order::coloured, 1, true},
    undamped{"jacobi undamped", Order::jacobi, 1, false};

std::vector<Patch> patches_of(std::initializer_list<Sides> kinds, int each) {
  std::vector<Patch> patches;
  PetscInt first = 0;
  for (const Sides &n : kinds)
    for (int i = 0; i < each; ++i) {
      patches.push_back({{n[0], n[1], n[2]}, first});
      first += n[0] * n[1] * n[2];
    }
  return patches;
}
Sides cube(int n) { return {n, n, n}; }
std::string text(const Sides &n) {
  return std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]);
}

__global__ void fill_uniform(double *x, index_t n) {
  const index_t p = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p < n) x[p] = Faces::uniform(std::uint64_t(p) + 7);
}
__global__ void square_product(Csr A, const double *x, double *square) {
  const PetscInt row = PetscInt(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= A.n) return;
  double sum = 0;
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e) sum += A.a[e] * x[A.ja[e]];
  square[row] = sum * sum;
}

class Bench {
public:
  Bench() {
    cuda::check(cudaStreamCreateWithFlags(&on_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    clock_ = std::make_unique<Clock>(on_.stream);
    copy_ = copy_bandwidth(on_, *clock_);
  }

  void run(const Case &c, std::initializer_list<Type> types) {
    const PatchMatrix A(c.faces, c.patches, on_.stream);
    const std::size_t n = std::size_t(A.csr().n);
    b_.resize(n), x_.resize(n), square_.resize(n);
    for (const Type &type : types) {
      try {
        run(c, A.csr(), type);
      } catch (const std::exception &e) {
        std::fprintf(stderr, "%s, %s, %s: %s\n", c.group, c.name.c_str(), type.name, e.what());
      }
    }
  }

private:
  void run(const Case &c, const Csr &A, const Type &type) {
    Options options;
    std::copy(c.block.begin(), c.block.end(), options.block);
    options.order = type.order, options.omega = type.omega, options.symmetric = type.symmetric;
    const auto relax = blockrelax::make_blockrelax(on_, {c.patches, 7}, options);
    const blockrelax::Findings found = relax->refresh(A);
    if (found.read.result() != ReadResult::ok || found.pivot != no_row) throw std::runtime_error("no set-up");
    const double residual = smoothing(A, *relax);
    const auto time = [&](int sweeps) {
      const int batch = A.n > (1 << 24) ? 5 : 10;
      return clock_->time([&] { relax->sweep(b_.data(), x_.data(), sweeps, false); }, batch, 9) * 1e-3 / sweeps;
    };
    const double one = time(1), three = time(3);
    const double refresh = clock_->time([&] { (void)relax->refresh(A); }, 1, 3) * 1e-3;
    const double rate = double(A.n) / one * 1e-6, copied = copy_ / bytes_a_cell(c);
    std::printf("%s,%s,%zu,%d,%s,%s,%s,%s,%.5f,%.5f,%.3f,%.3f,%.5e,%.3f,%.3f,%.0f\n", c.group, c.name.c_str(),
                c.patches.size(), int(A.n), c.faces.variable ? "variable" : "constant", text(c.block).c_str(),
                type.name, found.used.c_str(), one, three, rate, rate / copied, residual, refresh, relax->bytes() / A.n,
                copy_);
    std::fflush(stdout);
  }

  // b and x are read and x is written; couplings and diagonals; a factor of a band as wide as a plane of the block, twice.
  static double bytes_a_cell(const Case &c) {
    return c.faces.variable ? 24 + 4 * 8 + 2 * 8 * (c.block[0] * c.block[1] + 1) : 24;
  }

  double smoothing(const Csr &A, blockrelax::BlockRelax &relax) {
    fill_uniform<<<unsigned(x_.size() / 256 + 1), 256, 0, on_.stream>>>(x_.data(), index_t(x_.size()));
    cuda::check_launch("fill_uniform");
    const double before = residual(A);
    relax.sweep(b_.data(), x_.data(), 3, false);
    return residual(A) / before;
  }
  double residual(const Csr &A) {
    cuda::Scratch scratch(on_.stream, std::size_t(1) << 20);
    double *const sum = scratch.take<double>(1);
    square_product<<<unsigned(A.n / 256 + 1), 256, 0, on_.stream>>>(A, x_.data(), square_.data());
    cuda::check_launch("square_product");
    cuda::Room(scratch).use("DeviceReduce", [&](void *memory, std::size_t &bytes) {
      return cub::DeviceReduce::Sum(memory, bytes, square_.data(), sum, A.n, on_.stream);
    });
    double value;
    cuda::check(cudaMemcpyAsync(&value, sum, sizeof value, cudaMemcpyDeviceToHost, on_.stream), "a copy");
    cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    return std::sqrt(value);
  }

  Cuda on_;
  cuda::Buffer<double> b_, x_, square_;
  std::unique_ptr<Clock> clock_;
  double copy_ = 0; // GB/s
};

constexpr Faces alone{false, {}}, together{false, {4, 4, 4}};
constexpr Faces alone_variable{true, {}}, together_variable{true, {4, 4, 4}};

void types(Bench &bench) {
  const std::vector<Patch> patches = patches_of({cube(64)}, 64);
  for (const Faces &faces : {alone, together})
    bench.run({"types", faces.box[0] ? "coupled" : "uncoupled", patches, faces, cube(8)},
              {jacobi, chaotic, coloured, symmetric, undamped});
  for (const Faces &faces : {alone_variable, together_variable})
    bench.run({"types", faces.box[0] ? "coupled" : "uncoupled", patches, faces, cube(8)}, {jacobi, chaotic, coloured});
}

// Table 2 and Figure 8 of the paper
void sets(Bench &bench) {
  for (const int n : {64, 80})
    bench.run({"sets", text(cube(n)), patches_of({cube(n)}, 80), alone, cube(8)}, {jacobi, chaotic});
  bench.run({"sets", "mixed", patches_of({cube(64), cube(72), cube(80), cube(88), cube(96)}, 16), alone, cube(8)},
            {jacobi, chaotic});
  bench.run({"sets", text(cube(96)), patches_of({cube(96)}, 80), alone, cube(8)}, {jacobi, chaotic});
}

// Figures 7 and 9
void sizes(Bench &bench) {
  const std::vector<Patch> patches = patches_of({cube(64)}, 64);
  for (const Sides &block : {Sides{2, 2, 2},
                             {4, 2, 2},
                             {4, 4, 2},
                             {4, 4, 4},
                             {8, 4, 4},
                             {8, 8, 4},
                             {8, 8, 8},
                             {16, 16, 16},
                             {64, 1, 1},
                             {64, 64, 1}})
    bench.run({"sizes", "uncoupled", patches, alone, block}, {jacobi, chaotic});
}

// Figure 6
void counts(Bench &bench) {
  for (const int n : {16, 64})
    for (int count = 1; count <= (n == 16 ? 1024 : 64); count *= n == 16 ? 4 : 2)
      bench.run({"counts", text(cube(n)), patches_of({cube(n)}, count), alone, cube(8)}, {chaotic});
}

void grids(Bench &bench) {
  for (const int n : {256, 257})
    bench.run({"grids", text(cube(n)), patches_of({cube(n)}, 1), alone, cube(8)}, {jacobi, chaotic, coloured});
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  using namespace petscrrb;
  const std::pair<const char *, void (*)(Bench &)> groups[] = {
      {"types", types}, {"sets", sets}, {"sizes", sizes}, {"counts", counts}, {"grids", grids}};
  for (int i = 1; i < argc; ++i)
    if (std::none_of(std::begin(groups), std::end(groups),
                     [&](const auto &g) { return !std::strcmp(argv[i], g.first); })) {
      std::fprintf(stderr, "usage: %s [types|sets|sizes|counts|grids ...]\n", argv[0]);
      return 2;
    }
  try {
    std::puts("group,name,patches,cells,coefficients,block,type,inverse,ms,ms_of_three,gcells_per_s,copy_share,"
              "residual_after_3,refresh_ms,bytes_a_cell,copy_GB_per_s");
    Bench bench;
    for (const auto &[name, run] : groups)
      if (argc == 1 || std::any_of(argv + 1, argv + argc, [&, n = name](const char *a) { return !std::strcmp(a, n); }))
        run(bench);
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
