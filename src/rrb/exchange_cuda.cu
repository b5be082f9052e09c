#include "rrb/exchange_cuda.hpp"

#include <limits>

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

DeviceExchange::DeviceExchange(const Plan &plan, int me) {
  Packed packed(plan, me);
  sent_ = std::move(packed.sent);
  received_ = std::move(packed.received);
  packed_ = index_t(packed.pack.size());
  unpacked_ = index_t(packed.unpack.size());
  first_unpacked_ = packed.first_unpacked;
  values_.resize(packed.size());
  std::vector<index_t> places = packed.pack;
  places.insert(places.end(), packed.unpack.begin(), packed.unpack.end());
  if (packed.largest_place() <= std::numeric_limits<std::int32_t>::max())
    narrow_.assign(std::vector<std::int32_t>(places.begin(), places.end()));
  else
    wide_.assign(places);
}

void DeviceExchange::pack(const Cuda &on, const double *array) const {
  if (!packed_) return;
  if (narrow_.size())
    pack_values<<<blocks(packed_), block, 0, on.stream>>>(narrow_.data(), packed_, array, values());
  else
    pack_values<<<blocks(packed_), block, 0, on.stream>>>(wide_.data(), packed_, array, values());
  cuda::check_launch("pack_values");
}

void DeviceExchange::unpack(const Cuda &on, double *array) const {
  if (!unpacked_) return;
  const double *from = values() + first_unpacked_;
  if (narrow_.size())
    unpack_values<<<blocks(unpacked_), block, 0, on.stream>>>(narrow_.data() + packed_, unpacked_, from, array);
  else
    unpack_values<<<blocks(unpacked_), block, 0, on.stream>>>(wide_.data() + packed_, unpacked_, from, array);
  cuda::check_launch("unpack_values");
}

} // namespace petscrrb::rrb
