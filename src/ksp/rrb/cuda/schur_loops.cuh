// An iteration's loops over the finest grid on a device.
#pragma once

#include "exec/cuda/shape.cuh"
#include "exec/cuda/sums.cuh"
#include "ksp/rrb/cuda/schur_ends.cuh"
#include "ksp/rrb/cuda/schur_product.cuh"
#include "ksp/rrb/cuda/schur_sweeps.cuh"

namespace petscrrb::rrbsolver {

// The array of two that an uncounted step has written, after so many counted ones.
struct PingPong {
  Dense even, odd;
  const double *steps;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return int(*steps) % 2 ? even(h, k) : odd(h, k); }
};

template <> class SchurLoops<Cuda> {
public:
  explicit SchurLoops(const BlackLevel &level)
      : x_(level.extent), layout_(level.layout), several_(level.around > 0), own_(own_box()),
        stored_(stored_box(level)), overlap_(cuda::may_overlap(device::product)) {
    for (auto &sum : sums_) sum.reserve(index_t(across(stored_, 1)) * (stored_.k1 - stored_.k0));
  }

  void eliminate_red(const Cuda &on, const SchurVectors<Cuda> &x, const double *r0, Norm norm) {
    start(norms);
    with_factor(x.level, [&](auto factor) {
      with_natural(x, r0, nullptr, [&](const auto &natural, auto scaled) {
        const auto eliminate = [&](const auto &from) {
          using F =
              device::EliminateRed<Value<decltype(factor)>, decltype(scaled)::value, std::decay_t<decltype(from)>>;
          launch<1>(on, own_, device::eliminate_red<F>, [&](int blocks) {
            const F f{red_factor(x), factor, from, natural, arrays(x.r), own_, norm};
            return std::tuple(f, take(norms, blocks));
          });
        };
        if (several_)
          eliminate(device::BoxRight{device::arrays(x.r0)});
        else
          eliminate(natural);
      });
    });
  }
  void correct(const Cuda &on, const SchurVectors<Cuda> &x, const double *a, const double *r0, double *to,
               bool add) const {
    with_natural(x, r0, to, [&](const auto &natural, auto scaled) {
      using F = device::Correct<decltype(scaled)::value>;
      launch<1>(
          on, own_, device::correct<F>,
          [&](int) {
            return std::tuple(F{red_factor(x), natural, vector(arrays(x.p)), vector(arrays(x.delta)), own_, add}, a);
          },
          false);
    });
  }
  void direction(const Cuda &on, const SchurVectors<Cuda> &x) const {
    with_factor(x.level, [&](auto factor) {
      with_solution(x.level.solution, [&](auto z) {
        using T = Value<decltype(factor)>;
        constexpr bool several = std::is_same_v<decltype(z), device::BoxNext>;
        with_form<several, T>(x, [&](auto eisenstat) {
          using F = device::Direction<T, decltype(z), decltype(eisenstat)::value>;
          launch_ahead<F>(on, stored_, device::direction<F>, [&](int) {
            return std::tuple(F{factor, arrays(x.r), arrays(x.p), arrays(x.delta), z, stored_}, x.scalars.data());
          });
        });
      });
    });
  }
  void product(const Cuda &on, const SchurVectors<Cuda> &x) {
    const device::Arrays<const double> s1 = s1_arrays(x, 0);
    start(curvatures);
    const auto with = [&](const auto &f) {
      return [&](int blocks) { return std::tuple(f, take(curvatures, blocks), x.scalars.data()); };
    };
    if (x.eisenstat) {
      choose(x.s1.kind, [&](auto by_kinds) {
        using F = device::EisenstatProduct<decltype(by_kinds)::value>;
        launch<device::Columns::per_warp, 32>(on, own_, device::eisenstat_product<decltype(by_kinds)::value>,
                                              with(F{s1, arrays(x.p), arrays(x.q), own_, x.s1.kind, x.s1.values}), true,
                                              F::Ahead::bytes, most_repeated_rows, 3.0);
      });
    } else {
      using F = device::Product;
      launch_ahead<F>(on, own_, device::product, with(F{s1, vector(arrays(x.p)), arrays(x.q), own_}));
    }
    curvatures_ = sums_[curvatures].terms();
  }
  Sums product_sums(const SchurVectors<Cuda> &x) const {
    Sums sums;
    sums.add(curvatures_, x.scalars.data() + curvature_b1);
    return sums;
  }
  // few are added by residual(), if it has a block
  void product_added(const Cuda &on, const SchurVectors<Cuda> &x) {
    if (several_) curvatures_ = {x.scalars.data() + curvature_b1, 1};
    if (few_curvatures().count && !x_.empty()) return;
    cuda::launch("the RRB-solver", device::add_curvatures, overlap_, 1, device::add_threads, 0, on.stream, curvatures_,
                 x.scalars.data());
  }
  void residual(const Cuda &on, const SchurVectors<Cuda> &x, bool at_start, Norm norm) {
    start(energies);
    if (norm == Norm::unpreconditioned) start(norms);
    with_factor(x.level, [&](auto factor) {
      with_right_hand_side(x.level.right_hand_side, [&](auto y, auto several) {
        using T = Value<decltype(factor)>;
        with_form<decltype(several)::value, T>(x, [&](auto eisenstat) {
          using F = device::Residual<T, decltype(y), decltype(several)::value, decltype(eisenstat)::value>;
          const F f{factor,
                    s1_arrays(x, device::skew),
                    vector(arrays(x.r)),
                    vector(arrays(x.q)),
                    y,
                    residual_box(),
                    x.v,
                    natural_box(),
                    own_.nodes[b1]};
          const auto arguments = [&](int blocks) {
            return std::tuple(f, at_start, few_curvatures(), take(energies, blocks),
                              norm == Norm::unpreconditioned ? take(norms, blocks) : device::Sum(), x.scalars.data());
          };
          if (norm == Norm::unpreconditioned)
            launch_ahead<F>(on, stored_, device::residual<true, F>, arguments);
          else
            launch_ahead<F>(on, stored_, device::residual<false, F>, arguments);
        });
      });
    });
  }
  Sums residual_sums(const SchurVectors<Cuda> &x, Norm norm, bool at_start) const {
    Sums sums;
    sums.add(sums_[energies].terms(), x.scalars.data() + energy_b1);
    if (at_start || norm == Norm::unpreconditioned)
      sums.add(sums_[norms].terms(), x.scalars.data() + (norm == Norm::natural ? energy_r1 : squares_b1));
    return sums;
  }
  PingPong r_b1(const SchurVectors<Cuda> &x) const { return {x.r[b1], x.r_odd, x.scalars.at(steps)}; }
  std::size_t bytes() const { return sums_[0].bytes() + sums_[1].bytes() + sums_[2].bytes(); }

private:
  enum Sum {
    curvatures,
    energies,
    norms
  };

  device::Box own_box() const {
    device::Box box = device::box_of(x_, layout_);
    if (several_) box.x = box.y = {}; // what is around a ring is around the box
    return box;
  }
  // With what is kept around. Rows begin at a cache line, as they do in the box, where the border has room for that.
  device::Box stored_box(const BlackLevel &level) const {
    device::Box box = own_;
    if (!several_ || x_.empty()) return box;
    for (Class c : {b1, b2}) {
      const Range2 n = widened(x_, level.around).nodes_of(c);
      box.nodes[c] = {int(n.h0), int(n.h1), int(n.k0), int(n.k1)};
      box.h1 = std::max(box.h1, int(n.h1));
      box.k0 = std::min(box.k0, int(n.k0)), box.k1 = std::max(box.k1, int(n.k1));
    }
    box.h0 -= layout_.border > cache_line ? cache_line : 2;
    return box;
  }
  // r of b2 is that of own nodes.
  device::Box residual_box() const {
    device::Box box = stored_;
    box.nodes[b2] = own_.nodes[b2];
    return box;
  }

  // blocks across, of which so many threads have so many columns
  static int across(const device::Box &box, int columns, int threads = 1) {
    const int of_block = columns * device::threads / threads;
    return (box.h1 - box.h0 + of_block - 1) / of_block;
  }
  // b1, b2 and, of r, b1 of odd steps
  device::Arrays<double> arrays(const Quad<Dense> &q) const { return {q[b1].p, layout_.size(), int(q[b1].pitch)}; }
  device::Vector vector(const device::Arrays<double> &a) const { return {a, own_.x, own_.y}; }
  // those that the next kernel adds by itself
  Terms few_curvatures() const { return curvatures_.count <= device::few_terms ? curvatures_ : Terms(); }
  void start(Sum i) { sums_[i].start(); }
  device::Sum take(Sum i, int blocks) { return sums_[i].template take<device::threads>(blocks); }

  device::RedFactor red_factor(const SchurVectors<Cuda> &x) const {
    const auto &w = x.s1.red.w;
    return {{w[0].q[r1].p, layout_.size(), int(w[0].q[r1].pitch)}, int((w[1].q[r1].p - w[0].q[r1].p) / layout_.size())};
  }
  // of S1, from its so many-th array on
  device::Arrays<const double> s1_arrays(const SchurVectors<Cuda> &x, int first) const {
    const Dense &s1 = x.s1.s.X[b1];
    return {s1.p + first * layout_.size(), layout_.size(), int(s1.pitch)};
  }
  device::NaturalBox natural_box() const {
    return {int(x_.x.lo), int(x_.y.lo), int(x_.x.hi - x_.x.lo), int(x_.y.hi - x_.y.lo)};
  }
  // f(r and z in natural order, whether they are scaled by v)
  template <class F> void with_natural(const SchurVectors<Cuda> &x, const double *r, double *z, const F &f) const {
    const auto around = [&](const Side &s) { return several_ ? device::Around() : device::around(s, 1); };
    const device::Around around_x = around(x_.x), around_y = around(x_.y);
    choose(x.v, [&](auto scaled) {
      using Vector = device::NaturalVector<decltype(scaled)::value>;
      f(Vector{r, x.v, z, x.v, natural_box(), around_x, around_y}, scaled);
    });
  }
  // f(the factor's arrays), of so precise values
  template <class Arrays> using Value = std::remove_const_t<std::remove_pointer_t<decltype(Arrays::p)>>;
  template <class F> static void with_factor(const BlackLevel &level, const F &f) {
    level.with_factor([&](const auto &factor) {
      const auto &w = factor.w[0].q[r1];
      f(device::Arrays<const std::remove_pointer_t<decltype(w.p)>>{w.p, level.layout.size(), int(w.pitch)});
    });
  }
  // f(b2 where it continues)
  template <class F> void with_solution(const NextGrid &next, const F &f) const {
    if (several_)
      f(device::BoxNext{next.natural.p, int(next.natural.row)});
    else if (next.dense)
      f(device::dense_next(x_, next));
    else
      f(device::natural_next(x_, next));
  }
  // f(the same, whether there are several ranks)
  template <class F> void with_right_hand_side(const NextGrid &next, const F &f) const {
    choose(several_, [&](auto several) {
      if (next.dense)
        f(device::dense_next(x_, next), several);
      else
        f(device::natural_next(x_, next), several);
    });
  }
  // f(whether it is Eisenstat's, which is for one rank and a factor in double precision)
  template <bool several, class T, class F> static void with_form(const SchurVectors<Cuda> &x, const F &f) {
    if constexpr (several || !std::is_same_v<T, double>)
      f(std::false_type{});
    else
      choose(x.eisenstat, f);
  }
  // a kernel of two columns a thread, which fetches rows ahead
  template <class F, class Kernel, class Arguments>
  void launch_ahead(const Cuda &on, const device::Box &box, Kernel *kernel, const Arguments &arguments) const {
    launch<2>(on, box, kernel, arguments, true, F::Ahead::bytes);
  }
  // columns: of so many threads. arguments(blocks): the kernel's, a tuple, but for the rows of a thread. waits: by itself
  // for the kernel before it. repeated: a part works on so many rows besides its own
  template <int columns, int threads = 1, class Kernel, class Arguments>
  void launch(const Cuda &on, const device::Box &box, Kernel *kernel, const Arguments &arguments, bool waits = true,
              int shared = 0, int most = most_rows, double repeated = 0.5) const {
    if (x_.empty()) return;
    const int across = SchurLoops::across(box, columns, threads), along = box.k1 - box.k0;
    const int rows =
        cuda::rows_of_part(across, along, cuda::resident_blocks(kernel, device::threads, shared), most, repeated);
    const dim3 blocks(across, (along + rows - 1) / rows);
    std::apply(
        [&](const auto &...a) {
          cuda::launch("the RRB-solver", kernel, overlap_ && waits, blocks, device::threads, shared, on.stream, a...,
                       rows);
        },
        arguments(int(blocks.x * blocks.y)));
  }

  static constexpr int most_rows = 16, most_repeated_rows = 64, cache_line = 16; // of doubles

  Extent x_;
  DenseLayout layout_;
  bool several_; // ranks
  device::Box own_, stored_;
  bool overlap_; // a kernel may start before the one before it has ended
  PartialSum<Cuda> sums_[3];
  Terms curvatures_; // of the sum of p q
};

} // namespace petscrrb::rrbsolver
