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
        flops_(PCNeumannFlops(g, s.terms)) {}

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
  const double flops_;
};

/* Rows with ghosts, with room for their values. */
template <class Where> struct RowsWithGhosts;
template <> struct RowsWithGhosts<PetscRRBHostWork> {
  static constexpr PCNeumannMatrices matrices = {MATSEQAIJ, MATMPIAIJ, MatSeqAIJGetArrayWrite,
                                                 MatSeqAIJRestoreArrayWrite};

  void Take(const PetscRRBOverlap &overlap) { a.resize(static_cast<std::size_t>(overlap.entries())); }
  Csr Of(const PetscRRBOverlap &overlap) { return overlap.rows(a.data()); }

  std::vector<PetscScalar> a;
};

#if PETSCRRB_ON_DEVICES
template <> struct RowsWithGhosts<PetscRRBDeviceWork> {
  /* Not for writing alone: that does not make the arrays. The first time zeros go to the device. */
  static constexpr PCNeumannMatrices matrices = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, MatSeqAIJCUSPARSEGetArray,
                                                 MatSeqAIJCUSPARSERestoreArray};

  void Take(const PetscRRBOverlap &overlap) {
    ia.assign(overlap.ia());
    ja.assign(overlap.ja());
    a.resize(ja.size());
  }
  Csr Of(const PetscRRBOverlap &overlap) { return {overlap.own(), ia.data(), ja.data(), a.data()}; }

  cuda::Buffer<PetscInt> ia, ja;
  cuda::Buffer<PetscScalar> a;
};
#endif

template <class Where> class Sparse final : public PCNeumannSparse {
  using Rows = RowsWithGhosts<Where>;

public:
  explicit Sparse(Where &where) : PCNeumannSparse(Where::device, Rows::matrices), where_(where) {}

  /* overlap: of a matrix on several ranks, in the place of the rows' arrays, else NULL */
  PetscErrorCode Start(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                       neumann::Kept kept, double threshold) {
    neumann::SparsePlan plan;
    const auto make_plan = [&](const Csr &here) { /* of their pattern; new values come without the host */
                                                  plan = neumann::make_sparse_plan(here, series, kept, threshold,
                                                                                   PCNeumannGhosts(overlap));
    };

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say, [&] {
      if (overlap) {
        rows_.Take(*overlap);
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
    PetscCall(overlap.Exchange(P, Where::device, rows_.a.data()));
    *rows = rows_.Of(overlap);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, neumann::SparseArrays lower, neumann::SparseArrays second,
                      RowFacts *found) override {
    return where_.Try([&] { *found = values_->refresh(rows, s, lower, second); });
  }

  Where &where_;
  Rows rows_;
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
