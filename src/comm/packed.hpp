// The values of an exchange one behind the other, as they travel: [to others | to oneself | from others].
#pragma once

#include "comm/ranks.hpp"

#include <algorithm>

namespace petscrrb::rrb {

// values[i] = array[pack[i]] on the way out, array[unpack[i]] = values[first_unpacked + i] on the way in. Negative places are
// those between messages, which begin where `alignment` says.
struct Packed {
  struct Message {
    int rank;
    index_t at, count; // in values
  };
  static constexpr index_t alignment = 16; // 128 bytes, with which a device copies best

  std::vector<Message> sent, received; // of other ranks
  Places pack, unpack;
  index_t first_unpacked = 0;

  Packed(const Plan &plan, int me) {
    for (const Plan::Peer &peer : plan.peers)
      if (peer.rank != me) add(peer.rank, peer.send, pack, sent, 0);
    first_unpacked = index_t(pack.size());
    for (const Plan::Peer &peer : plan.peers) {
      if (peer.rank != me) continue;
      std::vector<Message> own; // no message
      add(me, peer.send, pack, own, 0);
      add(me, peer.fill, unpack, own, first_unpacked);
    }
    for (const Plan::Peer &peer : plan.peers)
      if (peer.rank != me) add(peer.rank, peer.fill, unpack, received, first_unpacked);
  }
  index_t size() const { return std::max(index_t(pack.size()), first_unpacked + index_t(unpack.size())); }

private:
  static void add(int rank, const Places &places, Places &to, std::vector<Message> &messages, index_t first) {
    if (places.empty()) return;
    messages.push_back({rank, first + index_t(to.size()), index_t(places.size())});
    to.append(places);
    const index_t rest = index_t(to.size()) % alignment;
    if (rest) to.append({-1, 0, alignment - rest});
  }
};

} // namespace petscrrb::rrb
