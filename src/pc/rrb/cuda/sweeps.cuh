// The sweeps of RRB's grids on a device: which kernels, in which shape.
#pragma once

#include "pc/rrb/cuda/sweep_kernels.cuh"

namespace petscrrb::rrb {

// The device's answer to "sweep one grid" (rrb_apply.hpp).
template <> class Sweeps<Cuda> {
public:
  explicit Sweeps(const Extent &)
      : overlap_(cuda::may_overlap(
            device::forward<true, double, device::DenseVector, device::DenseNext, device::NoEnergy>)) {}

  template <bool Couple, class T>
  void forward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural) const {
    with_vectors(d, next, natural, [&](const auto &x, const auto &b2) {
      launch(on, d, device::forward<Couple, T, std::decay_t<decltype(x)>, std::decay_t<decltype(b2)>, device::NoEnergy>,
             x, b2, [](int) { return device::NoEnergy(); });
    });
  }

  template <bool Couple, class T>
  void backward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural,
                Scaling scaling) const {
    with_vectors(d, next, natural, [&](const auto &x, const auto &b2) {
      using X = std::decay_t<decltype(x)>;
      using Next = std::decay_t<decltype(b2)>;
      launch(on, d,
             scaling == Scaling::full ? device::backward<Couple, Scaling::full, T, X, Next, device::NoEnergy>
                                      : device::backward<Couple, Scaling::root, T, X, Next, device::NoEnergy>,
             x, b2, [](int) { return device::NoEnergy(); });
    });
  }
  template <class T>
  void backward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next,
                const EnergyShare<Cuda> &energy) const {
    with_next(d, next, [&](const auto &b2, const auto &as_next) {
      using Next = std::decay_t<decltype(b2)>;
      const auto sweep = [&](auto start) {
        using Energy = device::WithEnergy<Next, decltype(start)::value>;
        launch(on, d, device::backward<true, Scaling::full, T, device::DenseVector, Next, Energy>, vector_of(d), b2,
               [&](int blocks) {
                 const auto sum = energy.sum.template take<32 * device::warps>(blocks);
                 return Energy{sum, start ? as_next(*energy.kept) : b2};
               });
      };
      if (energy.kept)
        sweep(std::true_type{});
      else
        sweep(std::false_type{});
    });
  }
  // of the energy's sum, at most
  static index_t parts(const DenseLayout &layout) { return device::blocks_across(int(layout.columns)) * layout.rows; }
  std::size_t bytes() const { return 0; }

private:
  template <class T, class Kernel, class X, class Next, class Last>
  void launch(const Cuda &on, const DenseGrid<Cuda, T> &d, Kernel *kernel, const X &x, const Next &next,
              const Last &last) const {
    device::launch_sweep(on, kernel, overlap_, d.factor, device::box_of(d.extent, d.layout()), x, d.b1_after_forward(),
                         next, last);
  }

  static device::DenseVector vector_of(const DenseArrays<Cuda> &d) {
    return {device::arrays(d.right_hand_side()), device::arrays(d.solution()), device::around(d.extent.x, 2),
            device::around(d.extent.y, 2)};
  }
  // f(next as the kernels see it, how they see such a vector)
  template <class F> static void with_next(const DenseArrays<Cuda> &d, const NextGrid &next, const F &f) {
    const auto dense = [&](const NextGrid &n) { return device::dense_next(d.extent, n); };
    const auto natural = [&](const NextGrid &n) { return device::natural_next(d.extent, n); };
    if (next.dense)
      f(dense(next), dense);
    else
      f(natural(next), natural);
  }

  template <class F>
  static void with_vectors(const DenseArrays<Cuda> &d, const NextGrid &next, const NaturalVectors &v, const F &f) {
    const auto with = [&](const auto &vector) {
      with_next(d, next, [&](const auto &b2, const auto &) { f(vector, b2); });
    };
    const device::NaturalBox box = device::natural_box(d.extent);
    const device::Around around_x = device::around(d.extent.x, 1), around_y = device::around(d.extent.y, 1);
    if (!v.r)
      with(vector_of(d));
    else if (v.v_r || v.v_z)
      with(device::NaturalVector<true>{v.r, v.v_r, v.z, v.v_z, box, around_x, around_y});
    else
      with(device::NaturalVector<false>{v.r, nullptr, v.z, nullptr, box, around_x, around_y});
  }

  bool overlap_; // a kernel may start before the one before it has ended
};

} // namespace petscrrb::rrb
