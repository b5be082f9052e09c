// Runs a form of conjugate gradients on a device: steps in a graph that ends by itself.
#pragma once

#include "exec/cuda/loop.cuh"
#include "exec/cuda/sums.cuh"
#include "exec/cuda/wait.cuh"
#include "exec/timeout.hpp"
#include "ksp/rrb/core/step.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace petscrrb::rrbsolver {

// What a run is told and what it leaves.
struct Run {
  Limits limits;
  unsigned long long limit, clock;     // of a step, in ns, 0: none; when the last one ended
  int taken;                           // steps
  bool ended, late;                    // late: the last step took longer than its limit
  static constexpr int most = 1 << 12; // steps
  Numbers numbers[most];
};

static __global__ void begin_run(Run *run, double *scalars, Limits limits, unsigned long long limit) {
  run->limits = limits;
  run->limit = limit;
  run->clock = cuda::nanoseconds();
  run->taken = 0;
  run->ended = run->late = false;
  scalars[ended] = 0.0;
}

// Whether the host must see a step before the next one: it ends the run, or KSPCG's tests would end the solve.
__device__ inline bool ends(const Run &run, const Numbers &n) {
  const bool tested = run.taken > run.limits.untested;
  const bool regular = n.curvature > 0.0 && n.rho > 0.0 && isfinite(n.curvature) && isfinite(n.rho) && isfinite(n.norm);
  return run.taken >= run.limits.most || !regular ||
         (tested && (n.norm <= run.limits.below || n.norm >= run.limits.above));
}

constexpr int end_threads = 512;

// One block. run: NULL at the start; left: what the form has left to be added.
static __global__ void __launch_bounds__(end_threads)
    end_step(Run *run, double *scalars, const __grid_constant__ Sums left, Terms terms, Norm norm,
             cuda::Condition repeat) {
  cuda::await_previous();
  const bool ended_before = run && run->ended;
  double below = 0.0;
  if (!ended_before) {
    for (int i = 0; i < left.count; ++i) {
      const double sum = cuda::sum_of<end_threads>(left.terms[i]);
      if (threadIdx.x == 0) *left.to[i] = sum;
    }
    below = cuda::sum_of<end_threads>(terms);
  }
  if (threadIdx.x != 0) return;
  if (!ended_before) AfterCycle{scalars, below, !run}(0, 0);
  if (!run) return;
  if (!ended_before) {
    const Numbers n = numbers_of(scalars, norm);
    const unsigned long long now = cuda::nanoseconds();
    run->numbers[run->taken++] = n;
    run->late = run->limit && now - run->clock > run->limit;
    run->clock = now;
    run->ended = run->late || ends(*run, n);
    scalars[ended] = run->ended;
  }
  repeat.set(!run->ended);
}

