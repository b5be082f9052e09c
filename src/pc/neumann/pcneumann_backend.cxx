/* PCNEUMANN where its matrix is: loops on a grid, or PETSc's matrices of that place. */
#include "pc/backend.h"
#include "pc/neumann/core/grid_series.hpp"
#include "pc/neumann/pcneumann_sparse.h"

using namespace petscrrb;

namespace {

template <class Where> class OnGrid final : public PCNeumannForm {
public:
  OnGrid(Where &where, const Grid &g, const neumann::Series &s)
      : where_(where), series_(where.Make([&](const auto &...on) { return neumann::make_grid_series(on..., g, s); })),
        flops_((PetscLogDouble)(g.n[0] * g.n[1] * g.n[2]) * (2.0 + 4.0 * s.terms * (g.points / 2))) {}

  PetscErrorCode Refresh(PC, const Csr &rows, RowFacts *found) override {
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
  PetscRRBEnqueued enqueued() override {
    const auto apply = [this](const PetscScalar *r, PetscScalar *z, double *) { series_->apply(r, z); };
    return {where_.Enqueues(apply), {}, {}, build_, 0};
  }

private:
  Where &where_; /* the backend's */
  const PetscInt64 build_ = PetscRRBNewBuild();
  const std::unique_ptr<neumann::GridSeries> series_;
  const double flops_; /* of an application: two for each coupling, term and triangle, and the diagonal */
};

template <class Where>
constexpr PCNeumannMatrices matrices = {MATAIJ, MatSeqAIJGetArrayWrite, MatSeqAIJRestoreArrayWrite};
#if PETSCRRB_ON_DEVICES
/* Not for writing alone: that does not make the arrays. The first time zeros go to the device. */
template <>
constexpr PCNeumannMatrices matrices<PetscRRBDeviceWork> = {MATAIJCUSPARSE, MatSeqAIJCUSPARSEGetArray,
                                                            MatSeqAIJCUSPARSERestoreArray};
#endif

template <class Where> class Sparse final : public PCNeumannSparse {
  template <class T> using Array = typename Where::template Array<T>;

public:
  explicit Sparse(Where &where) : PCNeumannSparse(Where::device, matrices<Where>), where_(where) {}

  /* overlap: of a matrix on several ranks, in the place of the rows' arrays, else NULL */
  PetscErrorCode Start(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                       neumann::Kept kept, double threshold) {
    neumann::SparsePlan plan;
    neumann::Ghosts ghosts;
    /* of the pattern; new values come without the host */
    const auto make_plan = [&](const Csr &here) {
      plan = neumann::make_sparse_plan(here, series, kept, threshold, ghosts);
    };

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say, [&] {
      if (overlap) {
        ghosts = {overlap->ghosts(), overlap->order()};
        a_.resize((std::size_t)overlap->entries());
        if (Where::device) ia_.assign(overlap->ia()), ja_.assign(overlap->ja());
        make_plan(rows);
      } else
        where_.OnHost(rows, make_plan);
      values_ = where_.Make([&](const auto &...on) { return neumann::make_sparse_values(on..., rows.n, plan); });
    }));
    PetscCall(Create(pc, overlap, plan, series));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Exchange(PetscRRBOverlap &overlap, Mat P, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(overlap.Exchange(P, Where::device, a_.data()));
    *rows = overlap.rows(a_.data());
    if (Where::device) rows->ia = ia_.data(), rows->ja = ja_.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, PetscScalar *const values[2][2], RowFacts *found) override {
    return where_.Try([&] { *found = values_->refresh(rows, s, values[0], values[1]); });
  }

  Where &where_;
  Array<PetscInt> ia_, ja_; /* of rows with ghosts, on a device */
  Array<PetscScalar> a_;    /* of rows with ghosts */
};

template <class Where> class Backend final : public PetscRRBBackendAt<Where, PCNeumannBackend> {
  using PetscRRBBackendAt<Where, PCNeumannBackend>::where_;

public:
  Backend() : PetscRRBBackendAt<Where, PCNeumannBackend>("PCNEUMANN") {}
  PetscRRBTrouble CreateOnGrid(const Grid &g, const neumann::Series &series,
                               std::unique_ptr<PCNeumannForm> *form) override {
    return where_.Attempt([&] { *form = std::make_unique<OnGrid<Where>>(where_, g, series); });
  }
  PetscErrorCode CreateSparse(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                              neumann::Kept kept, double threshold, std::unique_ptr<PCNeumannForm> *form) override {
    std::unique_ptr<Sparse<Where>> made;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say,
                                  [&] { made = std::make_unique<Sparse<Where>>(where_); }));
    PetscCall(made->Start(pc, overlap, rows, series, kept, threshold));
    *form = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace

PetscErrorCode PCNeumannCreateBackend(PetscBool device, std::unique_ptr<PCNeumannBackend> *backend) {
  return PetscRRBCreateBackend<Backend>(device, "PCNEUMANN", backend);
}
