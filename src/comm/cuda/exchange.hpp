// An exchange on a device but for the messages: one kernel packs the values for all ranks, one unpacks those that came.
#pragma once

#include "comm/packed.hpp"
#include "comm/cuda/places.hpp"

namespace petscrrb::rrb {

// Its memory is its own, so that several may be on their way.
class DeviceExchange {
public:
  DeviceExchange(const Plan &, int me);

  void pack(const Cuda &, const double *array) const;
  void unpack(const Cuda &, double *array) const;
  const std::vector<Packed::Message> &sent() const { return sent_; }
  const std::vector<Packed::Message> &received() const { return received_; }
  double *values() const { return values_.data(); } // what Packed::Message::at counts from
  std::size_t bytes() const { return values_.bytes() + places_.bytes(); }

private:
  explicit DeviceExchange(Packed &&);

  std::vector<Packed::Message> sent_, received_;
  index_t packed_, unpacked_, first_unpacked_;
  cuda::Buffer<double> values_;
  DevicePlaces places_; // to pack, then to unpack
};

} // namespace petscrrb::rrb
