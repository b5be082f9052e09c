// An exchange by stores into the memory of other ranks: which slot of whose inbox each value goes to. Each message has a
// slot at least, so that all ranks that have to do with one another hear of each round: who has heard of round k + 1 knows that
// round k has been read there, and may use its slots again in round k + 2.
#pragma once

#include "comm/ranks.hpp"

#include <algorithm>

namespace petscrrb::rrb {

// What a rank receives.
struct Inbox {
  std::vector<index_t> start; // of each rank's message; negative: there is none
  std::vector<index_t> place; // in the array, of each slot's value; negative: it has none

  Inbox(const Plan &plan, int ranks) : start(std::size_t(ranks), -1) {
    for (const Plan::Peer &peer : plan.peers) {
      start[std::size_t(peer.rank)] = index_t(place.size());
      place.insert(place.end(), peer.fill.begin(), peer.fill.end());
      if (peer.fill.empty()) place.push_back(-1);
    }
  }
};

// What it sends, value by value.
struct Outbox {
  std::vector<int> rank;
  std::vector<index_t> slot;  // in that rank's inbox
  std::vector<index_t> place; // in the array; negative: no value

  // start[r]: of our message, in the inbox of rank r
  Outbox(const Plan &plan, const std::vector<index_t> &start) {
    for (const Plan::Peer &peer : plan.peers)
      for (std::size_t i = 0; i < std::max<std::size_t>(1, peer.send.size()); ++i) {
        rank.push_back(peer.rank);
        slot.push_back(start[std::size_t(peer.rank)] + index_t(i));
        place.push_back(i < peer.send.size() ? peer.send[i] : -1);
      }
  }
};

} // namespace petscrrb::rrb
