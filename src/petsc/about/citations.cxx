/* The papers behind the types, for -citations. */
#include "petsc/about/citations.h"

#include "petsc/compat.h"

static const char *const papers[PETSCRRB_PAPERS] = {
    "@article{deJongVanDerPloegDitzelVuik2017,\n"
    "  title   = {Fine-grain parallel {RRB}-solver for 5-/9-point stencil problems suitable for {GPU}-type "
    "processors},\n"
    "  author  = {Martijn de Jong and Auke van der Ploeg and Auke Ditzel and Kees Vuik},\n"
    "  journal = {Electronic Transactions on Numerical Analysis},\n"
    "  volume  = {46},\n"
    "  pages   = {375--393},\n"
    "  year    = {2017}\n}\n",
    "@article{Gustafsson1978,\n"
    "  title   = {A class of first order factorization methods},\n"
    "  author  = {Ivar Gustafsson},\n"
    "  journal = {BIT Numerical Mathematics},\n"
    "  volume  = {18},\n"
    "  pages   = {142--156},\n"
    "  year    = {1978}\n}\n",
    "@misc{RodriguezPhilipWangBerrill2012,\n"
    "  title  = {Block-relaxation methods for {3D} constant-coefficient stencils on {GPU}s and multicore {CPU}s},\n"
    "  author = {Manuel Rodriguez Rodriguez and Bobby Philip and Zhen Wang and Mark Berrill},\n"
    "  note   = {arXiv:1208.1975},\n"
    "  year   = {2012}\n}\n",
    "@inproceedings{GuptaVanGijzenVuik2013,\n"
    "  title     = {Efficient two-level preconditioned conjugate gradient method on the {GPU}},\n"
    "  author    = {Rohit Gupta and Martin B. van Gijzen and Cornelis Vuik},\n"
    "  booktitle = {High Performance Computing for Computational Science - VECPAR 2012},\n"
    "  series    = {Lecture Notes in Computer Science},\n"
    "  volume    = {7851},\n"
    "  pages     = {36--49},\n"
    "  year      = {2013}\n}\n"};

static PetscBool cited[PETSCRRB_PAPERS];

PetscErrorCode PetscRRBCite(PetscRRBPaper paper) {
  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(papers[paper], &cited[paper]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscFinalize() forgets its list. */
PetscErrorCode PetscRRBForgetCitations(void) {
  PetscFunctionBegin;
  for (PetscBool &done : cited) done = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
