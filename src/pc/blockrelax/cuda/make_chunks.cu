// Factors in chunks, a thread block each.
#include "pc/blockrelax/cuda/make_inverses.cuh"

namespace petscrrb::blockrelax {
namespace inverse_kernels {
namespace {

template <int tile> __global__ void __launch_bounds__(wide) factor_chunks(DeviceInverses all, Making m) {
  using ThreadBlock = Group<wide>;
  __shared__ ChunkRoom<tile * ThreadBlock::side, BlockMatrix::most> room;
  const ThreadBlock g;
  for (int k = int(blockIdx.x); k < m.kinds; k += int(gridDim.x)) {
    const DeviceKind kind = all.kinds[k];
    if (kind.at < 0 || !kind.chunked) continue;
    const DeviceBlock block = m.blocks[kind.block];
    const Chunks chunks{block.cells(), kind.width};
    const int bad = factor<tile>(g, chunks, BlockMatrix{block, all.near, all.values}, m.inverse + kind.at, room);
    if (bad >= 0 && g.rank() == 0) report_negative(block, bad, m.bad);
    g.sync();
  }
}

} // namespace

void make_chunks(const DeviceInverses &all, const Making &m, int widest, cudaStream_t stream) {
  static_assert(Chunks::widest <= 8 * Group<wide>::side, "the widest has a kernel");
  const int tile = (widest - 1) / Group<wide>::side + 1;
  const auto kernel = tile <= 2   ? factor_chunks<2>
                      : tile <= 4 ? factor_chunks<4>
                      : tile <= 6 ? factor_chunks<6>
                                  : factor_chunks<8>;
  kernel<<<unsigned(std::min(m.kinds, 1 << 20)), wide, 0, stream>>>(all, m);
  cuda::check_launch("factor_chunks");
}

} // namespace inverse_kernels
} // namespace petscrrb::blockrelax
