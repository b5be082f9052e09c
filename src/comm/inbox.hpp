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
  Places place;               // in the array, of each slot's value; negative: it has none

  Inbox(const Plan &plan, int ranks) : start(std::size_t(ranks), -1) {
    for (const Plan::Peer &peer : plan.peers) {
      start[std::size_t(peer.rank)] = index_t(place.size());
      place.append(peer.fill);
      if (peer.fill.empty()) place.push_back(-1);
    }
  }
};

// What it sends.
struct Outbox {
  struct Message {
    int rank;
    index_t slot, count; // the first one, in that rank's inbox
  };
  std::vector<Message> messages;
  Places place; // in the array, of each value of all messages; negative: no value

  // start[r]: of our message, in the inbox of rank r
  Outbox(const Plan &plan, const std::vector<index_t> &start) {
    for (const Plan::Peer &peer : plan.peers) {
      place.append(peer.send);
      if (peer.send.empty()) place.push_back(-1);
      messages.push_back({peer.rank, start[std::size_t(peer.rank)], std::max<index_t>(1, index_t(peer.send.size()))});
    }
  }
};

} // namespace petscrrb::rrb
