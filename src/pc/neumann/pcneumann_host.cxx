/* PCNEUMANN where the matrix is on the host. */
#include "pc/neumann/pcneumann_backend.h"

using namespace petscrrb;

namespace {

class Sparse final : public PCNeumannSparse {
public:
  explicit Sparse(PetscRRBHostWork &where) : say(where.say) {}

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
  PetscErrorCode Exchange(PetscRRBOverlap &overlap, Mat P, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(overlap.Exchange(P, PETSC_FALSE, a_.data()));
    *rows = overlap.rows(a_.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode GetArray(Mat A, PetscScalar **a) override { return MatSeqAIJGetArrayWrite(A, a); }
  PetscErrorCode RestoreArray(Mat A, PetscScalar **a) override { return MatSeqAIJRestoreArrayWrite(A, a); }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, neumann::SparseArrays lower, neumann::SparseArrays second,
                      RowFacts *found) override {
    return PetscRRBTry(say, [&] { *found = values_->refresh(rows, s, lower, second); });
  }

  const PetscRRBSay &say;
  std::vector<PetscScalar> a_; /* of rows with ghosts */
};

} // namespace

PetscErrorCode PCNeumannCreateHost(std::unique_ptr<PCNeumannBackend> *backend) {
  PetscFunctionBegin;
  *backend = std::make_unique<PCNeumannBackendOf<PetscRRBHostWork, Sparse>>();
  PetscFunctionReturn(PETSC_SUCCESS);
}
