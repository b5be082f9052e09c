/* Exchanges and gathers between devices by NCCL. */
#include "comm/ranks_cuda.h"

#include "comm/nccl.h"

#if PETSCRRB_NCCL

  #include "petsc/stream_cuda.h"
  #include "comm/cuda/exchange.hpp"

  #include <numeric>

using namespace petscrrb;

namespace {

class RanksNccl final : public PetscRRBRanksOfComm {
public:
  RanksNccl(MPI_Comm comm, const Cuda &on, std::shared_ptr<nccl::Communicator> nccl)
      : PetscRRBRanksOfComm(comm), on_(on), nccl_(std::move(nccl)) {}
  bool only_enqueue() const override { return true; }

  void check(bool) override {
    nccl_->check_messages();
    if (broken())
      throw std::runtime_error("NCCL messages were abandoned; the preconditioner works again after its next set-up");
  }
  bool broken() const override { return nccl_->abandoned(); }

  /* The messages of an exchange, too: NCCL connects ranks when the first ones are sent. */
  void prepare(const rrb::Plan &plan) override {
    if (exchanges_.count(&plan)) return;
    PetscRRBThrowTogether(comm(), PetscRRBSay("PCRRB", PETSC_ERR_GPU),
                          [&] { exchanges_.try_emplace(&plan, plan, rank_); });
    send(exchanges_.at(&plan));
  }
  void start(const rrb::Plan &plan, double *array) override {
    prepare(plan);
    const rrb::DeviceExchange &exchange = exchanges_.at(&plan);
    exchange.pack(on_, array);
    send(exchange);
  }
  void finish(const rrb::Plan &plan, double *array) override { exchanges_.at(&plan).unpack(on_, array); }

  void gather(const double *mine, const std::vector<index_t> &n, double *all) override {
    const bool equal = std::all_of(n.begin(), n.end(), [&](index_t k) { return k == n[0]; });
    if (!equal)
      gather_unequal(mine, n, all);
    else if (n[0])
      nccl_->all_gather(mine, n[0], all, on_.stream);
  }
  std::vector<double> gather_numbers(const std::vector<double> &mine) override {
    check(false);
    return PetscRRBRanksOfComm::gather_numbers(mine);
  }

private:
  void send(const rrb::DeviceExchange &exchange) const {
    if (exchange.sent().empty() && exchange.received().empty()) return;
    nccl::group([&] {
      for (const auto &m : exchange.sent()) nccl_->send(exchange.values() + m.at, m.count, m.rank, on_.stream);
      for (const auto &m : exchange.received()) nccl_->receive(exchange.values() + m.at, m.count, m.rank, on_.stream);
    });
  }
  void gather_unequal(const double *mine, const std::vector<index_t> &n, double *all) const {
    nccl::group([&] {
      for (int r = 0; r < count_; all += n[(std::size_t)r++]) {
        const index_t own = n[(std::size_t)rank_], others = n[(std::size_t)r];
        if (r == rank_ && own) on_.copy(all, mine, (std::size_t)own);
        if (r == rank_) continue;
        if (own) nccl_->send(mine, own, r, on_.stream);
        if (others) nccl_->receive(all, others, r, on_.stream);
      }
    });
  }

  const Cuda &on_;
  std::shared_ptr<nccl::Communicator> nccl_;
  std::map<const rrb::Plan *, rrb::DeviceExchange> exchanges_;
};

} // namespace

PetscErrorCode PetscRRBCreateRanksNccl(MPI_Comm comm, const Cuda &on, std::unique_ptr<rrb::Ranks> *ranks,
                                       std::string *why_not) {
  std::shared_ptr<nccl::Communicator> nccl;

  PetscFunctionBegin;
  ranks->reset();
  PetscCall(PetscRRBGetNccl(comm, &nccl, why_not));
  if (nccl)
    PetscCall(PetscRRBTryTogether(comm, PetscRRBSay("PCRRB", PETSC_ERR_GPU),
                                  [&] { *ranks = std::make_unique<RanksNccl>(comm, on, std::move(nccl)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode PetscRRBCreateRanksNccl(MPI_Comm, const petscrrb::Cuda &, std::unique_ptr<petscrrb::rrb::Ranks> *ranks,
                                       std::string *why_not) {
  PetscFunctionBegin;
  ranks->reset();
  *why_not = "petscrrb was built without NCCL";
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
