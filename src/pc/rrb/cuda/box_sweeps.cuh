// The sweeps of one grid on a rank's box on a device, by the kernels of one rank (sweep_kernels.cuh): what is around the box
// is in the arrays' borders.
#pragma once

#include "exec/cuda/shape.cuh"
#include "pc/rrb/ranks/box_sweeps.hpp"
#include "pc/rrb/cuda/sweep_kernels.cuh"

namespace petscrrb::rrb {
namespace device {

// On its way up, with the place of the solution, which is a box in natural order.
template <bool Scaled> struct BoxLeft {
  Arrays<double> x;
  double *z; // of the point (0, 0)
  const double *v;
  index_t z_pitch, v_pitch;
  NaturalBox own;

  __device__ double operator()(Class c, int h, int k) const { return *x.at(c, h, k); }
  __device__ void store(const Box &, int h, int k, double b2_value, double r1_value, double r2_value,
                        double b1_value) const {
    const int a = 2 * h, b = 2 * k;
    put(a, b, b2_value), put(a + 1, b, r1_value), put(a, b + 1, r2_value), put(a + 1, b + 1, b1_value);
  }

private:
  __device__ void put(int a, int b, double value) const {
    if (!own.contains(a - own.x0, b - own.y0)) return;
    if (Scaled) value *= __ldg(v + b * v_pitch + a);
    z[b * z_pitch + a] = value;
  }
};

} // namespace device

// A point of each class from an array in natural order.
struct TakePoints {
  Quad<Dense> x;
  Extent own;
  const double *r, *v; // of the box; v NULL: 1

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    for (const Class c : {b2, r1, r2, b1}) {
      const index_t a = 2 * h + parity_x(c) - own.x.lo, b = 2 * k + parity_y(c) - own.y.lo;
      const index_t nx = own.x.hi - own.x.lo, i = b * nx + a;
      if (a < 0 || a >= nx || b < 0 || b >= own.y.hi - own.y.lo) continue;
      x[c].at(h, k) = v ? r[i] * v[i] : r[i];
    }
  }
};

