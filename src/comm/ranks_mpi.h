/* What the ranks of PCRRB do together: by MPI what is the same wherever arrays are, and on the host by PetscSF. An error becomes
   an exception. */
#pragma once

#include "comm/ranks.hpp"

#include <petscsf.h>

#include <map>

class PCRRBRanksOfComm : public petscrrb::rrb::Ranks {
public:
  explicit PCRRBRanksOfComm(MPI_Comm);
  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::vector<double> tell(const std::vector<double> &mine) override;
  MPI_Comm comm() const { return comm_; }

protected:
  int rank_, count_;

private:
  MPI_Comm comm_; /* the PC's */
};

class PCRRBRanks : public PCRRBRanksOfComm {
public:
  explicit PCRRBRanks(MPI_Comm comm)
      : PCRRBRanksOfComm(comm), counts_((std::size_t)count_), starts_((std::size_t)count_) {}
  PCRRBRanks(const PCRRBRanks &) = delete;
  PCRRBRanks &operator=(const PCRRBRanks &) = delete;
  ~PCRRBRanks() override;

  void prepare(const petscrrb::rrb::Plan &plan) override { (void)Exchange(plan); }
  void start(const petscrrb::rrb::Plan &, double *array) override;
  void finish(const petscrrb::rrb::Plan &, double *array) override;
  void gather(const double *mine, const std::vector<petscrrb::index_t> &n, double *all) override;

protected:
  PetscSF Exchange(const petscrrb::rrb::Plan &);

private:
  PetscErrorCode Make(const petscrrb::rrb::Plan &);

  std::map<const petscrrb::rrb::Plan *, PetscSF> exchanges_;
  std::vector<int> counts_, starts_; /* room of gather(), which all ranks are in: nothing may be missing there */
};
