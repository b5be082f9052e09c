/* The values of the rows that a rank of PCRRB works with, on a CUDA device. PetscSF's part is on the default stream. */
#include "pc/rrb/pcrrb_row_values.h"

#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "petsc/stream_cuda.h"
  #include "grid/cuda/find.hpp"
  #include "pc/rrb/cuda/read_rows.hpp"

using namespace petscrrb;

namespace {

class OnDevice final : public PCRRBRowValues {
public:
  explicit OnDevice(PetscRRBStream &stream)
      : PCRRBRowValues(PETSC_TRUE, PetscRRBSay("PCRRB", PETSC_ERR_GPU)), stream_(stream) {}

  std::unique_ptr<RankPattern> Pattern(const RankRows &rows, PetscInt ghosts) override {
    return cuda::make_rank_pattern(rows, ghosts, [this] { return stream_.Ready(); });
  }

  void Prepare(const PetscRRBRankRows &rows, const Grid &grid) override {
    rows_ = nullptr; /* its memory goes first */
    own_rows_ = (std::size_t)rows.own();
    all_ = own_rows_ + (std::size_t)rows.ghosts();
    (void)stream_.Ready();
    rows_ =
        std::make_unique<cuda::RankReader>(stream_.cuda, rows.own(), rows.ghost_places(), rows.other_entries(), grid);
    if (scaled_) MoveVector();
  }
  void Set(const RankRows &got) override {
    got_ = got;
    stream_.Do([&] {
      rows_->set(got);
      if (scaled_) (void)rows_->take_vector(v_.data(), v_.data());
    });
  }
  PetscErrorCode Exchange(const PetscRRBRankRows &rows) override {
    PetscFunctionBegin;
    PetscCall(rows.ExchangeTransposed(PETSC_TRUE, got_, rows_->transposed()));
    PetscCall(rows.ExchangeRows(PETSC_TRUE, MPI_UNSIGNED_CHAR, rows_->identity(), rows_->identity() + own_rows_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode TakeVector(Vec, PetscMPIInt *) override;
  double *vector() override { return v_.data(); }

  RowFacts Read(double rounding, Positive positive, const PCRRBStencilArrays &to) override {
    (void)stream_.Ready();
    if (to.v) stream_.cuda.copy(to.v, v_.data(), own_rows_);
    return rows_->read(scaled_ ? v_.data() : nullptr, rounding, positive, to.of);
  }
  PCRRBStencilRoom own_room() override { return PCRRBRoomIn(own_); }
  double bytes() const override {
    return (double)(own_.C.bytes() + own_.E.bytes() + own_.N.bytes() + own_.NE.bytes() + own_.NW.bytes() + v_.bytes() +
                    (rows_ ? rows_->bytes() : 0));
  }

private:
  void MoveVector();

  PetscRRBStream &stream_;
  RankRows got_;
  std::unique_ptr<cuda::RankReader> rows_;
  std::size_t own_rows_ = 0, all_ = 0;
  cuda::Buffer<double> v_;
  cuda::DeviceStencil own_;
};

/* That of own rows stays; the number of ghosts may be another one. */
void OnDevice::MoveVector() {
  if (v_.size() == all_) return;
  cuda::Buffer<double> v(all_);
  stream_.cuda.copy(v.data(), v_.data(), own_rows_);
  cuda::check(cudaStreamSynchronize(stream_.cuda.stream), "cudaStreamSynchronize");
  v_ = std::move(v);
}

PetscErrorCode OnDevice::TakeVector(Vec near_null, PetscMPIInt *usable) {
  const PetscScalar *x;
  PetscMemType where;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(near_null, &x, &where));
  PetscCheck(!own_rows_ || PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A vector of this matrix is on the host");
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)near_null), say, [&] {
    if (v_.size() != all_) v_.resize(all_);
    (void)stream_.Ready();
    *usable = rows_->take_vector(x, v_.data());
  }));
  PetscCall(VecRestoreArrayReadAndMemType(near_null, &x));
  scaled_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<PCRRBRowValues> PCRRBRowValuesOnDevice(PetscRRBStream &stream) {
  return std::make_unique<OnDevice>(stream);
}

#endif
