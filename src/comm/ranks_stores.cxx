/* Exchanges and gathers between devices that store into one another's memory. */
#include "comm/ranks_cuda.h"

#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "comm/devices_of_ranks.h"
  #include "petsc/mpi_throws.h"
  #include "comm/peer_memory.h"
  #include "comm/cuda/stores.hpp"

  #include <numeric>
  #include <optional>

using namespace petscrrb;

namespace {

class RanksStores final : public PetscRRBRanksOfComm {
public:
  RanksStores(MPI_Comm comm, const Cuda &on, PetscRRBShare share)
      : PetscRRBRanksOfComm(comm), on_(on), memory_(std::move(share)) {}
  bool only_enqueue() const override { return true; }
  bool only_kernels() const override { return true; }

  /* What has to be there before anything else; throws what goes wrong, on all ranks. Collective. */
  void begin() {
    if (count_ > rrb::most_storing_ranks)
      throw std::runtime_error("stores support at most " + std::to_string(rrb::most_storing_ranks) + " ranks");
    test(inboxes(count_));
    connect(inboxes(1));
    gathers_.push_back(make_gather(small));
    sums_ = std::make_unique<rrb::StoredSums>(inboxes(rrb::StoredSums::slots(count_)), rank_);
  }

  void check(bool unsure) override {
    (void)watcher_.begin(); /* with the time that is set now, for graphs, too */
    watcher_.check(unsure);
  }
  bool broken() const override { return watcher_.gave_up(); }

  void prepare(const rrb::Plan &plan) override {
    if (!exchanges_.count(&plan)) make_exchange(plan);
  }
  void exchange(const rrb::Plan &plan, double *array) override {
    prepare(plan);
    exchanges_.at(&plan).exchange(on_, array);
  }
  void start(const rrb::Plan &plan, double *array) override {
    prepare(plan);
    exchanges_.at(&plan).send(on_, array);
  }
  void finish(const rrb::Plan &plan, double *array) override { exchanges_.at(&plan).receive(on_, array); }

  void gather(const double *mine, const std::vector<index_t> &n, double *all) override {
    gather_for(n).gather(on_, mine, n, all);
  }
  bool exchange_and_add(const rrb::Plan &plan, double *array, const Sums &sums) override {
    prepare(plan);
    exchanges_.at(&plan).exchange(on_, array, sums_->part(sums));
    return true;
  }
  bool gather_and_add(const double *mine, const std::vector<index_t> &n, const int *place, double *all,
                      const Sums &sums) override {
    gather_for(n).gather(on_, mine, n, all, place, sums_->part(sums));
    return true;
  }

private:
  /* With inboxes of that size, or those of the largest one so far: graphs may have that. */
  const rrb::StoredGather &gather_for(const std::vector<index_t> &n) {
    const index_t slots = rrb::StoredGather::slots(std::accumulate(n.begin(), n.end(), index_t(0)), count_);
    if (slots > gathers_.back()->slots()) gathers_.push_back(make_gather(slots));
    return *(slots <= small ? gathers_.front() : gathers_.back());
  }

  static constexpr index_t small = 4096; /* slots: some blocks are enough */

  rrb::Inboxes inboxes(index_t size) {
    std::vector<char *> of_rank;
    std::string why_not;
    PetscRRBThrowTogether(comm(), say_, [&] {
      of_rank.resize((std::size_t)count_);
      memory_.Reserve();
    });
    PetscRRBCheckSent(memory_.Take(rrb::Inboxes::bytes(size), &of_rank, &why_not));
    if (!why_not.empty()) throw std::runtime_error(why_not);
    rrb::Inboxes all{{}, size, watcher_.begin()};
    for (char *p : of_rank) all.of_rank.push_back(reinterpret_cast<rrb::Slot *>(p));
    return all;
  }
  /* Who gives up tells the others, in a word of each one's inbox. */
  void connect(const rrb::Inboxes &words) {
    std::vector<unsigned *> others;
    for (int r = 0; r < count_; ++r)
      if (r != rank_) others.push_back((unsigned *)words.of_rank[(std::size_t)r]);
    watcher_.connect((const unsigned *)words.of_rank[(std::size_t)rank_], others);
  }
  std::unique_ptr<rrb::StoredGather> make_gather(index_t slots) {
    return std::make_unique<rrb::StoredGather>(inboxes(slots), rank_);
  }

