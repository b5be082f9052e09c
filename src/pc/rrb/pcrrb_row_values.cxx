/* The values of the rows that a rank of PCRRB works with, on the host. */
#include "pc/rrb/pcrrb_row_values.h"

#include "stencil/stencil.hpp"

#include "petsc/compat.h"

#include <algorithm>
#include <limits>

using namespace petscrrb;

namespace {

class OnHost final : public PCRRBRowValues {
public:
  OnHost() : PCRRBRowValues(PETSC_FALSE, PetscRRBSay("PCRRB")) {}

  std::unique_ptr<RankPattern> Pattern(const RankRows &, PetscInt) override { return nullptr; }

  void Prepare(const PetscRRBRankRows &rows, const Grid &grid) override {
    grid_ = grid;
    identity_.resize((std::size_t)(rows.own() + rows.ghosts()));
    transposed_.assign((std::size_t)rows.other_entries(), std::numeric_limits<double>::quiet_NaN());
    if (scaled_) v_.resize(identity_.size());
  }
  void Set(const RankRows &got) override {
    rows_ = got;
#pragma omp parallel for schedule(static) if (rows_.n >= rows_for_threads)
    for (PetscInt p = 0; p < rows_.n; ++p) {
      identity_[(std::size_t)p] = rows_.is_identity(p);
      if (scaled_ && identity_[(std::size_t)p]) v_[(std::size_t)p] = 1.0;
    }
  }
  PetscErrorCode Exchange(const PetscRRBRankRows &rows) override {
    PetscFunctionBegin;
    PetscCall(rows.ExchangeTransposed(PETSC_FALSE, rows_, transposed_.data()));
    PetscCall(rows.ExchangeRows(PETSC_FALSE, MPI_UNSIGNED_CHAR, identity_.data(), identity_.data() + rows_.n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode TakeVector(Vec near_null, PetscMPIInt *usable) override {
    const PetscScalar *x;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)near_null), PetscRRBSay("PCRRB"),
                                  [&] { v_.resize(identity_.size()); }));
    PetscCall(VecGetArrayRead(near_null, &x));
    RowFacts found;
    take_vector(rows_.n, identity_.data(), x, v_.data(), found);
    *usable = found.useless_row == no_row;
    PetscCall(VecRestoreArrayRead(near_null, &x));
    scaled_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double *vector() override { return v_.data(); }

  RowFacts Read(double rounding, Positive positive, const PCRRBStencilArrays &to) override {
    if (to.v) std::copy_n(v_.data(), rows_.n, to.v);
    return rrb::read_rows(rrb::reading(rows_, transposed_.data(), identity_.data(), scaled_ ? v_.data() : nullptr,
                                       grid_, rounding, positive, to.of),
                          grid_);
  }
  PCRRBStencilRoom own_room() override { return PCRRBRoomIn(own_); }
  double bytes() const override {
    return 8.0 * (double)(own_.C.size() + own_.E.size() + own_.N.size() + own_.NE.size() + own_.NW.size() +
                          transposed_.size() + v_.size()) +
           (double)identity_.size();
  }

private:
  RankRows rows_; /* as they were got */
  Grid grid_;
  Flags identity_;
  std::vector<double> transposed_, v_;
  Stencil own_;
};

} // namespace

std::unique_ptr<PCRRBRowValues> PCRRBRowValuesOnHost() { return std::make_unique<OnHost>(); }
