#include "comm/cuda/exchange.hpp"

namespace petscrrb::rrb {

namespace {

constexpr int block = 256;

template <class Int> __global__ void pack_values(const Int *place, index_t n, const double *array, double *values) {
  const index_t i = index_t(blockIdx.x) * block + threadIdx.x;
  if (i < n && place[i] >= 0) values[i] = array[place[i]];
}
template <class Int> __global__ void unpack_values(const Int *place, index_t n, const double *values, double *array) {
  const index_t i = index_t(blockIdx.x) * block + threadIdx.x;
  if (i < n && place[i] >= 0) array[place[i]] = values[i];
}

unsigned blocks(index_t n) { return unsigned((n + block - 1) / block); }

} // namespace

DeviceExchange::DeviceExchange(const Plan &plan, int me) : DeviceExchange(Packed(plan, me)) {}

DeviceExchange::DeviceExchange(Packed &&p)
    : sent_(std::move(p.sent)), received_(std::move(p.received)), packed_(index_t(p.pack.size())),
      unpacked_(index_t(p.unpack.size())), first_unpacked_(p.first_unpacked), values_(std::size_t(p.size())),
      places_(joined(p.pack, p.unpack)) {}

void DeviceExchange::pack(const Cuda &on, const double *array) const {
  if (!packed_) return;
  places_.with([&](const auto *places) {
    pack_values<<<blocks(packed_), block, 0, on.stream>>>(places, packed_, array, values());
  });
  cuda::check_launch("pack_values");
}

void DeviceExchange::unpack(const Cuda &on, double *array) const {
  if (!unpacked_) return;
  places_.with([&](const auto *places) {
    unpack_values<<<blocks(unpacked_), block, 0, on.stream>>>(places + packed_, unpacked_, values() + first_unpacked_,
                                                              array);
  });
  cuda::check_launch("unpack_values");
}

} // namespace petscrrb::rrb
