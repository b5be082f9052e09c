/* Deflation by subdomains, on the host or a device: what differs is how arrays are got at, and who computes. */
#pragma once

#include "ksp/deflation/pcdeflation_backend.h"
#include "ksp/deflation/pcdeflation_ranks.h"

/* A function that is called at once: borrowed, where std::function would allocate. */
class PCDeflationWork {
public:
  template <class F>
  PCDeflationWork(const F &f) : f_(&f), call_([](const void *work) { (*static_cast<const F *>(work))(); }) {}
  void operator()() const { call_(f_); }

private:
  const void *f_;
  void (*call_)(const void *);
};

class PCDeflationSubdomains : public PCDeflationBackend {
public:
  ~PCDeflationSubdomains() override;
  PetscErrorCode SetUp(PC, Mat, const KSPDeflationChoice &, PetscObject, PetscBool,
                       petscrrb::deflation::Result *) final;
  const petscrrb::deflation::Report &report() const final { return projection_->report(); }
  std::string subdomains() const final { return words_; }
  KSPDeflationInverse inverse() const final { return inverse_; }
  const petscrrb::Grid *grid() const final { return &space_.grid; }
  const petscrrb::deflation::Boxes *boxes() const final { return &space_.boxes; }

  PetscErrorCode Restrict(Vec, Vec) final;
  PetscErrorCode Solve() final;
  PetscErrorCode Prolong(Vec, Vec) final;
  PetscErrorCode Subtract(Vec) final;

protected:
  virtual PetscRRBRows Rows(const petscrrb::Csr &) = 0;
  /* the rows of P with ghosts, where it is; built: the overlap is another than before. Collective */
  virtual PetscErrorCode ExchangeRows(PetscRRBOverlap &, Mat P, PetscBool built, petscrrb::Csr *) = 0;
  virtual PetscErrorCode Run(const PCDeflationWork &) = 0; /* it may throw */
  virtual const PetscRRBSay &Says() const = 0;             /* what that means */
  virtual PetscErrorCode Log(PetscLogDouble flops) = 0;
  /* x itself, or one whose array is where the matrix is, kept under `slot`; its values are those of x where that is said */
  virtual PetscErrorCode Near(Vec x, int slot, PetscBool values, Vec *near) = 0;
  virtual PetscErrorCode GetRead(Vec, const PetscScalar **) = 0;
  virtual PetscErrorCode RestoreRead(Vec, const PetscScalar **) = 0;
  virtual PetscErrorCode Get(Vec, PetscBool values, PetscScalar **) = 0;
  virtual PetscErrorCode Restore(Vec, PetscBool values, PetscScalar **) = 0;

  std::unique_ptr<petscrrb::deflation::Projection> projection_;

private:
  PetscErrorCode GetRows(PC, Mat, PetscBool *rebuild);
  PetscErrorCode Read(PC, Mat, const KSPDeflationChoice &, const double *phi, PetscBool rebuild,
                      petscrrb::deflation::Result *);

  PetscRRBMatrix rows_ = {};
  std::unique_ptr<PCDeflationRanks> ranks_; /* of a matrix on several */
  petscrrb::Csr csr_;                       /* rows_'s, or theirs */
  petscrrb::deflation::Space space_;
  KSPDeflationInverse inverse_ = KSP_DEFLATION_EXPLICIT;
  std::string words_;
};
