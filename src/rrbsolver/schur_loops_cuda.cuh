// An iteration's loops over the finest grid on a device.
#pragma once

#include "backend/cuda_shape.cuh"
#include "backend/scalars_cuda.cuh"
#include "rrbsolver/schur_direction.cuh"
#include "rrbsolver/schur_ends.cuh"
#include "rrbsolver/schur_residual.cuh"

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
      : x_(level.extent), layout_(level.layout), box_(rrb::device::box_of(x_, layout_)),
        overlap_(cuda::may_overlap(device::product)) {
    for (auto &sum : sums_) sum.reserve(index_t(across(1)) * layout_.rows);
  }

  void eliminate_red(const Cuda &on, const SchurVectors<Cuda> &x, const double *r0, Norm norm) {
    x.level.with_factor([&](const auto &factor) {
      with_natural(x, r0, nullptr, [&](const auto &natural, auto scaled) {
        const auto arrays_of_factor = factor_arrays(factor);
        using T = std::remove_const_t<std::remove_pointer_t<decltype(arrays_of_factor.p)>>;
        using F = device::EliminateRed<T, decltype(scaled)::value>;
        launch<1>(on, device::eliminate_red<F>, [&](int blocks) {
          const F f{red_arrays(x), arrays_of_factor, natural, r_arrays(x), box_, norm};
          return std::tuple(f, take(norms, blocks));
        });
      });
    });
  }
  void correct(const Cuda &on, const SchurVectors<Cuda> &x, const double *a, const double *r0, double *to,
               bool add) const {
    with_natural(x, r0, to, [&](const auto &natural, auto scaled) {
      using F = device::Correct<decltype(scaled)::value>;
      launch<1>(
          on, device::correct<F>,
          [&](int) {
            return std::tuple(F{red_arrays(x), natural, vector(arrays(x.p)), vector(arrays(x.delta)), box_, add}, a);
          },
          false);
    });
  }
  void direction(const Cuda &on, const SchurVectors<Cuda> &x) const {
    with_level(x.level, x.level.solution, [&](auto factor, auto z) {
      using F = device::Direction<std::remove_const_t<std::remove_pointer_t<decltype(factor.p)>>, decltype(z)>;
      launch_ahead<F>(on, device::direction<F>, [&](int) {
        return std::tuple(F{factor, r_arrays(x), arrays(x.p), arrays(x.delta), z, box_}, x.scalars.data());
      });
    });
  }
  void product(const Cuda &on, const SchurVectors<Cuda> &x) {
    const Dense &s1 = x.s1.first_array();
    const device::Product f{{s1.p, layout_.size(), int(s1.pitch)}, vector(arrays(x.p)), arrays(x.q), box_};
    launch_ahead<device::Product>(
        on, device::product, [&](int blocks) { return std::tuple(f, take(curvatures, blocks), x.scalars.data()); });
    if (few_curvatures().count) return;
    cuda::launch("the RRB-solver", device::add_curvatures, overlap_, 1, device::add_threads, 0, on.stream,
                 sums_[curvatures].terms(), x.scalars.data());
  }
  void residual(const Cuda &on, const SchurVectors<Cuda> &x, bool start, Norm norm) {
    with_level(x.level, x.level.right_hand_side, [&](auto factor, auto y) {
      using F = device::Residual<std::remove_const_t<std::remove_pointer_t<decltype(factor.p)>>, decltype(y)>;
      const F f{factor, vector(r_arrays(x)), vector(arrays(x.q)), y, box_, x.v, natural_box()};
      const auto arguments = [&](int blocks) {
        return std::tuple(f, start, few_curvatures(), take(energies, blocks),
                          norm == Norm::unpreconditioned ? take(norms, blocks) : device::Sum(), x.scalars.data());
      };
      if (norm == Norm::unpreconditioned)
        launch_ahead<F>(on, device::residual<true, F>, arguments);
      else
        launch_ahead<F>(on, device::residual<false, F>, arguments);
    });
  }
  // For the kernel that ends a start or a step: what it has to add.
  device::Pending pending(Norm norm, bool start) const {
    return {sums_[energies].terms(), sums_[norms].terms(), start || norm == Norm::unpreconditioned};
  }
  PingPong r_b1(const SchurVectors<Cuda> &x) const { return {x.r[b1], x.r_odd, x.scalars.at(steps)}; }
  std::size_t bytes() const { return sums_[0].bytes() + sums_[1].bytes() + sums_[2].bytes(); }

