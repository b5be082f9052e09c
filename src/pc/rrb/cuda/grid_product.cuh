// The product with a grid's matrix on a device: a thread the four nodes (h, k), which share most of what they read. The
// matrix, which the kernel before does not write, is in registers when that one ends.
#pragma once

#include "pc/rrb/core/grid_product.hpp"
#include "pc/rrb/cuda/sweep_kernels.cuh"

namespace petscrrb::rrb {
namespace device {

constexpr int product_h = 32, product_k = 4;

// (a, b) from (a0, b0) to (a1, b1) from the node b2
template <int a0, int a1, int b0, int b1, class V>
__device__ __forceinline__ void load(Block &to, const Quad<V> &q, index_t h, index_t k) {
#pragma unroll
  for (int b = b0; b <= b1; ++b)
#pragma unroll
    for (int a = a0; a <= a1; ++a) to.v[b + 1][a + 1] = q.c[class_of(a, b)](h + half_down(a), k + half_down(b));
}

template <class V, class Then>
__global__ void __launch_bounds__(product_h *product_k)
    multiply(StencilQuads<Quad<Dense>> s, Quad<V> x, Then then, Box box) {
  const int h = box.h0 + int(blockIdx.x) * product_h + int(threadIdx.x) % product_h;
  const int k = box.k0 + int(blockIdx.y) * product_k + int(threadIdx.x) / product_h;
  const bool inside = h < box.h1 && k < box.k1;
  StencilQuads<Block> m;
  Block around;
  cuda::start_next();
  if (inside) {
    load<0, 1, 0, 1>(m.X, s.X, h, k), load<-1, 1, 0, 1>(m.E, s.E, h, k), load<0, 1, -1, 1>(m.N, s.N, h, k);
    load<-1, 1, -1, 1>(m.NE, s.NE, h, k), load<0, 2, -1, 1>(m.NW, s.NW, h, k);
  }
  cuda::await_previous();
  if (!inside) return;
  load<-1, 2, -1, 2>(around, x, h, k);
  const auto load_own = [&](Class c) { return box.owns(c, h, k) ? then.load(c, h, k) : 0.0; };
  const double before[] = {load_own(r1), load_own(r2), load_own(b1), load_own(b2)};
  const double result[] = {product<r1>(m, around, 0, 0), product<r2>(m, around, 0, 0), product<b1>(m, around, 0, 0),
                           product<b2>(m, around, 0, 0)};
  for (Class c : {r1, r2, b1, b2})
    if (box.owns(c, h, k)) then.store(c, h, k, before[c], result[c]);
}

} // namespace device

template <> class ProductLoop<Cuda> {
public:
  ProductLoop() : overlap_(cuda::may_overlap(device::multiply<Dense, StoreProduct>)) {}

  template <class V, class Then>
  void operator()(const Cuda &on, const Extent &x, const DenseLayout &layout, const StencilQuads<Quad<Dense>> &s,
                  const Quad<V> &v, const Then &then) const {
    if (x.empty()) return;
    const auto blocks = [](index_t n, int size) { return unsigned((n + size - 1) / size); };
    const dim3 shape(blocks(layout.columns, device::product_h), blocks(layout.rows, device::product_k));
    cuda::launch("product with a grid's matrix", device::multiply<V, Then>, overlap_, shape,
                 device::product_h * device::product_k, 0, on.stream, s, v, then, device::box_of(x, layout));
  }

private:
  bool overlap_;
};

} // namespace petscrrb::rrb