template <> class BoxSweeps<Cuda> {
public:
  explicit BoxSweeps(const Extent &)
      : overlap_(
            cuda::may_overlap(device::forward<true, double, device::BoxRight, device::DenseNext, device::NoEnergy>)) {}

  template <bool Couple, class T>
  void down(const Cuda &on, const BoxGrid<T> &g, const NextGrid &next, PartialSum<Cuda> *energy) const {
    if (next.dense)
      sweep_down<Couple>(on, g, device::DenseNext{device::arrays(next.split), {}, {}}, energy);
    else
      sweep_down<Couple>(on, g, device::natural_next({}, next), energy);
  }
  // of the energy's sum, at most: on the way up, and on the way down
  static index_t kept_parts(const Extent &own) { return parts(own); }
  static index_t parts(const Extent &own) {
    return own.empty() ? 0 : blocks_across(box_of(own)) * index_t(box_of(own).k1 - box_of(own).k0);
  }

  template <bool Couple, class T>
  void up(const Cuda &on, const BoxGrid<T> &g, const BoxSolution &to, Scaling scaling) const {
    if (to.v.p)
      sweep_up<Couple, true>(on, g, to, scaling);
    else
      sweep_up<Couple, false>(on, g, to, scaling);
  }

  // The same with couplings, which adds the terms of kept times the solution, on the next grid.
  template <class T>
  void up(const Cuda &on, const BoxGrid<T> &g, const BoxSolution &to, const Split &kept,
          PartialSum<Cuda> &energy) const {
    using X = device::BoxLeft<false>;
    using Energy = device::WithEnergy<device::DenseNext, true, false>;
    launch(on, g, device::backward<true, Scaling::full, T, X, device::BoxNext, Energy>, left<false>(g, to), next(g),
           [&](int blocks) {
             return Energy{energy.template take<32 * device::warps>(blocks), {device::arrays(kept.q), {}, {}}};
           });
  }

  template <class T> void take(const Cuda &on, const BoxGrid<T> &g, const NaturalVectors &natural) const {
    const Side &x = g.own.x, &y = g.own.y;
    if (g.own.empty()) return;
    on.for_each({half_down(x.lo), half_down(x.hi - 1) + 1, half_down(y.lo), half_down(y.hi - 1) + 1},
                TakePoints{g.x, g.own, natural.r, natural.v_r});
  }
  std::size_t bytes() const { return 0; }

private:
  template <bool Couple, class T, class Next>
  void sweep_down(const Cuda &on, const BoxGrid<T> &g, const Next &next, PartialSum<Cuda> *energy) const {
    using X = device::BoxRight;
    const X x{device::arrays(g.x)};
    if (!energy)
      launch(on, g, device::forward<Couple, T, X, Next, device::NoEnergy>, x, next,
             [](int) { return device::NoEnergy(); });
    else
      launch(on, g, device::forward<Couple, T, X, Next, device::EnergyDown>, x, next, [&](int blocks) {
        const Range2 n = g.own.nodes_of(b1);
        return device::EnergyDown{energy->template take<32 * device::warps>(blocks),
                                  {int(n.h0), int(n.h1), int(n.k0), int(n.k1)}};
      });
  }
  template <bool Couple, bool Scaled, class T>
  void sweep_up(const Cuda &on, const BoxGrid<T> &g, const BoxSolution &to, Scaling scaling) const {
    using X = device::BoxLeft<Scaled>;
    const auto none = [](int) { return device::NoEnergy(); };
    if (scaling == Scaling::full)
      launch(on, g, device::backward<Couple, Scaling::full, T, X, device::BoxNext, device::NoEnergy>,
             left<Scaled>(g, to), next(g), none);
    else
      launch(on, g, device::backward<Couple, Scaling::root, T, X, device::BoxNext, device::NoEnergy>,
             left<Scaled>(g, to), next(g), none);
  }
  template <bool Scaled, class T> static device::BoxLeft<Scaled> left(const BoxGrid<T> &g, const BoxSolution &to) {
    const Side &x = g.own.x, &y = g.own.y;
    return {device::arrays(g.x),
            to.z.p,
            to.v.p,
            to.z.row,
            to.v.row,
            {int(x.lo), int(y.lo), int(x.hi - x.lo), int(y.hi - y.lo)}};
  }
  template <class T> static device::BoxNext next(const BoxGrid<T> &g) {
    return {g.solution_b2.p, int(g.solution_b2.pitch)};
  }

  // Own nodes, and b1 around them.
  static device::Box box_of(const Extent &own) {
    const Range2 around = widened(own, 1).nodes_of(b1);
    device::Box box{{},
                    int(half_down(own.x.lo)),
                    int(half_down(own.x.hi - 1) + 1),
                    int(half_down(own.y.lo)),
                    int(half_down(own.y.hi - 1) + 1),
                    {},
                    {}};
    for (Class c : {r1, r2, b1, b2}) {
      const Range2 n = c == b1 ? around : own.nodes_of(c);
      box.nodes[c] = {int(n.h0), int(n.h1), int(n.k0), int(n.k1)};
    }
    if (!around.size()) return box;
    box.h0 = std::min(box.h0, int(around.h0)), box.h1 = std::max(box.h1, int(around.h1));
    box.k0 = std::min(box.k0, int(around.k0)), box.k1 = std::max(box.k1, int(around.k1));
    return box;
  }

  static int blocks_across(const device::Box &box) {
    return ((box.h1 - box.h0 + device::columns - 1) / device::columns + device::warps - 1) / device::warps;
  }

  // last(blocks): the kernel's last argument
  template <class T, class Kernel, class X, class Next, class Last>
  void launch(const Cuda &on, const BoxGrid<T> &g, Kernel *kernel, const X &x, const Next &next,
              const Last &last) const {
    if (g.own.empty()) return;
    const device::Box box = box_of(g.own);
    const int across = blocks_across(box), along = box.k1 - box.k0,
              rows = cuda::rows_of_part(across, along, cuda::resident_blocks(kernel, 32 * device::warps),
                                        device::most_rows, 0.5);
    const auto &w = g.factor.w[0].q;
    const device::Arrays<const T> factor{w[r1].p, w[r2].p - w[r1].p, int(w[r1].pitch)};
    const device::Arrays<double> b1_after{g.b1_after.p, 0, int(g.b1_after.pitch)};
    const dim3 blocks(across, (along + rows - 1) / rows);
    cuda::launch("a sweep", kernel, overlap_, blocks, 32 * device::warps, 0, on.stream, factor, box, x, b1_after, next,
                 rows, last(int(blocks.x * blocks.y)));
  }

  bool overlap_; // a kernel may start before the one before it has ended
};

} // namespace petscrrb::rrb
