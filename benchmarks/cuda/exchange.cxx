// Times what ranks with a device each exchange: mpiexec -n 2 exchange, or on any even number of them. CSV.
#include "exec/cuda/graph.hpp"
#include "comm/nccl.h"
#include "comm/ranks_cuda.h"

#include <petscdevice.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace petscrrb {
namespace {

using Work = std::function<void()>;

constexpr int in_graph = 20, batch = 10 * in_graph, batches = 15;

struct Problem {
  MPI_Comm comm;
  Cuda &on;
  int ranks, rank;
};

void wait() { cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); } // for PETSc's stream, too

// Microseconds of one of the `calls` that each work() enqueues: the median of some batches, of the rank that takes longest.
double time(const Problem &p, const Work &work, int calls) {
  std::vector<double> us(batches);
  for (int warm_up = 0; warm_up < 3; ++warm_up) work();
  for (double &t : us) {
    wait();
    MPI_Barrier(p.comm);
    work(); // no rank is ahead any more
    const double start = MPI_Wtime();
    for (int i = 0; i < batch / calls; ++i) work();
    wait();
    t = 1e6 * (MPI_Wtime() - start) / batch;
    MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, p.comm);
  }
  std::sort(us.begin(), us.end());
  return us[batches / 2];
}

void row(const Problem &p, const char *transport, const char *operation, index_t values, int neighbours, bool graph,
         double us) {
  if (p.rank) return;
  std::printf("%d,%s,%s,%lld,%d,%d,%.2f\n", p.ranks, transport, operation, (long long)values, neighbours, graph, us);
  std::fflush(stdout);
}

void time_both(const Problem &p, const char *transport, const char *operation, index_t values, int neighbours,
               const Work &work, bool only_enqueues) {
  row(p, transport, operation, values, neighbours, false, time(p, work, 1));
  if (!only_enqueues) return;
  cuda::Graph graph;
  graph.capture(p.on, [&] {
    for (int i = 0; i < in_graph; ++i) work();
    return 0;
  });
  row(p, transport, operation, values, neighbours, true,
      time(
          p, [&] { graph.launch(p.on); }, in_graph));
}

// n values to each neighbour, which are columns of a box: none shares its 32 bytes with another.
struct Column {
  static constexpr index_t apart = 4;
  rrb::Plan plan;

  Column(const Problem &p, index_t n, int neighbours) {
    index_t place = 0;
    for (int k = 1; k <= neighbours; ++k, place += 2 * n * apart) {
      rrb::Plan::Peer peer{p.rank ^ k, {}, {}, {}};
      const index_t theirs = 2 * n * apart * (k - 1);
      for (index_t i = 0; i < n; ++i) {
        peer.send.push_back(place + apart * i);
        peer.fill.push_back(place + apart * (n + i));
        peer.from.push_back(theirs + apart * i);
      }
      plan.peers.push_back(std::move(peer));
    }
    std::sort(plan.peers.begin(), plan.peers.end(), [](const auto &a, const auto &b) { return a.rank < b.rank; });
  }
  static std::size_t size(index_t n, int neighbours) { return std::size_t(2 * n * apart * neighbours); }
};

const std::vector<index_t> lengths = {1, 512, 4096, 16384, 65536};
std::vector<int> numbers_of_neighbours(const Problem &p) {
  return p.ranks % 4 ? std::vector<int>{1} : std::vector<int>{1, 3};
}

void time_exchanges(const Problem &p, const char *transport, rrb::Ranks &ranks, const std::vector<Column> &columns) {
  std::size_t next = 0;
  for (const int neighbours : numbers_of_neighbours(p))
    for (const index_t n : lengths) {
      const rrb::Plan &plan = columns[next++].plan;
      const cuda::Buffer<double> x(Column::size(n, neighbours));
      ranks.prepare(plan);
      time_both(
          p, transport, "exchange", n, neighbours, [&] { ranks.exchange(plan, x.data()); }, ranks.only_enqueue());
    }
}

