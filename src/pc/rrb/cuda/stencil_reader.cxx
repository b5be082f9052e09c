// Reads a stencil on a device.
#if defined(PETSCRRB_HAVE_CUDA)

  #include "pc/rrb/core/stencil_reader.hpp"
  #include "stencil/cuda/stencil.hpp"

  #include <algorithm>

namespace petscrrb::rrb {

namespace {

bool same(const Grid &a, const Grid &b) {
  return std::equal(a.n, a.n + 3, b.n) && std::equal(a.periodic, a.periodic + 3, b.periodic) && a.points == b.points;
}

class OnDevice final : public StencilReader {
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
  PreparedStencil room(std::size_t n, bool corners, bool scaled) override {
    make_room(stencil_, n, corners, scaled);
    stencil_.scaled = scaled;
    return prepared();
  }
  double *v() override { return stencil_.scaled ? stencil_.v.data() : nullptr; }
  PreparedStencil prepared() override {
    return {stencil_.C.data(), stencil_.E.data(), stencil_.N.data(), stencil_.NE.data(), stencil_.NW.data(), v()};
  }
  double bytes() const override { return stencil_.bytes(); }

private:
  const Cuda &on_;
  cuda::DeviceStencil stencil_;
  std::unique_ptr<cuda::StencilReader> reader_;
  Grid grid_;                           // which the reader is for,
  Positive positive_ = Positive::moves; // and this
};

} // namespace

std::unique_ptr<StencilReader> make_stencil_reader(const Cuda &on) { return std::make_unique<OnDevice>(on); }

} // namespace petscrrb::rrb

#endif
