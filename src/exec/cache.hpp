// A few values that follow from their keys alone, the ones that were used last, for who wants the same again in this process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace petscrrb {

// For any thread. One that wants a value while another one makes it waits for that.
template <class Key, class Value> class Cache {
public:
  using Shared = std::shared_ptr<const Value>;

  bool has(const Key &key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return find(key) != kept_.end();
  }
  // make(): a Shared, if there is none
  template <class Make> Shared get(const Key &key, const Make &make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto at = find(key);
    if (at == kept_.end()) {
      if (kept_.size() == most) kept_.pop_back();
      at = kept_.insert(kept_.end(), {key, make()});
    }
    std::rotate(kept_.begin(), at, at + 1);
    return kept_.front().second;
  }

private:
  static constexpr std::size_t most = 4;

  auto find(const Key &key) {
    return std::find_if(kept_.begin(), kept_.end(), [&](const auto &kept) { return kept.first == key; });
  }

  std::mutex mutex_;
  std::vector<std::pair<Key, Shared>> kept_; // used last, first
};

} // namespace petscrrb
