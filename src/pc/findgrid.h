/*
   Who knows the grid of a matrix: the option or setter, the PC's DMDA, the Mat's DMDA, its nonzeros; in this order.
*/
#pragma once

#include <petscpc.h>

#include "grid/csr.hpp"
#include "grid/find.hpp"
#include "grid/grid.hpp"
#include "petsc/agree.h"

#include <functional>
#include <string>

/* What is asked about the rows, wherever they are: find_grid() and check_grid() of grid/find.hpp. */
struct PetscRRBRows {
  PetscInt n;
  std::function<std::string(petscrrb::Widest, const char *option, petscrrb::Grid &)> find;
  std::function<std::string(petscrrb::Widest, const char *option, petscrrb::Grid &)> check;
  PetscRRBSay say; /* of what they throw */
};
/* a must outlive what is returned, for which no memory is needed then */
PetscRRBRows PetscRRBRowsOnHost(const petscrrb::Csr &a, const PetscRRBSay &);
/* The same of rows on the stream's device; it must outlive that, too. */
class PetscRRBStream;
PetscRRBRows PetscRRBRowsOnDevice(PetscRRBStream &, const petscrrb::Csr &a);

/* widest: what the PC takes; n: two or three sizes as the user gave them, zeros for none; option: its name with
   the PC's prefix left out ("-pc_rrb_grid"). Raises the reason when there is no grid. */
PetscErrorCode PetscRRBFindGrid(PC, Mat, petscrrb::Widest widest, const PetscInt n[], const char *option,
                                const PetscRRBRows &, petscrrb::Grid *);

/* The same for who can do without: *grid is of no points where the matrix is on none that it takes, and -info says why. Sizes that the user
   gave and that do not fit are an error; dmda: so are several unknowns a point of a DMDA. */
PetscErrorCode PetscRRBFindGridOrNone(PC, Mat, petscrrb::Widest widest, const PetscInt n[], const char *option,
                                      const PetscRRBRows &, PetscBool dmda, petscrrb::Grid *);

/* The same for rows that are one rank's part of a matrix, of any number of ranks: says where there is none, and raises
   nothing that only one rank would raise. */
PetscErrorCode PetscRRBFindGridOnRank(PC, Mat, petscrrb::Widest widest, const PetscInt n[], const char *option,
                                      const PetscRRBRows &, petscrrb::Grid *, PetscRRBTrouble *);

/* The same for who takes 5 points in 2D and 7 in 3D. instead: what takes 9, for the error. */
PetscErrorCode PetscRRBFindStarOnRank(PC, Mat, const PetscInt n[], const char *option, const PetscRRBRows &,
                                      const char *instead, petscrrb::Grid *, PetscRRBTrouble *);

/* Trouble where the grid is one of 9 points. */
PetscErrorCode PetscRRBRefuseNinePoints(PC, const petscrrb::Grid &, const char *instead, PetscRRBTrouble *);

/* The grid of a SeqAIJ, by its nonzeros, with 7 points at the most; of no points where there is none. */
PetscErrorCode PetscRRBFindGridOfPattern(Mat, petscrrb::Grid *);

/* Sets a rank's own grid, whose sizes were `now`: sizes that are bad on one rank are an error on all, and what is new on one
   is set up again on all. also: something else is new on this rank. Collective. */
PetscErrorCode PetscRRBSetGridOfRank(PC, const PetscInt n[3], bool also, PetscInt now[3]);

/* The option as a user has to type it for this PC. */
PetscErrorCode PetscRRBFullName(PC, const char *option, std::string *name);
