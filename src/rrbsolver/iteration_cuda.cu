// See iteration_cuda.hpp.
#include "rrbsolver/iteration_cuda.hpp"

#include "backend/cuda_loop.cuh"
#include "rrbsolver/full_cg.hpp"
#include "rrbsolver/schur_loops_cuda.cuh"

namespace petscrrb::rrbsolver {
namespace {

// What a run is told and what it leaves.
struct Run {
  Limits limits;
  int taken; // steps
  bool ended;
  Numbers numbers[DeviceIteration::most_steps];
};

__global__ void begin_run(Run *run, double *scalars, Limits limits) {
  run->limits = limits;
  run->taken = 0;
  run->ended = false;
  scalars[ended] = 0.0;
}

// Whether the host must see a step before the next one: it ends the run, or KSPCG's tests would end the solve.
__device__ bool ends(const Run &run, const Numbers &n) {
  const bool tested = run.taken > run.limits.untested;
  const bool regular = n.curvature > 0.0 && n.rho > 0.0 && isfinite(n.curvature) && isfinite(n.rho) && isfinite(n.norm);
  return run.taken >= run.limits.most || !regular ||
         (tested && (n.norm <= run.limits.below || n.norm >= run.limits.above));
}

constexpr int end_threads = 512;

struct NothingPending {
  template <int> __device__ void add_up(double *, Norm) const {}
};

// One block. run: NULL at the start.
template <class Pending>
__global__ void __launch_bounds__(end_threads)
    end_step(Run *run, double *scalars, Pending pending, Terms terms, Norm norm, cuda::Condition repeat) {
  cuda::await_previous();
  const bool ended_before = run && run->ended;
  double below = 0.0;
  if (!ended_before) {
    pending.template add_up<end_threads>(scalars, norm);
    below = cuda::sum_of<end_threads>(terms);
  }
  if (threadIdx.x != 0) return;
  if (!ended_before) AfterCycle{scalars, below, !run}(0, 0);
  if (!run) return;
  if (!ended_before) {
    const Numbers n = numbers_of(scalars, norm);
    run->numbers[run->taken++] = n;
    run->ended = ends(*run, n);
    scalars[ended] = run->ended;
  }
  repeat.set(!run->ended);
}

template <class Core> device::Pending pending_of(const SchurCG<Cuda, Core> &cg, Norm norm, bool start) {
  return cg.loops().pending(norm, start);
}
template <class Core> NothingPending pending_of(const FullCG<Cuda, Core> &, Norm, bool) { return {}; }

template <class CG> class Iteration final : public DeviceIteration {
public:
  template <class... Ranks>
  Iteration(Cuda &on, Core &core, Loop loop, Ranks *...ranks)
      : on_(on), core_(core), cg_(on, core, ranks...), run_(1), loop_(loop),
        overlap_(cuda::may_overlap(end_step<Pending>)) {}

  void refresh(const PreparedStencil &a) override { cg_.refresh(a); }
  bool positive() const override { return cg_.positive(); }
  int start(const double *r0, Norm norm, const Solve &solve) override {
    return cg_.start(r0, norm, solve, [&](const Terms &below) { end(nullptr, below, norm, {}); });
  }
  Numbers started(Norm norm) const override { return numbers_of(cg_.scalars().read(on_), norm); }
  int run(Norm norm, const Limits &limits, bool captured, const Solve &solve, std::vector<Numbers> &steps) override {
    Limits l = limits;
    l.most = captured ? std::min(l.most, most_steps) : 1;
    begin_run<<<1, 1, 0, on_.stream>>>(run_.data(), cg_.scalars().data(), l);
    cuda::check_launch("begin_run");
    int error = 0;
    if (!captured) {
      error = take_step(norm, solve, {});
      if (!error) read(steps);
    } else
      launch(norm, solve, steps);
    return error;
  }
  int resume(const Solve &solve) override { return cg_.resume(solve); }
  void settle() override { cg_.settle(); }
  void drop_step() override { cg_.drop_step(); }
  void solution(const double *r0, double *x, bool add) const override { cg_.solution(r0, x, add); }
  std::size_t bytes() const override { return cg_.bytes() + run_.bytes(); }

private:
  static constexpr int few = 4; // steps that are launched before the host looks

  using Pending = decltype(pending_of(std::declval<CG>(), Norm::none, true));

  int take_step(Norm norm, const Solve &solve, cuda::Condition repeat) {
    return cg_.step(norm, solve, [&](const Terms &below) { end(run_.data(), below, norm, repeat); });
  }
  void end(Run *run, const Terms &below, Norm norm, cuda::Condition repeat) {
    const auto pending = pending_of(cg_, norm, !run);
    cuda::launch("the end of a step", end_step<Pending>, overlap_, 1, end_threads, 0, on_.stream, run,
                 cg_.scalars().data(), pending, below, norm, repeat);
  }

  void launch(Norm norm, const Solve &solve, std::vector<Numbers> &steps) {
    if (graph_.empty() || norm_ != norm || amli_ != core_.amli().used) {
      graph_.capture(on_, loop_ == Loop::automatic,
                     [&](cuda::Condition repeat) { (void)take_step(norm, solve, repeat); });
      norm_ = norm;
      amli_ = core_.amli().used;
    }
    cg_.steps_taken();
    int times = !CG::may_overrun ? 1 : expected_ ? expected_ : few;
    do {
      graph_.launch(on_, times);
      if (read(steps)) {
        expected_ = int(steps.size());
        return;
      }
      times = CG::may_overrun ? few / 2 : 1;
    } while (!graph_.repeats());
    throw std::runtime_error("the RRB-solver's loop on the device stopped before its end");
  }

  // Adds what came of the steps that are taken since the last time; true: the run has ended. The first ones come with
  // what says how many there are.
  bool read(std::vector<Numbers> &steps) {
    constexpr int first = 32;
    const auto copy = [&](int from, int to) {
      const char *source = reinterpret_cast<const char *>(run_.data());
      const std::size_t begin = from ? offsetof(Run, numbers) + from * sizeof(Numbers) : 0,
                        end = offsetof(Run, numbers) + to * sizeof(Numbers);
      cuda::check(cudaMemcpyAsync(reinterpret_cast<char *>(report_.data()) + begin, source + begin, end - begin,
                                  cudaMemcpyDeviceToHost, on_.stream),
                  "cudaMemcpyAsync");
      cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    };
    const Run &run = *report_.data();
    copy(0, first);
    if (run.taken > first) copy(first, run.taken);
    steps.assign(run.numbers, run.numbers + run.taken);
    return run.ended;
  }

  Cuda &on_;
  Core &core_;
  CG cg_;
  cuda::Buffer<Run> run_;
  cuda::Pinned<Run> report_;
  Loop loop_;
  bool overlap_;           // a kernel may start before the one before it has ended
  cuda::Loop graph_;       // of a step
  int expected_ = 0;       // steps of the last run
  Norm norm_ = Norm::none; // what was captured, with
  bool amli_ = false;
};

struct IdentityRow {
  const unsigned char *identity;
  const double *diagonal, *b;
  double *x;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    if (identity[i]) x[i] = b[i] / diagonal[i];
  }
};

} // namespace

std::unique_ptr<DeviceIteration> make_device_iteration(Cuda &on, DeviceIteration::Core &core, bool full,
                                                       DeviceIteration::Loop loop) {
  if (full) return std::make_unique<Iteration<FullCG<Cuda, DeviceIteration::Core>>>(on, core, loop);
  return std::make_unique<Iteration<SchurCG<Cuda, DeviceIteration::Core>>>(on, core, loop);
}

std::unique_ptr<DeviceIteration> make_device_iteration(Cuda &on, DeviceIteration::Core &core, BlackRanks &ranks,
                                                       DeviceIteration::Loop loop) {
  return std::make_unique<Iteration<SchurCG<Cuda, DeviceIteration::Core>>>(on, core, loop, &ranks);
}

void set_identity_rows(const Cuda &on, index_t n, const unsigned char *identity, const double *diagonal,
                       const double *b, double *x) {
  on.for_each({0, n, 0, 1}, IdentityRow{identity, diagonal, b, x});
}

} // namespace petscrrb::rrbsolver
