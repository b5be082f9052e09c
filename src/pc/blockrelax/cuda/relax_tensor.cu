// Blocks that sine bases diagonalize.
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace {

struct Tensor : relax_kernels::InOrder {
  static constexpr bool anew = true;

  // out = S in along a side of n cells that are `apart`
  template <class Group>
  __device__ static void transform(const Group &g, const double *__restrict__ S, int n, int apart, int cells,
                                   const double *in, double *out) {
    for (int cell = g.rank(); cell < cells; cell += Group::size) {
      const int j = cell / apart % n;
      const double *from = in + cell - j * apart;
      double sum = 0;
#pragma unroll 4
      for (int k = 0; k < n; ++k) sum += __ldg(S + k * n + j) * from[k * apart];
      out[cell] = sum;
    }
    g.sync();
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    const int apart[3] = {1, block.n[0], block.n[0] * block.n[1]}, cells = apart[2] * block.n[2];
    double *from = r, *to = work;
    const auto along = [&](int d) {
      if (block.n[d] == 1) return; // a basis of length 1 is 1
      transform(g, all.bases + kind.basis[d], block.n[d], apart[d], cells, from, to);
      double *const free = from;
      from = to, to = free;
    };
    for (int d = 0; d < 3; ++d) along(d);
    const double *const inverse = all.inverse + kind.at;
    for (int i = g.rank(); i < cells; i += Group::size) from[i] *= inverse[i];
    g.sync();
    for (int d = 3; d-- > 0;) along(d);
    return from;
  }
};

} // namespace

RelaxKernel tensor_kernel(int points, int group, bool in_global) {
  return relax_kernels::kernel_for<Tensor>(points, group, in_global);
}

} // namespace petscrrb::blockrelax
