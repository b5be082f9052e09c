// Places of an array on a device, in 32 bits where they are enough.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "comm/places.hpp"

#include <cstdint>
#include <limits>

namespace petscrrb::rrb {

// Sets and waits for all places, in turn. Their runs alone travel to the device.
void list_places(const Places &, cuda::Buffer<std::int32_t> *);
void list_places(const Places &, cuda::Buffer<std::int64_t> *);

class DevicePlaces {
public:
  explicit DevicePlaces(const Places &places) {
    if (places.largest() <= std::numeric_limits<std::int32_t>::max())
      list_places(places, &narrow_);
    else
      list_places(places, &wide_);
  }
  // use(first of them)
  template <class Use> void with(const Use &use) const {
    if (wide_.size())
      use(wide_.data());
    else
      use(narrow_.data());
  }
  std::size_t bytes() const { return narrow_.bytes() + wide_.bytes(); }

private:
  cuda::Buffer<std::int32_t> narrow_;
  cuda::Buffer<std::int64_t> wide_;
};

} // namespace petscrrb::rrb