template <class CG> class IterationOnDevice final : public CG {
public:
  using typename CG::Loop;
  using typename CG::Solve;

  template <class... With>
  explicit IterationOnDevice(Cuda &on, Loop loop, With &&...with)
      : CG(on, std::forward<With>(with)...), on_(on), run_(1), loop_(loop), overlap_(cuda::may_overlap(end_step)) {}

  int start(const double *r0, Norm norm, const Solve &solve) override {
    return CG::start(r0, norm, solve, [&](const Terms &below) { end(nullptr, below, norm, {}); });
  }
  Numbers started(Norm norm) const override { return numbers_of(CG::scalars().read(on_), norm); }
  int run(Norm norm, const Limits &limits, bool captured, const Solve &solve, std::vector<Numbers> &steps) override {
    int error = captured ? capture(norm, solve) : 0;
    if (error) return error;
    begin(limits, captured);
    if (captured) {
      launch(steps);
      return 0;
    }
    error = take_step(norm, solve, {});
    if (!error) (void)read(steps);
    return error;
  }
  int resume(const Solve &solve) override { return CG::resume(solve); }
  std::size_t bytes() const override { return CG::bytes() + run_.bytes(); }

private:
  // Steps that are launched at once, where nobody knows how many there are and where those of the last run are expected. After the end of a
  // run there are less than twice as many more: they change nothing, but take time.
  static constexpr int few = 4, many = 8;

  // The steps of a graph wait for nothing of the host, so that each of them has a limit.
  void begin(const Limits &limits, bool captured) {
    Limits l = limits;
    l.most = captured ? std::min(l.most, Run::most) : 1;
    const auto limit = captured ? static_cast<unsigned long long>(1e9 * timeout.load()) : 0;
    begin_run<<<1, 1, 0, on_.stream>>>(run_.data(), CG::scalars().data(), l, limit);
    cuda::check_launch("begin_run");
  }
  int take_step(Norm norm, const Solve &solve, cuda::Condition repeat) {
    return CG::step(norm, solve, [&](const Terms &below) { end(run_.data(), below, norm, repeat); });
  }
  void end(Run *run, const Terms &below, Norm norm, cuda::Condition repeat) {
    cuda::launch("the end of a step", end_step, overlap_, 1, end_threads, 0, on_.stream, run, CG::scalars().data(),
                 CG::pending(norm, !run), below, norm, repeat);
  }

  // A step that ends without an error has launched end_step(), which sets the condition. That of a loop by itself is made once a run has
  // shown how many there are.
  int capture(Norm norm, const Solve &solve) {
    const auto step = [&](cuda::Condition repeat) { return take_step(norm, solve, repeat); };
    if (!graph_.empty() && norm_ == norm && version_ == CG::version())
      return expected_ < 2 || graph_.has_step() ? 0 : graph_.capture_step(on_, step);
    norm_ = norm;
    version_ = CG::version();
    return graph_.capture(on_, loop_ == Loop::automatic, step);
  }
  void launch(std::vector<Numbers> &steps) {
    CG::steps_taken();
    int times = expected_ ? expected_ - expected_ / 16 : few; // of those that are expected the last ones by the loop
    do {
      if (graph_.has_step()) launch_steps(times - graph_.repeats());
      if (graph_.repeats()) graph_.launch(on_);
      if (read(steps)) {
        expected_ = int(steps.size());
        return;
      }
      times = few / 2;
    } while (!graph_.repeats());
    throw std::runtime_error("the RRB-solver's loop on the device stopped too early");
  }
  // So many or, once the run has ended, fewer. All ranks launch equally many: whether the run has ended before those that were launched last is the
  // same on all of them, whenever they look.
  void launch_steps(int times) {
    for (int launched = 0; launched < times; launched += many) {
      graph_.launch_steps(on_, std::min(times - launched, many));
      if (launched > 0 && wait_for_look() < launched) return;
      if (launched + many < times) look();
    }
  }
  // How many steps there will have been when all is done that is launched by now.
  void look() {
    if (!look_) look_ = std::make_unique<Look>();
    look_->launched.let_wait(look_->after.get(), on_.stream);
    copy_taken(looked_.data(), look_->after.get());
  }
  int wait_for_look() {
    wait_for_steps(look_->after.get());
    return *looked_.data();
  }
  // as long as the device goes on taking some
  void wait_for_steps(cudaStream_t stream) {
    int seen = 0;
    cuda::wait_for(stream, "a step of the RRB-solver on the device, which did not finish", [&] {
      const int before = std::exchange(seen, steps_so_far());
      return seen > before;
    });
  }

  // Adds what came of the steps that are taken since the last time; true: the run has ended. The first ones come with
  // what says how many there are.
  bool read(std::vector<Numbers> &steps) {
    constexpr int first = 32;
    const auto copy = [&](int from, int to) {
      const char *source = reinterpret_cast<const char *>(run_.data());
      const std::size_t begin = from ? offsetof(Run, numbers) + from * sizeof(Numbers) : 0,
                        end = offsetof(Run, numbers) + to * sizeof(Numbers);
      cuda::bring(reinterpret_cast<char *>(report_.data()) + begin, source + begin, end - begin, on_.stream);
      wait_for_steps(on_.stream);
    };
    const Run &run = *report_.data();
    copy(0, first);
    if (run.late) throw TimedOut("a step of the RRB-solver on the device, which finished too late");
    if (run.taken > first) copy(first, run.taken);
    steps.assign(run.numbers, run.numbers + run.taken);
    return run.ended;
  }

  // While the device takes them.
  int steps_so_far() {
    copy_taken(so_far_.data(), beside_.get());
    cuda::check(cudaStreamSynchronize(beside_.get()), "cudaStreamSynchronize");
    return *so_far_.data();
  }
  void copy_taken(int *to, cudaStream_t stream) const {
    const char *from = reinterpret_cast<const char *>(run_.data()) + offsetof(Run, taken);
    cuda::check(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  }

  Cuda &on_;
  cuda::Buffer<Run> run_;
  cuda::Pinned<Run> report_;
  cuda::Pinned<int> so_far_, looked_; // steps, while the device takes them and by a look
  cuda::Stream beside_;
  struct Look {
    cuda::Stream after;
    cuda::Event launched;
  };
  std::unique_ptr<Look> look_; // where a run has had many steps
  Loop loop_;
  bool overlap_;           // a kernel may start before the one before it has ended
  cuda::Loop graph_;       // of a step
  int expected_ = 0;       // steps of the last run
  Norm norm_ = Norm::none; // what was captured, with
  long version_ = 0;
};

} // namespace petscrrb::rrbsolver
