// Blocks with factors in chunks, and others among them with banded ones.
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace {

struct ChunkFactors : relax_kernels::InOrder {
  static constexpr bool anew = true;

  // 16 values of the next inverse pivot on their way are as many as registers allow.
  template <int slots, class Group>
  __device__ static void solve_chunks(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                      const DeviceKind &kind, double *r, double *work) {
    constexpr int early = slots == 1 ? 4 : 16 / slots;
    const Chunks chunks{block.n[0] * block.n[1] * block.n[2], kind.width};
    ChunkSolve<slots, early, Group>(g, chunks, all.inverse + kind.at, work)(BlockMatrix{block, all.near, all.values},
                                                                            r);
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    if (!kind.chunked)
      solve(g, DeviceBand{block.n[0] * block.n[1] * block.n[2], kind.width}, all.inverse + kind.at, r);
    else if (kind.width <= 32)
      solve_chunks<1>(g, all, block, kind, r, work);
    else if (kind.width <= 64)
      solve_chunks<2>(g, all, block, kind, r, work);
    else
      solve_chunks<4>(g, all, block, kind, r, work);
    return r;
  }
};

using relax_kernels::relax;

template <int points> RelaxKernel kernel_for(bool in_global) {
  return in_global ? relax<points, ChunkFactors, Group<wide_group>, true>
                   : relax<points, ChunkFactors, Group<wide_group>, false>;
}

} // namespace

RelaxKernel chunk_kernel(int points, bool in_global) {
  switch (points) {
  case 5: return kernel_for<5>(in_global);
  case 7: return kernel_for<7>(in_global);
  case 9: return kernel_for<9>(in_global);
  default: return kernel_for<27>(in_global);
  }
}

int chunk_room(int width) { return ChunkSolve<1, 1, Group<wide_group>>::room(width); }

} // namespace petscrrb::blockrelax
