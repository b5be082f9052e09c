/* The values of the rows that a rank of PCRRB works with, on the host. */
#include "rrb/pcrrb_row_values.h"

#include "glue/petsc_compat.h"
#include "grid/fit.hpp"

#include <algorithm>
#include <cmath>

using namespace petscrrb;

namespace {

class OnHost final : public PCRRBRowValues {
public:
  OnHost() : PCRRBRowValues(PETSC_FALSE, PCRRBSayNoMemoryForRows) {}

  void Prepare(const PetscRRBOverlap &overlap, const Grid &grid) override {
    rows_ = overlap.rows(nullptr);
    all_ = (std::size_t)(overlap.own() + overlap.ghosts());
    order_ = overlap.order().data();
    grid_ = grid;
    a_.resize((std::size_t)overlap.entries());
    rows_.a = a_.data();
    identity_.resize(all_);
    if (!v_.empty()) v_.resize(all_);
    places_.find(rows_, overlap.order(), grid);
  }
  PetscErrorCode Bring(PetscRRBOverlap &overlap, Mat P) override {
    PetscFunctionBegin;
    PetscCall(overlap.Bring(P, PETSC_FALSE, a_.data()));
    Csr all = rows_;
    all.n = (PetscInt)all_;
    (void)mark_identity(all, identity_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode TakeVector(Vec near_null, PetscMPIInt *usable) override {
    const PetscScalar *x;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)near_null), PCRRBSayNoMemoryForRows,
                                  [&] { v_.resize(all_); }));
    PetscCall(VecGetArrayRead(near_null, &x));
    *usable = 1;
    for (std::size_t i = 0; i < (std::size_t)rows_.n; ++i) {
      v_[i] = identity_[i] ? 1.0 : x[i];
      if (v_[i] == 0.0 || !std::isfinite(v_[i])) *usable = 0;
    }
    PetscCall(VecRestoreArrayRead(near_null, &x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void DropVector() override { v_.clear(); }
  double *vector() override { return v_.empty() ? nullptr : v_.data(); }

  rrb::RowFacts Read(double rounding, Positive positive, const PCRRBStencilArrays &to) override {
    if (to.v) std::copy_n(v_.data(), rows_.n, to.v);
    return rrb::read_rows({rows_, places_.direction.data(), places_.transposed.data(), order_, identity_.data(),
                           vector(), grid_.n[0], grid_.n[1], grid_.points, rounding, positive, to.of});
  }
  const unsigned char *identity() const override { return identity_.data(); }
  PCRRBStencilRoom own_room() override { return PCRRBRoomIn(own_); }
  double bytes() const override {
    return 8.0 * (double)(own_.C.size() + own_.E.size() + own_.N.size() + own_.NE.size() + own_.NW.size() + a_.size() +
                          v_.size()) +
           (double)(identity_.size() + places_.bytes());
  }

private:
  Csr rows_; /* the overlap's */
  std::size_t all_ = 0;
  const PetscInt *order_ = nullptr;
  Grid grid_;
  std::vector<PetscScalar> a_;
  Flags identity_;
  std::vector<double> v_; /* empty: 1 */
  rrb::RowPlaces places_;
  Stencil own_;
};

} // namespace

std::unique_ptr<PCRRBRowValues> PCRRBRowValuesOnHost() { return std::make_unique<OnHost>(); }
