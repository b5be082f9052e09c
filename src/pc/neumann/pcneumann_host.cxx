/* PCNEUMANN where the matrix is on the host. */
#include "pc/backend.h"
#include "pc/neumann/core/grid_series.hpp"
#include "pc/neumann/pcneumann_sparse.h"

using namespace petscrrb;

static const PetscRRBSay say("PCNEUMANN");

namespace {

class OnGrid final : public PCNeumannForm {
public:
  OnGrid(const Grid &g, const neumann::Series &s)
      : series_(neumann::make_grid_series(g, s)), flops_(PCNeumannFlops(g, s.terms)) {}

  PetscErrorCode Refresh(PC, const Csr &rows, CouplingFindings *found) override {
    return PetscRRBTry(say, [&] { *found = series_->refresh(rows); });
  }
  PetscErrorCode Bytes(PetscLogDouble *bytes) override {
    *bytes = series_->bytes();
    return PETSC_SUCCESS;
  }
  PetscErrorCode Apply(PC, Vec, Vec) override;

private:
  const std::unique_ptr<neumann::GridSeries> series_;
  const double flops_;
  PetscRRBVectorsOnHost vectors_;
};

PetscErrorCode OnGrid::Apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(vectors_.Use(pc, "PCNEUMANN", x, y, [&](const PetscScalar *r, PetscScalar *z) { series_->apply(r, z); }));
  PetscCall(PetscLogFlops(flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class Sparse final : public PCNeumannSparse {
public:
  PetscErrorCode Start(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                       neumann::Kept kept, double threshold) {
    static const MatType types[] = {MATSEQAIJ, MATMPIAIJ};
    neumann::SparsePlan plan;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] {
      if (overlap) a_.resize(static_cast<std::size_t>(overlap->entries()));
      plan = neumann::make_sparse_plan(rows, series, kept, threshold, PCNeumannGhosts(overlap));
      values_ = neumann::make_sparse_values(rows.n, plan);
    }));
    PetscCall(Create(pc, overlap, types, plan, series));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscErrorCode Bring(PetscRRBOverlap &overlap, Mat P, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(overlap.Bring(P, PETSC_FALSE, a_.data()));
    *rows = overlap.rows(a_.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode GetArray(Mat A, PetscScalar **a) override { return MatSeqAIJGetArrayWrite(A, a); }
  PetscErrorCode RestoreArray(Mat A, PetscScalar **a) override { return MatSeqAIJRestoreArrayWrite(A, a); }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, neumann::SparseArrays lower, neumann::SparseArrays second,
                      CouplingFindings *found) override {
    return PetscRRBTry(say, [&] { *found = values_->refresh(rows, s, lower, second); });
  }

  std::vector<PetscScalar> a_; /* of rows with ghosts */
};

class OnHost final : public PetscRRBOnHost<PCNeumannBackend> {
public:
  OnHost() : PetscRRBOnHost("PCNEUMANN") {}
  PetscRRBTrouble CreateOnGrid(const Grid &g, const neumann::Series &series,
                               std::unique_ptr<PCNeumannForm> *form) override {
    return PetscRRBTroubleOf(say, [&] { *form = std::make_unique<OnGrid>(g, series); });
  }
  PetscErrorCode CreateSparse(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                              neumann::Kept kept, double threshold, std::unique_ptr<PCNeumannForm> *form) override {
    std::unique_ptr<Sparse> made;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] { made = std::make_unique<Sparse>(); }));
    PetscCall(made->Start(pc, overlap, rows, series, kept, threshold));
    *form = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return PetscRRBTroubleOf(say, [&] { *why = why_refused(rows); });
  }
};

} // namespace

PetscErrorCode PCNeumannCreateHost(std::unique_ptr<PCNeumannBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<OnHost>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
