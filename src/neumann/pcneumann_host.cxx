/* PCNEUMANN where the matrix is on the host. */
#include "neumann/grid_series.hpp"
#include "neumann/pcneumann_sparse.h"

using namespace petscrrb;

static PetscRRBTrouble OutOfMemory(const std::exception &e) {
  return {std::string("No memory for the Neumann series: ") + e.what(), PETSC_ERR_MEM};
}
static PetscErrorCode NoMemory(const std::exception &e) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "%s", OutOfMemory(e).why.c_str());
}

namespace {

class OnGrid final : public PCNeumannForm {
public:
  OnGrid(const Grid &g, const neumann::Series &s)
      : series_(neumann::make_grid_series(g, s)), flops_(PCNeumannFlops(g, s.terms)) {}

  PetscErrorCode Refresh(PC, const Csr &rows, CouplingFindings *found) override {
    *found = series_->refresh(rows);
    return PETSC_SUCCESS;
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
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(vectors_.Say(pc, "PCNEUMANN", x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(PetscRRBTry(NoMemory, [&] { series_->apply(r, z); }));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(VecRestoreArrayRead(x, &r));
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
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), OutOfMemory, [&] {
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
    *found = values_->refresh(rows, s, lower, second);
    return PETSC_SUCCESS;
  }

  std::vector<PetscScalar> a_; /* of rows with ghosts */
};

class HostBackend final : public PCNeumannBackend {
public:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscRRBRows rows(const Csr &a) override { return PetscRRBRowsOnHost(a, NoMemory); }
  PetscErrorCode CreateOnGrid(const Grid &g, const neumann::Series &series,
                              std::unique_ptr<PCNeumannForm> *form) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *form = std::make_unique<OnGrid>(g, series); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode CreateSparse(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                              neumann::Kept kept, double threshold, std::unique_ptr<PCNeumannForm> *form) override {
    auto made = std::make_unique<Sparse>();

    PetscFunctionBegin;
    PetscCall(made->Start(pc, overlap, rows, series, kept, threshold));
    *form = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode WhyRefused(const Csr &rows, std::string *why) override {
    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] { *why = why_refused(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace

PetscErrorCode PCNeumannCreateHost(std::unique_ptr<PCNeumannBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<HostBackend>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