// Of all ranks together: 1 each, then squares; once more where one rank has a value more than the others.
void time_gathers(const Problem &p, const char *transport, rrb::Ranks &ranks) {
  for (const bool equal : {true, false})
    for (const index_t side : {1, 64, 256, 512, 1024}) {
      const index_t own = std::max<index_t>(1, side * side / p.ranks);
      std::vector<index_t> n(std::size_t(p.ranks), own);
      if (!equal) ++n[0];
      const cuda::Buffer<double> mine(std::size_t(own) + 1), all(std::size_t(own * p.ranks) + 1);
      ranks.gather(mine.data(), n, all.data());
      time_both(
          p, transport, equal ? "gather" : "gather of unequal parts", own * p.ranks + !equal, p.ranks - 1,
          [&] { ranks.gather(mine.data(), n, all.data()); }, ranks.only_enqueue());
    }
}

// The messages alone.
void time_messages(const Problem &p) {
#if PETSCRRB_NCCL
  std::shared_ptr<nccl::Communicator> nccl;
  std::string why_not;
  if (PetscRRBGetNccl(p.comm, &nccl, &why_not) != PETSC_SUCCESS || !nccl) return;
  for (const int neighbours : numbers_of_neighbours(p))
    for (const index_t n : lengths) {
      const cuda::Buffer<double> from(std::size_t(neighbours * n)), to(std::size_t(neighbours * n));
      const auto send = [&] {
        nccl::group([&] {
          for (int k = 1; k <= neighbours; ++k) {
            nccl->send(from.data() + (k - 1) * n, n, p.rank ^ k, p.on.stream);
            nccl->receive(to.data() + (k - 1) * n, n, p.rank ^ k, p.on.stream);
          }
        });
      };
      send();
      time_both(p, "nccl", "message", n, neighbours, send, true);
    }
#else
  (void)p;
#endif
}

using Create = PetscErrorCode(MPI_Comm, const Cuda &, std::unique_ptr<rrb::Ranks> *, std::string *);

void run(MPI_Comm comm) {
  Cuda on;
  Problem p{comm, on, 0, 0};
  MPI_Comm_size(comm, &p.ranks);
  MPI_Comm_rank(comm, &p.rank);
  if (p.ranks % 2) throw std::runtime_error("an even number of ranks is needed: mpiexec -n 2 ...");
  cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  std::vector<Column> columns; // plans live as long as the ranks
  for (const int neighbours : numbers_of_neighbours(p))
    for (const index_t n : lengths) columns.emplace_back(p, n, neighbours);

  if (!p.rank) std::puts("ranks,transport,operation,values,neighbours,in_graph,microseconds");
  const std::pair<const char *, Create *> transports[] = {{"nccl", PetscRRBCreateRanksNccl},
                                                          {"nccl_lsa", PetscRRBCreateRanksStoresNccl},
                                                          {"cuda_ipc", PetscRRBCreateRanksStores},
                                                          {"petscsf", PetscRRBCreateRanksSF}};
  for (const auto &[name, create] : transports) {
    std::unique_ptr<rrb::Ranks> ranks;
    std::string why_not;
    if (create(comm, on, &ranks, &why_not) != PETSC_SUCCESS) throw std::runtime_error(std::string(name) + " failed");
    if (!ranks && !p.rank) std::fprintf(stderr, "no %s: %s\n", name, why_not.c_str());
    if (!ranks) continue;
    time_exchanges(p, name, *ranks, columns);
    time_gathers(p, name, *ranks);
  }
  time_messages(p);
  cuda::check(cudaStreamDestroy(on.stream), "cudaStreamDestroy");
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  // these messages have no use for NVLink's multicast, which NCCL would set up and which not every machine has in order
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  (void)PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0");
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  MPI_Comm comm;
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &comm, nullptr));
  try {
    petscrrb::run(comm);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(comm, 1);
  }
  PetscCall(PetscCommDestroy(&comm));
  PetscCall(PetscFinalize());
  return 0;
}
