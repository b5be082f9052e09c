// The sweeps of one grid on a rank's box on a device, by the kernels of one rank (sweep_kernels.cuh): what is around the box
// is in the arrays' borders.
#pragma once

#include "pc/rrb/ranks/distributed_grid.hpp"
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
    at_slot(own, h, k, [&](Class c, index_t a, index_t b) {
      const index_t i = (b - own.y.lo) * (own.x.hi - own.x.lo) + a - own.x.lo;
      x[c].at(h, k) = v ? r[i] * v[i] : r[i];
    });
  }
};

template <> class BoxSweeps<Cuda> {
public:
  explicit BoxSweeps(const Extent &)
      : overlap_(
            cuda::may_overlap(device::forward<true, double, device::BoxRight, device::DenseNext, device::NoEnergy>)) {}

  template <bool Couple, class T>
  void down(const Cuda &on, const DistributedGrid<Cuda, T> &g, const NextGrid &next, PartialSum<Cuda> *energy) const {
    if (next.dense)
      sweep_down<Couple>(on, g, device::DenseNext{device::arrays(next.split), {}, {}}, energy);
    else
      sweep_down<Couple>(on, g, device::natural_next({}, next), energy);
  }
  static index_t kept_parts(const Extent &own) { return parts(own); }
  static index_t parts(const Extent &own) {
    const device::Box box = box_of(own);
    return own.empty() ? 0 : device::blocks_across(box.h1 - box.h0) * index_t(box.k1 - box.k0);
  }

  template <bool Couple, class T>
  void up(const Cuda &on, const DistributedGrid<Cuda, T> &g, const BoxSolution &to, Scaling scaling) const {
    if (to.v.p)
      sweep_up<Couple, true>(on, g, to, scaling);
    else
      sweep_up<Couple, false>(on, g, to, scaling);
  }
  template <class T>
  void up(const Cuda &on, const DistributedGrid<Cuda, T> &g, const BoxSolution &to, const Split &kept,
          PartialSum<Cuda> &energy) const {
    using X = device::BoxLeft<false>;
    using Energy = device::WithEnergy<device::DenseNext, true, false>;
    launch(on, g, device::backward<true, Scaling::full, T, X, device::BoxNext, Energy>, left<false>(g, to), next(g),
           [&](int blocks) {
             return Energy{energy.template take<32 * device::warps>(blocks), {device::arrays(kept.q), {}, {}}};
           });
  }

  void take(const Cuda &on, const Extent &own, const Quad<Dense> &to, const double *r, const double *v) const {
    const Side &x = own.x, &y = own.y;
    if (own.empty()) return;
    on.for_each({half_down(x.lo), half_down(x.hi - 1) + 1, half_down(y.lo), half_down(y.hi - 1) + 1},
                TakePoints{to, own, r, v});
  }
  std::size_t bytes() const { return 0; }

private:
  template <bool Couple, class T, class Next>
  void sweep_down(const Cuda &on, const DistributedGrid<Cuda, T> &g, const Next &next, PartialSum<Cuda> *energy) const {
    using X = device::BoxRight;
    const X x{device::arrays(g.right_hand_side())};
    if (!energy)
      launch(on, g, device::forward<Couple, T, X, Next, device::NoEnergy>, x, next,
             [](int) { return device::NoEnergy(); });
    else
      launch(on, g, device::forward<Couple, T, X, Next, device::EnergyDown>, x, next, [&](int blocks) {
        return device::EnergyDown{energy->template take<32 * device::warps>(blocks),
                                  device::nodes_of(g.extent.nodes_of(b1))};
      });
  }
  template <bool Couple, bool Scaled, class T>
  void sweep_up(const Cuda &on, const DistributedGrid<Cuda, T> &g, const BoxSolution &to, Scaling scaling) const {
    using X = device::BoxLeft<Scaled>;
    launch(on, g,
           scaling == Scaling::full ? device::backward<Couple, Scaling::full, T, X, device::BoxNext, device::NoEnergy>
                                    : device::backward<Couple, Scaling::root, T, X, device::BoxNext, device::NoEnergy>,
           left<Scaled>(g, to), next(g), [](int) { return device::NoEnergy(); });
  }
  template <bool Scaled> static device::BoxLeft<Scaled> left(const DistributedArrays<Cuda> &g, const BoxSolution &to) {
    return {device::arrays(g.right_hand_side()), to.z.p, to.v.p, to.z.row, to.v.row, device::natural_box(g.extent)};
  }
  static device::BoxNext next(const DistributedArrays<Cuda> &g) {
    return {g.solution_b2().p, int(g.solution_b2().pitch)};
  }

  // Own nodes, and b1 around them.
  static device::Box box_of(const Extent &own) {
    device::Box box = device::box_of(own, DenseLayout(own, 0));
    const Range2 around = widened(own, 1).nodes_of(b1);
    box.x = box.y = {};
    box.nodes[b1] = device::nodes_of(around);
    if (!around.size()) return box;
    box.h0 = std::min(box.h0, int(around.h0)), box.h1 = std::max(box.h1, int(around.h1));
    box.k0 = std::min(box.k0, int(around.k0)), box.k1 = std::max(box.k1, int(around.k1));
    return box;
  }

  template <class T, class Kernel, class X, class Next, class Last>
  void launch(const Cuda &on, const DistributedGrid<Cuda, T> &g, Kernel *kernel, const X &x, const Next &next,
              const Last &last) const {
    if (!g.extent.empty())
      device::launch_sweep(on, kernel, overlap_, g.factor, box_of(g.extent), x, g.b1_after_forward(), next, last);
  }

  bool overlap_; // a kernel may start before the one before it has ended
};

} // namespace petscrrb::rrb
