// The sweeps of RRB's grids on a device: which kernels, in which shape.
#pragma once

#include "exec/cuda/shape.cuh"
#include "pc/rrb/cuda/sweep_kernels.cuh"

#include <tuple>

namespace petscrrb::rrb {

// The device's answer to "sweep one grid" (rrb_apply.hpp).
template <> class Sweeps<Cuda> {
public:
  Sweeps() = default;
  explicit Sweeps(const Extent &)
      : overlap_(cuda::may_overlap(
            device::forward<true, double, device::DenseVector, device::DenseNext, device::NoEnergy>)) {}

  template <bool Couple, class T>
  void forward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural) const {
    with_vectors(d, next, natural, [&](const auto &x, const auto &b2) {
      launch(on, d, device::forward<Couple, T, std::decay_t<decltype(x)>, std::decay_t<decltype(b2)>, device::NoEnergy>,
             x, b2, [](int) { return std::tuple(device::NoEnergy()); });
    });
  }

  template <bool Couple, class T>
  void backward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural,
                Scaling scaling) const {
    with_vectors(d, next, natural, [&](const auto &x, const auto &b2) {
      using X = std::decay_t<decltype(x)>;
      using Next = std::decay_t<decltype(b2)>;
      const auto none = [](int) { return std::tuple(device::NoEnergy()); };
      if (scaling == Scaling::full)
        launch(on, d, device::backward<Couple, Scaling::full, T, X, Next, device::NoEnergy>, x, b2, none);
      else
        launch(on, d, device::backward<Couple, Scaling::root, T, X, Next, device::NoEnergy>, x, b2, none);
    });
  }
  template <class T>
  void backward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next,
                const EnergyShare<Cuda> &energy) const {
    const auto x = device::dense_vector(d);
    with_next(d, next, [&](const auto &b2, const auto &as_next) {
      using Next = std::decay_t<decltype(b2)>;
      const auto sweep = [&](auto start) {
        using Energy = device::WithEnergy<Next, decltype(start)::value>;
        launch(on, d, device::backward<true, Scaling::full, T, std::decay_t<decltype(x)>, Next, Energy>, x, b2,
               [&](int blocks) {
                 const auto sum = energy.sum.template take<32 * device::warps>(blocks);
                 return std::tuple(Energy{sum, start ? as_next(*energy.kept) : b2});
               });
      };
      if (energy.kept)
        sweep(std::true_type{});
      else
        sweep(std::false_type{});
    });
  }
  // of the energy's sum, at most
  static index_t parts(const DenseLayout &layout) { return blocks_across(int(layout.columns)) * layout.rows; }
  std::size_t bytes() const { return 0; }

private:
  static int blocks_across(int columns) {
    return ((columns + device::columns - 1) / device::columns + device::warps - 1) / device::warps;
  }

  // more(blocks): the kernel's last arguments, a tuple
  template <class T, class Kernel, class X, class Next, class More>
  void launch(const Cuda &on, const DenseGrid<Cuda, T> &d, Kernel *kernel, const X &x, const Next &next,
              const More &more) const {
    const device::Box box = device::box_of(d.extent, d.layout());
    const int across = blocks_across(box.h1 - box.h0);
    const int along = box.k1 - box.k0,
              rows = cuda::rows_of_part(across, along, cuda::resident_blocks(kernel, 32 * device::warps),
                                        device::most_rows, 0.5);
    const dim3 blocks(across, (along + rows - 1) / rows);
    std::apply(
        [&](const auto &...last) {
          cuda::launch("a sweep", kernel, overlap_, blocks, 32 * device::warps, 0, on.stream, device::factor_of(d), box,
                       x, device::b1_after(d), next, rows, last...);
        },
        more(int(blocks.x * blocks.y)));
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
    const Side &x = d.extent.x, &y = d.extent.y;
    const auto with = [&](const auto &vector) {
      with_next(d, next, [&](const auto &b2, const auto &) { f(vector, b2); });
    };
    const device::NaturalBox box{int(x.lo), int(y.lo), int(x.hi - x.lo), int(y.hi - y.lo)};
    const device::Around around_x = device::around(x, 1), around_y = device::around(y, 1);
    if (!v.r)
      with(device::dense_vector(d));
    else if (v.v_r || v.v_z)
      with(device::NaturalVector<true>{v.r, v.v_r, v.z, v.v_z, box, around_x, around_y});
    else
      with(device::NaturalVector<false>{v.r, nullptr, v.z, nullptr, box, around_x, around_y});
  }

  bool overlap_ = false; // a kernel may start before the one before it has ended
};

} // namespace petscrrb::rrb
