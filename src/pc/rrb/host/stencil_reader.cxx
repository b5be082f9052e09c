// Reads a stencil on the host.
#include "exec/host/host.hpp"
#include "pc/rrb/core/prepare.hpp"
#include "pc/rrb/core/stencil_reader.hpp"

namespace petscrrb::rrb {

namespace {

class OnHost final : public StencilReader {
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
    prepare(stencil_, grid, rounding, positive, facts);
    return result;
  }
  PreparedStencil room(std::size_t n, bool corners, bool scaled) override {
    make_room(stencil_, n, corners, scaled);
    return prepared();
  }
  double *v() override { return stencil_.v.empty() ? nullptr : stencil_.v.data(); }
  PreparedStencil prepared() override { return rrb::prepared(stencil_); }
  double bytes() const override { return stencil_.bytes(); }

private:
  Stencil stencil_;
};

} // namespace

std::unique_ptr<StencilReader> make_stencil_reader(const Host &) { return std::make_unique<OnHost>(); }

} // namespace petscrrb::rrb
