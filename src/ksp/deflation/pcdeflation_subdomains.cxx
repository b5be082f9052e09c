/* Deflation by subdomains, where the matrix is: from Mat and Vec to the arrays that the projection works on. */
#include "ksp/deflation/pcdeflation_backend.h"
#include "pc/backend.h"
#include "petsc/mpi_throws.h"
#include "petsc/overlap.h"

#include <algorithm>

using namespace petscrrb;
using namespace petscrrb::deflation;

namespace {

enum Access {
  READ,
  WRITE,
  READ_WRITE
};

/* The array of a vector where the matrix is. On a device it is that of a copy where the vector is on the host; on the host
   PETSc copies what a vector has on a device. */
template <class Where> class ArrayOf {
public:
  ~ArrayOf() { (void)VecDestroy(&copy_); }
  /* f(array), with NULL where x is */
  template <class F> PetscErrorCode Use(Vec x, Access access, const F &f) {
    constexpr PetscBool device = Where::device;
    PetscScalar *array = nullptr;
    const PetscScalar **const read = (const PetscScalar **)&array;
    Vec v = x;

    if (!x) return f(array);
    PetscFunctionBegin;
    if (device) PetscCall(Near(x, access, &v));
    if (access == READ)
      PetscCall(device ? VecGetArrayReadAndMemType(v, read, nullptr) : VecGetArrayRead(v, read));
    else if (access == WRITE)
      PetscCall(device ? VecGetArrayWriteAndMemType(v, &array, nullptr) : VecGetArrayWrite(v, &array));
    else
      PetscCall(device ? VecGetArrayAndMemType(v, &array, nullptr) : VecGetArray(v, &array));
    const PetscErrorCode code = f(array);
    if (access == READ)
      PetscCall(device ? VecRestoreArrayReadAndMemType(v, read) : VecRestoreArrayRead(v, read));
    else if (access == WRITE)
      PetscCall(device ? VecRestoreArrayWriteAndMemType(v, &array) : VecRestoreArrayWrite(v, &array));
    else
      PetscCall(device ? VecRestoreArrayAndMemType(v, &array) : VecRestoreArray(v, &array));
    PetscCall(code);
    if (v != x && access != READ) PetscCall(VecCopy(v, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Near(Vec x, Access access, Vec *v) {
    PetscBool here;
    PetscInt own, all;

    PetscFunctionBegin;
    PetscCall(PetscRRBVecOnDevice(x, &here));
    if (here) PetscFunctionReturn(PETSC_SUCCESS);
    if (!copy_) {
      PetscCall(PetscInfo(x, "The matrix is on the device and a vector is on the host: deflation copies the vector to "
                             "the device in every application\n"));
      PetscCall(VecGetLocalSize(x, &own));
      PetscCall(VecGetSize(x, &all));
      PetscCall(VecCreate(PetscObjectComm((PetscObject)x), &copy_));
      PetscCall(VecSetSizes(copy_, own, all));
      PetscCall(VecSetType(copy_, VECCUDA));
    }
    *v = copy_;
    if (access != WRITE) PetscCall(VecCopy(x, copy_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Vec copy_ = nullptr;
};

/* What several ranks do together. An MPI that returns errors makes them exceptions. */
class RanksByMPI final : public Ranks {
public:
  /* comm: the PC's; say: what an exception of this rank means */
  RanksByMPI(MPI_Comm comm, const PetscRRBSay &say) : comm_(comm), say_(say) {}

  mutable PetscRRBOverlap overlap; /* with the rows of the matrix */

  bool alone() const override { return false; }
  PetscInt ghosts() const override { return overlap.ghosts(); }
  index_t point(PetscInt row) const override { return overlap.order()[(std::size_t)row]; }
  index_t number(PetscInt row) const override { return overlap.global(row); }
  void sum(double *x, std::size_t n) const override { PetscRRBCheckMPI(PetscRRBSum(comm_, x, (int)n)); }
  void exchange(double *values) const override { PetscRRBCheckSent(overlap.ExchangeRows(PETSC_FALSE, values)); }
  bool any(bool here) const override {
    PetscMPIInt all = here;
    PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm_));
    return all;
  }
  std::vector<std::uint64_t> unite(std::vector<std::uint64_t> here) const override {
    std::vector<std::uint64_t> all = PetscRRBAllGather(comm_, MPI_UINT64_T, here);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  std::string first(const std::string &why) const override {
    PetscRRBTrouble trouble{why, PETSC_SUCCESS};
    PetscRRBCheckSent(PetscRRBFirstTrouble(comm_, &trouble));
    if (trouble.code) throw PetscRRBError(trouble.why, trouble.code, trouble.settled);
    return trouble.why;
  }
  void agree(const std::exception_ptr &here) const override {
    PetscRRBThrowTogether(comm_, say_, [&] {
      if (here) std::rethrow_exception(here);
    });
  }

private:
  MPI_Comm comm_;
  PetscRRBSay say_;
};

template <class Where> class Subdomains final : public PCDeflationBackend {
public:
  ~Subdomains() override { (void)PetscRRBMatrixReset(&rows_); }
  PetscErrorCode Start() { return where_.Start(); }
  PetscBool on_device() const override { return Where::device; }
  PetscErrorCode SetUp(PC, Mat, const KSPDeflationChoice &, PetscObject, PetscBool, Result *) override;
  const Report &report() const override { return projection_->report(); }
  std::string subdomains() const override { return words_; }
  KSPDeflationInverse inverse() const override { return inverse_; }
  const Space *space() const override { return &space_; }

  PetscErrorCode Restrict(Vec, Vec) override;
  PetscErrorCode Solve() override {
    return where_.Compute([&] { projection_->solve(); });
  }
  PetscErrorCode Prolong(Vec, Vec) override;
  PetscErrorCode Subtract(Vec) override;
  PetscRRBEnqueued enqueued() override {
    const auto correct = [this](const PetscScalar *r, PetscScalar *z, double *terms) {
      projection_->restrict_residual(r, z);
      projection_->solve();
      projection_->prolong(r, z, terms);
    };
    if (ranks_) return {};
    return {where_.Enqueues(correct), {}, {}, build_, projection_->energy_terms()};
  }

private:
  PetscErrorCode GetRows(PC, Mat, PetscBool *rebuild);
  PetscErrorCode Read(PC, Mat, const KSPDeflationChoice &, const double *phi, PetscBool rebuild, Result *);

  Where where_{"deflation"};
  std::unique_ptr<Projection> projection_ = where_.Make([](const auto &...on) { return make_projection(on...); });
  ArrayOf<Where> first_, second_;
  PetscRRBMatrix rows_ = {};
  std::unique_ptr<RanksByMPI> ranks_; /* of a matrix on several */
  typename Where::template Array<PetscInt> ia_, ja_;
  typename Where::template Array<PetscScalar> a_;
  Csr csr_; /* rows_'s, or those with ghosts */
  Space space_;
  KSPDeflationInverse inverse_ = KSP_DEFLATION_EXPLICIT;
  std::string words_;
  const PetscInt64 build_ = PetscRRBNewBuild();
};

/* Another pattern than before has new ghosts. */
template <class Where> PetscErrorCode Subdomains<Where>::GetRows(PC pc, Mat A, PetscBool *rebuild) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PetscRRBMatrixGet(pc, A, &rows_));
  Mat P = rows_.on_ranks;
  if (!P) {
    csr_ = rows_.csr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (*rebuild || !ranks_) {
    *rebuild = PETSC_TRUE;
    PetscCall(PetscRRBTryTogether(comm, where_.say, [&] { ranks_ = std::make_unique<RanksByMPI>(comm, where_.say); }));
    PetscCall(ranks_->overlap.Build(pc, A, P, 1));
    PetscCall(PetscRRBTryTogether(comm, where_.say, [&] {
      if (Where::device) ia_.assign(ranks_->overlap.ia()), ja_.assign(ranks_->overlap.ja());
      a_.resize((std::size_t)ranks_->overlap.entries());
    }));
  }
  PetscCall(ranks_->overlap.Exchange(P, Where::device, a_.data()));
  csr_ = ranks_->overlap.rows(a_.data());
  if (Where::device) csr_.ia = ia_.data(), csr_.ja = ja_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode Subdomains<Where>::Read(PC pc, Mat A, const KSPDeflationChoice &choice, const double *phi,
                                       PetscBool rebuild, Result *result) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const auto run_together = [&](const auto &work) {
    return where_.Compute([&] { PetscRRBThrowTogether(comm, where_.say, work); });
  };

  PetscFunctionBegin;
  if (!rebuild) {
    PetscCall(run_together([&] { *result = projection_->refresh(csr_, phi); }));
    if (*result != Result::rebuild) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCDeflationDescribe(pc, A, choice, where_.Rows(csr_), &space_));
  PetscCall(PetscRRBTryTogether(comm, where_.say,
                                [&] { words_ = PCDeflationWords(choice, (PetscBool)(phi != nullptr), space_); }));
  if (ranks_ && Where::device && space_.phases)
    PetscCall(PetscInfo(pc, "The matrix is on the devices of several ranks: for each set of values, its rows are "
                            "copied to the host, where the phases of a level set are found\n"));
  inverse_ = PCDeflationInverse(choice, Where::device);
  space_.phi = phi;
  if (ranks_) space_.ranks = ranks_.get();
  PetscCall(run_together([&] { *result = projection_->setup(csr_, space_, (Inverse)inverse_); }));
  space_.phi = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode Subdomains<Where>::SetUp(PC pc, Mat A, const KSPDeflationChoice &choice, PetscObject space,
                                        PetscBool rebuild, Result *result) {
  const PetscScalar no_rows = 0; /* a rank without rows may have no array: it has a level set all the same */
  const auto read = [&](const PetscScalar *phi) -> PetscErrorCode {
    PetscErrorCode code = GetRows(pc, A, &rebuild);
    if (!code) code = Read(pc, A, choice, space && !phi ? &no_rows : phi, rebuild, result);
    PetscCall(PetscRRBMatrixRestore(&rows_)); /* of a refused matrix too: it may be gone at the next call */
    return code;
  };

  PetscFunctionBegin;
  PetscCall(first_.Use((Vec)space, READ, read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> PetscErrorCode Subdomains<Where>::Restrict(Vec r, Vec y) {
  PetscInt n = 0;

  PetscFunctionBegin;
  if (r) PetscCall(VecGetLocalSize(r, &n));
  PetscCall(first_.Use(r, READ, [&](const PetscScalar *of_r) {
    return second_.Use(y, READ, [&](const PetscScalar *of_y) {
      return where_.Compute([&] { projection_->restrict_residual(of_r, of_y); });
    });
  }));
  PetscCall(where_.LogFlops((PetscLogDouble)n + (y ? 2.0 * (PetscLogDouble)report().stored : 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> PetscErrorCode Subdomains<Where>::Prolong(Vec y, Vec z) {
  const bool in_place = y == z;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall(second_.Use(in_place ? nullptr : y, READ, [&](const PetscScalar *from) {
    return first_.Use(z, in_place ? READ_WRITE : WRITE, [&](PetscScalar *to) {
      return where_.Compute([&] { projection_->prolong(in_place ? to : from, to); });
    });
  }));
  PetscCall(where_.LogFlops((PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> PetscErrorCode Subdomains<Where>::Subtract(Vec w) {
  PetscFunctionBegin;
  PetscCall(first_.Use(w, READ_WRITE,
                       [&](PetscScalar *of_w) { return where_.Compute([&] { projection_->subtract(of_w); }); }));
  PetscCall(where_.LogFlops(2.0 * (PetscLogDouble)report().stored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCDeflationCreateSubdomains(MPI_Comm comm, PetscBool device,
                                           std::unique_ptr<PCDeflationBackend> *backend) {
  PetscFunctionBegin;
  const PetscErrorCode code = PetscRRBCallTogether(
      comm, PetscRRBSay("deflation"), [&] { return PetscRRBCreateBackend<Subdomains>(device, "deflation", backend); });
  if (code != PETSC_SUCCESS) backend->reset(); /* where it could be made, too */
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
