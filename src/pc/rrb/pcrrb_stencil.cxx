/* The prepared stencil of a matrix, on the host and on a device. */
#include "pc/rrb/pcrrb_stencil.h"

#include "exec/host/host.hpp"
#include "pc/rrb/core/prepare.hpp"
#include "petsc/compat.h"
#if PETSCRRB_ON_DEVICES
  #include "stencil/cuda/stencil.hpp"
#endif

using namespace petscrrb;

namespace {

/* Stencil: or cuda::DeviceStencil */
template <class Stencil> void MakeRoom(Stencil &s, std::size_t n, bool corners, bool scaled) {
  const auto room = [](auto &a, std::size_t size) {
    if (a.size() != size) a.resize(size);
  };
  room(s.C, n), room(s.E, n), room(s.N, n);
  room(s.NE, corners ? n : 0), room(s.NW, corners ? n : 0);
  room(s.v, scaled ? n : 0);
}

class OnHost final : public PCRRBStencil {
public:
  ReadResult read(const Csr &rows, const Grid &grid, const double *near_null, double rounding, Positive positive,
                  RowFacts &facts, std::string *why, const std::function<void()> &) override {
    std::string ignored;
    const ReadResult result = read_stencil(rows, grid, stencil_, facts, why ? *why : ignored);
    if (result != ReadResult::ok) return result;
    std::vector<double> &v = stencil_.v;
    v.resize(near_null ? stencil_.C.size() : 0);
    if (near_null) take_vector((index_t)v.size(), stencil_.identity.data(), near_null, v.data(), facts);
    if (facts.useless_row != no_row) v.clear();
    rrb::prepare(stencil_, grid, rounding, positive, facts);
    return result;
  }
  rrb::PreparedStencil room(std::size_t n, bool corners, bool scaled) override {
    MakeRoom(stencil_, n, corners, scaled);
    return prepared();
  }
  double *v() override { return stencil_.v.empty() ? nullptr : stencil_.v.data(); }
  rrb::PreparedStencil prepared() override { return rrb::prepared(stencil_); }
  double bytes() const override { return stencil_.bytes(); }

private:
  Stencil stencil_;
};

#if PETSCRRB_ON_DEVICES

bool same(const Grid &a, const Grid &b) {
  return std::equal(a.n, a.n + 3, b.n) && std::equal(a.periodic, a.periodic + 3, b.periodic) && a.points == b.points;
}

class OnDevice final : public PCRRBStencil {
public:
  explicit OnDevice(const Cuda &on) : on_(on) {}
  ReadResult read(const Csr &rows, const Grid &grid, const double *near_null, double rounding, Positive positive,
                  RowFacts &facts, std::string *why, const std::function<void()> &meanwhile) override {
    if (!reader_ || !same(grid, grid_) || positive != positive_) {
      reader_ = nullptr;
      reader_ = std::make_unique<cuda::StencilReader>(grid, positive);
      grid_ = grid, positive_ = positive;
    }
    const ReadResult result = reader_->read(rows, near_null, rounding, stencil_, facts, on_.stream, meanwhile);
    if (why && (result == ReadResult::refused || facts.bad_pivot != no_row))
      *why = cuda::why_not(rows, grid, on_.stream);
    return result;
  }
  rrb::PreparedStencil room(std::size_t n, bool corners, bool scaled) override {
    MakeRoom(stencil_, n, corners, scaled);
    stencil_.scaled = scaled;
    return prepared();
  }
  double *v() override { return stencil_.scaled ? stencil_.v.data() : nullptr; }
  rrb::PreparedStencil prepared() override {
    return {stencil_.C.data(), stencil_.E.data(), stencil_.N.data(), stencil_.NE.data(), stencil_.NW.data(), v()};
  }
  double bytes() const override { return stencil_.bytes(); }

private:
  const Cuda &on_;
  cuda::DeviceStencil stencil_;
  std::unique_ptr<cuda::StencilReader> reader_;
  Grid grid_;                           /* which the reader is for, */
  Positive positive_ = Positive::moves; /* and this */
};

#endif

} // namespace

std::unique_ptr<PCRRBStencil> PCRRBMakeStencil(const Host &) { return std::make_unique<OnHost>(); }
#if PETSCRRB_ON_DEVICES
std::unique_ptr<PCRRBStencil> PCRRBMakeStencil(const Cuda &on) { return std::make_unique<OnDevice>(on); }
#endif
