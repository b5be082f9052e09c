/* PCNEUMANN where the matrix is on the host. */
#include "neumann/grid_series.hpp"
#include "neumann/pcneumann_sparse.h"

using namespace petscrrb;

static PetscErrorCode NoMemory(const std::exception &e) {
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the Neumann series: %s", e.what());
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
  PetscErrorCode Start(const Csr &rows, const neumann::Series &series, neumann::Kept kept, double threshold) {
    neumann::SparsePlan plan;

    PetscFunctionBegin;
    PetscCall(PetscRRBTry(NoMemory, [&] {
      plan = neumann::make_sparse_plan(rows, series, kept, threshold);
      values_ = neumann::make_sparse_values(rows.n, plan);
    }));
    PetscCall(Create(rows.n, MATSEQAIJ, plan, series));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscBool on_device() const override { return PETSC_FALSE; }
  PetscErrorCode Fill(const Csr &rows, Vec s, Mat lower, Mat second, CouplingFindings *found) override {
    PetscScalar *a = nullptr, *b, *scale;

    PetscFunctionBegin;
    PetscCall(VecGetArrayWrite(s, &scale));
    if (lower) PetscCall(MatSeqAIJGetArrayWrite(lower, &a));
    PetscCall(MatSeqAIJGetArrayWrite(second, &b));
    *found = values_->refresh(rows, scale, a, b);
    PetscCall(MatSeqAIJRestoreArrayWrite(second, &b));
    if (lower) PetscCall(MatSeqAIJRestoreArrayWrite(lower, &a));
    PetscCall(VecRestoreArrayWrite(s, &scale));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
  PetscErrorCode CreateSparse(PC, const Csr &rows, const neumann::Series &series, neumann::Kept kept, double threshold,
                              std::unique_ptr<PCNeumannForm> *form) override {
    auto made = std::make_unique<Sparse>();

    PetscFunctionBegin;
    PetscCall(made->Start(rows, series, kept, threshold));
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
