/* The values of the rows that a rank of PCRRB works with. PetscSF's part is on the default stream of a device. */
#include "pc/rrb/pcrrb_row_values.h"

#include "pc/rrb/pcrrb_where.h"

using namespace petscrrb;

namespace {

template <class Where> class RowValues final : public PCRRBRowValues {
public:
  explicit RowValues(Where &where)
      : PCRRBRowValues(Where::device, where.say), where_(where), own_(PCRRBMakeStencil(where.on())) {}

  std::unique_ptr<RankPattern> Pattern(const RankRows &rows, PetscInt ghosts) override {
    return where_.Pattern(rows, ghosts);
  }

  void Prepare(const PetscRRBRankRows &rows, const Grid &grid) override {
    reader_ = nullptr; /* its memory goes first */
    own_rows_ = (std::size_t)rows.own();
    all_ = own_rows_ + (std::size_t)rows.ghosts();
    where_.Ready();
    reader_ = std::make_unique<typename Where::RankReader>(where_.on(), rows.own(), rows.ghost_places(),
                                                           rows.other_entries(), grid);
    if (scaled_) MoveVector();
  }
  void Set(const RankRows &got) override {
    got_ = got;
    where_.Do([&] {
      reader_->set(got);
      if (scaled_) (void)reader_->take_vector(v_.data(), v_.data());
    });
  }
  PetscErrorCode Exchange(const PetscRRBRankRows &rows) override {
    PetscFunctionBegin;
    PetscCall(rows.ExchangeTransposed(Where::device, got_, reader_->transposed()));
    PetscCall(
        rows.ExchangeRows(Where::device, MPI_UNSIGNED_CHAR, reader_->identity(), reader_->identity() + own_rows_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode TakeVector(Vec near_null, PetscMPIInt *usable) override {
    const PetscScalar *x;

    PetscFunctionBegin;
    PetscCall(PCRRBGetArray(Where::device, near_null, &x));
    const PetscErrorCode taken = PetscRRBTryTogether(PetscObjectComm((PetscObject)near_null), say, [&] {
      if (v_.size() != all_) v_.resize(all_);
      where_.Ready();
      *usable = reader_->take_vector(x, v_.data());
    });
    PetscCall(PCRRBRestoreArray(Where::device, near_null, &x));
    PetscCall(taken);
    scaled_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double *vector() override { return v_.data(); }

  RowFacts Read(double rounding, Positive positive, const PCRRBStencilArrays &to) override {
    where_.Ready();
    if (to.v) where_.on().copy(to.v, v_.data(), own_rows_);
    return reader_->read(scaled_ ? v_.data() : nullptr, rounding, positive, to.of);
  }
  PCRRBStencil &own() override { return *own_; }
  double bytes() const override { return own_->bytes() + (double)(v_.bytes() + (reader_ ? reader_->bytes() : 0)); }

private:
  using Array = typename Where::template Array<double>;

  /* That of own rows stays; the number of ghosts may be another one. */
  void MoveVector() {
    if (v_.size() == all_) return;
    Array v(all_);
    where_.on().copy(v.data(), v_.data(), own_rows_);
    where_.Wait();
    v_ = std::move(v);
  }

  Where &where_;
  RankRows got_;
  std::unique_ptr<typename Where::RankReader> reader_;
  std::size_t own_rows_ = 0, all_ = 0;
  Array v_;
  const std::unique_ptr<PCRRBStencil> own_;
};

} // namespace

template <class Where> std::unique_ptr<PCRRBRowValues> PCRRBMakeRowValues(Where &where) {
  return std::make_unique<RowValues<Where>>(where);
}

template std::unique_ptr<PCRRBRowValues> PCRRBMakeRowValues(PCRRBHostWork &);
#if PETSCRRB_ON_DEVICES
template std::unique_ptr<PCRRBRowValues> PCRRBMakeRowValues(PCRRBDeviceWork &);
#endif