  void make_exchange(const rrb::Plan &plan) {
    const auto numbers = std::size_t(count_) + 1; /* of a rank: where its messages begin, and its inbox's size */
    std::optional<rrb::Inbox> in;
    std::vector<index_t> mine, all, there;
    PetscRRBThrowTogether(comm(), say_, [&] {
      in.emplace(plan, count_);
      mine = in->start;
      mine.push_back(index_t(in->place.size()));
      all.resize(numbers * (std::size_t)count_);
      there.resize((std::size_t)count_);
    });
    PetscRRBCheckMPI(
        MPI_Allgather(mine.data(), (int)numbers, MPI_INT64_T, all.data(), (int)numbers, MPI_INT64_T, comm()));
    index_t size = 0;
    for (std::size_t r = 0; r < there.size(); ++r) {
      there[r] = all[r * numbers + (std::size_t)rank_];
      size = std::max(size, all[(r + 1) * numbers - 1]);
    }
    exchanges_.try_emplace(&plan, *in, rrb::Outbox(plan, there), inboxes(size), rank_);
  }

  void test(const rrb::Inboxes &inboxes) const {
    std::vector<double> numbers((std::size_t)count_, 0.0);
    std::string why_not;
    PetscRRBCheckSent(PetscRRBWhyNot(comm(), &why_not, [&] { store_own_number(inboxes, rank_, on_.stream); }));
    const auto arrived = [&] {
      numbers = stored_numbers(inboxes, rank_, on_.stream);
      for (int r = 0; r < count_; ++r)
        if (numbers[(std::size_t)r] != 1 + r)
          throw std::runtime_error("values stored by rank " + std::to_string(r) + " did not arrive");
    };
    if (why_not.empty()) PetscRRBCheckSent(PetscRRBWhyNot(comm(), &why_not, arrived));
    if (!why_not.empty()) throw std::runtime_error(why_not);
  }

  const PetscRRBSay say_{"PCRRB", PETSC_ERR_GPU};
  const Cuda &on_;
  cuda::Watcher watcher_{
      "values from another rank's device, which did not arrive. The preconditioner works again after its "
      "next set-up"};
  PetscRRBPeerMemory memory_;
  std::map<const rrb::Plan *, rrb::StoredExchange> exchanges_;
  std::vector<std::unique_ptr<rrb::StoredGather>> gathers_; /* the small one, then larger and larger ones */
  std::unique_ptr<rrb::StoredSums> sums_;
};

} // namespace

static PetscErrorCode Create(MPI_Comm comm, const Cuda &on, const PetscRRBShare &share,
                             std::unique_ptr<rrb::Ranks> *ranks, std::string *why_not) {
  std::unique_ptr<RanksStores> made;

  PetscFunctionBegin;
  PetscCall(PetscRRBWhyNot(comm, why_not, [&] { made = std::make_unique<RanksStores>(comm, on, share); }));
  if (why_not->empty()) PetscCall(PetscRRBWhyNot(comm, why_not, [&] { made->begin(); }));
  if (why_not->empty()) *ranks = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBCreateRanksStoresNccl(MPI_Comm comm, const Cuda &on, std::unique_ptr<rrb::Ranks> *ranks,
                                             std::string *why_not) {
  PetscRRBShare share;

  PetscFunctionBegin;
  ranks->reset();
  PetscCall(PetscRRBShareByNccl(comm, &share, why_not));
  if (share) PetscCall(Create(comm, on, share, ranks, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBCreateRanksStores(MPI_Comm comm, const Cuda &on, std::unique_ptr<rrb::Ranks> *ranks,
                                         std::string *why_not) {
  PetscFunctionBegin;
  ranks->reset();
  PetscCall(PetscRRBFindSharedDevice(comm, why_not));
  if (why_not->empty()) PetscCall(Create(comm, on, PetscRRBShareOnOneMachine(comm), ranks, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
