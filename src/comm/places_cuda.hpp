// Places of an array on a device, in 32 bits where they are enough.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace petscrrb::rrb {

class DevicePlaces {
public:
  explicit DevicePlaces(const std::vector<index_t> &places) {
    const auto largest = std::max_element(places.begin(), places.end());
    if (largest == places.end() || *largest <= std::numeric_limits<std::int32_t>::max())
      narrow_.assign(std::vector<std::int32_t>(places.begin(), places.end()));
    else
      wide_.assign(places);
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
