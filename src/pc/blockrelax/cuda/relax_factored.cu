// Blocks with factors, in chunks or banded.
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace {

struct Factored : relax_kernels::InOrder {
  // 16 values of the next inverse pivot on their way are as many as registers allow.
  template <int slots, class Group>
  __device__ static void solve_chunks(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                      const DeviceKind &kind, double *r, double *work) {
    constexpr int early = slots == 1 ? 4 : 16 / slots;
    ChunkSolve<slots, early, Group> solve(g, Chunks{block.cells(), kind.width}, all.inverse + kind.at, work);
    solve(BlockMatrix{block, all.near, all.values}, r);
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    if (!Group::whole || !kind.chunked)
      solve(g, DeviceBand{block.cells(), kind.width}, all.inverse + kind.at, r);
    else if constexpr (Group::whole) {
      if (kind.width <= 32)
        solve_chunks<1>(g, all, block, kind, r, work);
      else if (kind.width <= 64)
        solve_chunks<2>(g, all, block, kind, r, work);
      else
        solve_chunks<4>(g, all, block, kind, r, work);
    }
    return r;
  }
};

} // namespace

RelaxKernel factored_kernel(bool corners, int group, bool in_global) {
  return relax_kernels::kernel_for<Factored>(corners, group, in_global);
}

int chunk_room(int width) { return ChunkSolve<1, 1, Group<wide_group>>::room(width); }

} // namespace petscrrb::blockrelax
