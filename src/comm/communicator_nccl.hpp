// NCCL as the rest of the library uses it: errors as exceptions, and a communicator.
#pragma once

#include "exec/cuda/watch.hpp"

#include <nccl.h>

#include <thread>

namespace petscrrb::nccl {

class Error : public std::runtime_error {
public:
  Error(ncclResult_t code, const char *what)
      : std::runtime_error(std::string(what) + ": " + ncclGetErrorString(code)) {}
};

inline void check(ncclResult_t code, const char *what) {
  if (code != ncclSuccess) throw Error(code, what);
}

// Several messages at once: none waits for one that is named later.
template <class Messages> void group(const Messages &messages) {
  check(ncclGroupStart(), "ncclGroupStart");
  try {
    messages();
  } catch (...) {
    (void)ncclGroupEnd();
    throw;
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
}

// The ranks of an MPI communicator, each with the device that was its current one. Its destruction is collective and waits
// for graphs that have messages of it: they must be gone before.
class Communicator final : public cuda::Messenger {
public:
  // collective
  Communicator(int ranks, const ncclUniqueId &id, int rank) {
    check(ncclCommInitRank(&comm_, ranks, id, rank), "ncclCommInitRank");
  }
  ~Communicator() override {
    ncclResult_t state;
    if (!comm_ || cudaFree(nullptr) != cudaSuccess) return; // a device that is gone has taken all of it along
    if (ncclCommGetAsyncError(comm_, &state) == ncclSuccess && state == ncclSuccess)
      (void)ncclCommDestroy(comm_);
    else
      (void)ncclCommAbort(comm_);
  }

  ncclComm_t get() const { return comm_; }
  // what became of messages that were only enqueued
  void check_messages() override {
    ncclResult_t state;
    if (!comm_) return;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    if (state == ncclSuccess || state == ncclInProgress) return;
    abandon();
    check(state, "a message between devices");
  }
  bool abandoned() const { return !comm_; }
  // Waits for nobody: NCCL's abort tells kernels to end, and then waits for graphs with messages of it, whose owner may be the caller.
  void abandon() override {
    if (comm_) std::thread([comm = std::exchange(comm_, nullptr)] { (void)ncclCommAbort(comm); }).detach();
  }

  void send(const double *from, index_t n, int to, cudaStream_t stream) const {
    check(ncclSend(from, std::size_t(n), ncclDouble, to, comm_, stream), "ncclSend");
  }
  void receive(double *to, index_t n, int from, cudaStream_t stream) const {
    check(ncclRecv(to, std::size_t(n), ncclDouble, from, comm_, stream), "ncclRecv");
  }
  void all_gather(const double *mine, index_t n, double *all, cudaStream_t stream) const {
    check(ncclAllGather(mine, all, std::size_t(n), ncclDouble, comm_, stream), "ncclAllGather");
  }

private:
  ncclComm_t comm_ = nullptr;
};

} // namespace petscrrb::nccl
