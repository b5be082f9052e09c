/*
   Who knows the grid of a matrix: the option or setter, the PC's DMDA, the Mat's DMDA, its nonzeros; in this order.
*/
#pragma once

#include <petscpc.h>

#include "../grid/csr.hpp"
#include "../grid/grid.hpp"

/* dim: 2 or 3, the most that the PC can do; n: dim sizes as the user gave them, zeros for none; option: its name with
   the PC's prefix left out ("-pc_rrb_grid"). Raises the reason when there is no grid. */
PetscErrorCode PetscRRBFindGrid(PC, Mat, PetscInt dim, const PetscInt n[], const char *option, const petscrrb::Csr &,
                                petscrrb::Grid *);
