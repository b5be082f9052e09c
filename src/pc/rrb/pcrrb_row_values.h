/* The values of the rows that a rank of PCRRB works with, own ones and ghosts, where the matrix is. All arrays are there. */
#pragma once

#include "grid/pattern.hpp"
#include "pc/rrb/pcrrb_stencil.h"
#include "petsc/agree.h"
#include "petsc/rank_rows.h"

#include <memory>

class PCRRBRowValues {
public:
  virtual ~PCRRBRowValues() = default;
  const PetscBool on_device;
  const PetscRRBSay say; /* what an exception of these methods means */

  /* What rows that are on the device say about the grid; NULL on the host. Of rows that have been got, and as long. May throw. */
  virtual std::unique_ptr<petscrrb::RankPattern> Pattern(const petscrrb::RankRows &, PetscInt ghosts) = 0;

  /* For another pattern or grid. May throw. */
  virtual void Prepare(const PetscRRBRankRows &, const petscrrb::Grid &) = 0;
  /* The values of rows that have been got, until these are restored: which are identity rows, whose V is 1. May throw. */
  virtual void Set(const petscrrb::RankRows &) = 0;
  /* What comes from other ranks. Collective. */
  virtual PetscErrorCode Exchange(const PetscRRBRankRows &) = 0;

  /* V of own rows: the near null vector, 1 at identity rows. *usable: it is finite and not 0, here. Collective. */
  virtual PetscErrorCode TakeVector(Vec near_null, PetscMPIInt *usable) = 0;
  void DropVector() { scaled_ = false; } /* V = I */
  bool scaled() const { return scaled_; }
  virtual double *vector() = 0; /* V of own rows, and room for the ghosts', if it is not I */

  /* The stencil of own rows, and their part of what all find; may throw. v: copied, if there is room for it. Waits. */
  virtual petscrrb::RowFacts Read(double rounding, petscrrb::Positive, const PCRRBStencilArrays &) = 0;
  virtual PCRRBStencil &own() = 0; /* room for the stencil of own rows that are not the box's points */
  virtual double bytes() const = 0;

protected:
  PCRRBRowValues(PetscBool device, const PetscRRBSay &says) : on_device(device), say(says) {}
  bool scaled_ = false;
};

/* Where: PCRRBHostWork or PCRRBDeviceWork, which must outlive them */
template <class Where> std::unique_ptr<PCRRBRowValues> PCRRBMakeRowValues(Where &);
