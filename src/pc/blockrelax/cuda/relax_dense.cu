// Blocks with dense inverses.
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace {

struct Dense : relax_kernels::InOrder {
  static constexpr bool anew = true;

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    const int cells = block.n[0] * block.n[1] * block.n[2];
    const double *const inverse = all.inverse + kind.at; // symmetric
    for (int i = g.rank(); i < cells; i += Group::size) {
      double sum = 0;
#pragma unroll 8
      for (int k = 0; k < cells; ++k) sum += inverse[index_t(k) * cells + i] * r[k];
      work[i] = sum;
    }
    g.sync();
    return work;
  }
};

} // namespace

RelaxKernel dense_kernel(int points, int group, bool in_global) {
  return relax_kernels::kernel_for<Dense>(points, group, in_global);
}

} // namespace petscrrb::blockrelax