private:
  enum Sums {
    curvatures,
    energies,
    norms
  };

  // blocks across, whose threads have so many columns each
  int across(int columns) const {
    return (int(layout_.columns) + columns * device::threads - 1) / (columns * device::threads);
  }

  rrb::device::Arrays<double> arrays(const Quad<Dense> &q) const { return {q[b1].p, layout_.size(), int(q[b1].pitch)}; }
  // b1, b2, and b1 of odd steps
  rrb::device::Arrays<double> r_arrays(const SchurVectors<Cuda> &x) const { return arrays(x.r); }
  device::Vector vector(const rrb::device::Arrays<double> &a) const { return {a, box_.x, box_.y}; }
  // those that the next kernel adds by itself
  Terms few_curvatures() const {
    const Terms terms = sums_[curvatures].terms();
    return terms.count <= device::few_terms ? terms : Terms();
  }
  device::Sum take(Sums i, int blocks) {
    sums_[i].start();
    return sums_[i].template take<device::threads>(blocks);
  }

  rrb::device::Arrays<const double> red_arrays(const SchurVectors<Cuda> &x) const {
    const Dense &red = x.s1.first_red_array();
    return {red.p, layout_.size(), int(red.pitch)};
  }
  template <class Factor> auto factor_arrays(const Factor &factor) const {
    const auto &w = factor.w[0].q[r1];
    using T = std::remove_pointer_t<decltype(w.p)>;
    return rrb::device::Arrays<const T>{w.p, layout_.size(), int(w.pitch)};
  }
  rrb::device::NaturalBox natural_box() const {
    return {int(x_.x.lo), int(x_.y.lo), int(x_.x.hi - x_.x.lo), int(x_.y.hi - x_.y.lo)};
  }
  // f(r and z in natural order, whether they are scaled by v)
  template <class F> void with_natural(const SchurVectors<Cuda> &x, const double *r, double *z, const F &f) const {
    const rrb::device::Around around_x = rrb::device::around(x_.x, 1), around_y = rrb::device::around(x_.y, 1);
    if (x.v)
      f(rrb::device::NaturalVector<true>{r, x.v, z, x.v, natural_box(), around_x, around_y}, std::true_type{});
    else
      f(rrb::device::NaturalVector<false>{r, nullptr, z, nullptr, natural_box(), around_x, around_y},
        std::false_type{});
  }
  // f(the factor's arrays, b2 where it continues)
  template <class F> void with_level(const BlackLevel &level, const NextGrid &next, const F &f) const {
    level.with_factor([&](const auto &factor) {
      if (next.dense)
        f(factor_arrays(factor), rrb::device::dense_next(x_, next));
      else
        f(factor_arrays(factor), rrb::device::natural_next(x_, next));
    });
  }

  // a kernel of two columns a thread, which fetches rows ahead
  template <class F, class Kernel, class Arguments>
  void launch_ahead(const Cuda &on, Kernel *kernel, const Arguments &arguments) const {
    launch<2>(on, kernel, arguments, true, F::Ahead::bytes);
  }
  // arguments(blocks): the kernel's, a tuple, but for the rows of a thread. waits: by itself for the kernel before it
  template <int columns, class Kernel, class Arguments>
  void launch(const Cuda &on, Kernel *kernel, const Arguments &arguments, bool waits = true, int shared = 0) const {
    const int along = box_.k1 - box_.k0;
    const int rows = cuda::rows_of_part(across(columns), along, cuda::resident_blocks(kernel, device::threads, shared),
                                        most_rows, 0.5);
    const dim3 blocks(across(columns), (along + rows - 1) / rows);
    std::apply(
        [&](const auto &...a) {
          cuda::launch("the RRB-solver", kernel, overlap_ && waits, blocks, device::threads, shared, on.stream, a...,
                       rows);
        },
        arguments(int(blocks.x * blocks.y)));
  }

  static constexpr int most_rows = 16;

  Extent x_;
  DenseLayout layout_;
  rrb::device::Box box_;
  bool overlap_; // a kernel may start before the one before it has ended
  PartialSum<Cuda> sums_[3];
};

} // namespace petscrrb::rrbsolver
