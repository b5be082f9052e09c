// Ranks without messages: a thread each, which copy from one another's arrays.
#pragma once

#include "comm/ranks.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace support {

class SimulatedRanks {
public:
  // Calls work(ranks) on `count` ranks at the same time.
  static void run(int count, const std::function<void(petscrrb::rrb::Ranks &)> &work) {
    lend(count, [&](std::unique_ptr<petscrrb::rrb::Ranks> ranks) { work(*ranks); });
  }
  // The same where work() wants them for itself.
  static void lend(int count, const std::function<void(std::unique_ptr<petscrrb::rrb::Ranks>)> &work) {
    SimulatedRanks all(count);
    std::vector<std::thread> threads;
    for (int r = 0; r < count; ++r) threads.emplace_back([&, r] { work(std::make_unique<One>(all, r)); });
    for (std::thread &t : threads) t.join();
  }

private:
  using index_t = petscrrb::index_t;
  using Plan = petscrrb::rrb::Plan;

  explicit SimulatedRanks(int count) : count_(count), plan_(count), array_(count) {}

  class One final : public petscrrb::rrb::Ranks {
  public:
    One(SimulatedRanks &all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int count() const override { return all_.count_; }

    void start(const Plan &plan, double *array) override {
      all_.plan_[rank_] = &plan;
      all_.array_[rank_] = array;
    }
    void finish(const Plan &plan, double *array) override {
      all_.wait();
      for (const Plan::Peer &peer : plan.peers) {
        if (peer.fill.empty()) continue;
        for (const Plan::Peer &there : all_.plan_[peer.rank]->peers) {
          if (there.rank != rank_) continue;
          const std::vector<index_t> fill = peer.fill.listed(), from = peer.from.listed();
          if (there.send.listed() != from) throw std::logic_error("two sides of a message differ");
          for (std::size_t i = 0; i < fill.size(); ++i) array[fill[i]] = all_.array_[peer.rank][from[i]];
        }
      }
      all_.wait();
    }
    void gather(const double *mine, const std::vector<index_t> &n, double *to) override {
      all_.array_[rank_] = const_cast<double *>(mine);
      all_.wait();
      for (int r = 0; r < all_.count_; ++r) to = std::copy_n(all_.array_[r], n[r], to);
      all_.wait();
    }
    std::vector<double> gather_numbers(const std::vector<double> &mine) override {
      std::vector<double> all(mine.size() * all_.count_);
      gather(mine.data(), std::vector<index_t>(all_.count_, index_t(mine.size())), all.data());
      return all;
    }

  private:
    SimulatedRanks &all_;
    int rank_;
  };

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const long turn = turn_;
    if (++waiting_ == count_) {
      waiting_ = 0;
      ++turn_;
      all_here_.notify_all();
    } else
      all_here_.wait(lock, [&] { return turn_ != turn; });
  }

  int count_, waiting_ = 0;
  long turn_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<const Plan *> plan_;
  std::vector<double *> array_;
};

} // namespace support
