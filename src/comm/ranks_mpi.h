/* What the ranks of PCRRB do together: by MPI what is the same wherever arrays are, and on the host by PetscSF. An error becomes
   an exception. */
#pragma once

#include "comm/ranks.hpp"

#include <petscsf.h>

#include <map>

class PetscRRBRanksOfComm : public petscrrb::rrb::Ranks {
public:
  explicit PetscRRBRanksOfComm(MPI_Comm);
  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::vector<double> gather_numbers(const std::vector<double> &mine) override;
  MPI_Comm comm() const { return comm_; }

protected:
  int rank_, count_;

private:
  MPI_Comm comm_; /* the PC's */
};

class PetscRRBRanks : public PetscRRBRanksOfComm {
public:
  explicit PetscRRBRanks(MPI_Comm comm)
      : PetscRRBRanksOfComm(comm), counts_((std::size_t)count_), starts_((std::size_t)count_) {}
  PetscRRBRanks(const PetscRRBRanks &) = delete;
  PetscRRBRanks &operator=(const PetscRRBRanks &) = delete;
  ~PetscRRBRanks() override;

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
