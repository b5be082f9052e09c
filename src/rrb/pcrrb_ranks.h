/* What the ranks of PCRRB do together, by PetscSF and MPI: arrays are on the host. An error becomes an exception. */
#pragma once

#include "rrb/ranks.hpp"

#include <petscsf.h>

#include <map>

class PCRRBRanks : public petscrrb::rrb::Ranks {
public:
  explicit PCRRBRanks(MPI_Comm comm) : comm_(comm) {}
  PCRRBRanks(const PCRRBRanks &) = delete;
  PCRRBRanks &operator=(const PCRRBRanks &) = delete;
  ~PCRRBRanks() override;

  int rank() const override;
  int count() const override;
  /* The first use of a plan sets its PetscSF up; it must live as long as this. */
  void start(const petscrrb::rrb::Plan &, double *array) override;
  void finish(const petscrrb::rrb::Plan &, double *array) override;
  void gather(const double *mine, const std::vector<petscrrb::index_t> &n, double *all) override;
  std::vector<double> tell(const std::vector<double> &mine) override;

protected:
  PetscSF Exchange(const petscrrb::rrb::Plan &);

private:
  PetscErrorCode Make(const petscrrb::rrb::Plan &, PetscSF *) const;

  MPI_Comm comm_; /* the PC's */
  std::map<const petscrrb::rrb::Plan *, PetscSF> exchanges_;
};
