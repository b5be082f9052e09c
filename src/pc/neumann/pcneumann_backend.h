/* What the backends of PCNEUMANN on the host and on a device share: all but matrices of their own kind. */
#pragma once

#include "pc/backend.h"
#include "pc/neumann/core/grid_series.hpp"
#include "pc/neumann/pcneumann_sparse.h"
#include "stencil/refusal.hpp"

template <class Where> class PCNeumannOnGrid final : public PCNeumannForm {
public:
  PCNeumannOnGrid(Where &where, const petscrrb::Grid &g, const petscrrb::neumann::Series &s)
      : where_(where),
        series_(where.Make([&](const auto &...on) { return petscrrb::neumann::make_grid_series(on..., g, s); })),
        flops_(PCNeumannFlops(g, s.terms)) {}

  PetscErrorCode Refresh(PC, const petscrrb::Csr &rows, petscrrb::RowFacts *found) override {
    return where_.Try([&] { *found = series_->refresh(rows); });
  }
  PetscErrorCode Bytes(PetscLogDouble *bytes) override {
    *bytes = series_->bytes();
    return PETSC_SUCCESS;
  }
  PetscErrorCode Apply(PC pc, Vec x, Vec y) override {
    PetscFunctionBegin;
    PetscCall(where_.Use(pc, x, y, [&](const PetscScalar *r, PetscScalar *z) { series_->apply(r, z); }));
    PetscCall(where_.LogFlops(flops_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Where &where_; /* the backend's */
  const std::unique_ptr<petscrrb::neumann::GridSeries> series_;
  const double flops_;
};

/* Sparse: a PCNeumannSparse with Start() */
template <class Where, class Sparse> class PCNeumannBackendOf final : public PCNeumannBackend {
public:
  PetscErrorCode Start() { return where_.Start(); }
  PetscBool on_device() const override { return Where::device; }
  PetscRRBRows rows(const petscrrb::Csr &a) override { return where_.Rows(a); }
  PetscRRBTrouble CreateOnGrid(const petscrrb::Grid &g, const petscrrb::neumann::Series &series,
                               std::unique_ptr<PCNeumannForm> *form) override {
    return where_.Attempt([&] { *form = std::make_unique<PCNeumannOnGrid<Where>>(where_, g, series); });
  }
  PetscErrorCode CreateSparse(PC pc, PetscRRBOverlap *overlap, const petscrrb::Csr &rows,
                              const petscrrb::neumann::Series &series, petscrrb::neumann::Kept kept, double threshold,
                              std::unique_ptr<PCNeumannForm> *form) override {
    std::unique_ptr<Sparse> made;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say,
                                  [&] { made = std::make_unique<Sparse>(where_); }));
    PetscCall(made->Start(pc, overlap, rows, series, kept, threshold));
    *form = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscRRBTrouble WhyRefused(const petscrrb::Csr &rows, std::string *why) override {
    return where_.AttemptOnHost(rows, [&](const petscrrb::Csr &here) { *why = petscrrb::why_refused(here); });
  }

private:
  Where where_{"PCNEUMANN"};
};
