// Chooses how E is inverted on a device, and lets src/coarse do it where it can.
#include "ksp/deflation/cuda/inverse.hpp"

#include "dense/cuda/coarse.hpp"
#include "ksp/deflation/cuda/dense.hpp"

#include <numeric>
#include <stdexcept>

namespace petscrrb::deflation {

namespace {

class SubstructuredInverse final : public DeviceInverse {
public:
  SubstructuredInverse(const CoarsePattern &e, const BoxGrid &grid)
      : inverse_(e.size(), e.ia.data(), e.ja.data(), grid.x.data(), grid.y.data(),
                 {grid.n[0], grid.n[1], grid.periodic[0], grid.periodic[1], 1}) {}

  void refresh(const CoarseView &e, cudaStream_t stream) override {
    inverse_.refresh(e.a, e.excess, stream);
    cuda::check(cudaMemcpyAsync(status_.data(), inverse_.device_status(), sizeof(coarse::CoarseStatus),
                                cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync");
  }
  InverseStatus status() const override { return {status_.data()->spd != 0, -1, status_.data()->null_directions}; }
  double *solve(double *c, double *, cudaStream_t stream) const override {
    inverse_.apply(c, c, stream);
    return c;
  }
  std::string description() const override { return "explicit inverse, in two levels of dense blocks"; }
  double bytes() const override { return double(inverse_.bytes()); }

private:
  coarse::DeviceCoarse inverse_;
  cuda::Pinned<coarse::CoarseStatus> status_;
};

// Null: it is not for this pattern. Unknowns that fit into one block may be coupled in any way.
std::unique_ptr<DeviceInverse> make_substructured(const CoarsePattern &e, const std::vector<int> &box,
                                                  const int count[3]) {
  BoxGrid grid;
  const int n = e.size();
  if (n > coarse::largest_n) return nullptr;
  const bool boxes = !box.empty() && fits(e, box, count, grid);
  if (!boxes && n > coarse::largest_interior) return nullptr;
  if (!boxes) {
    grid = BoxGrid{{n, 1}, {false, false}, std::vector<int>(n), std::vector<int>(n, 0)};
    std::iota(grid.x.begin(), grid.x.end(), 0);
  }
  try {
    return std::make_unique<SubstructuredInverse>(e, grid);
  } catch (const std::invalid_argument &) { // rows too long for its kernels, or too many subdomains in a box
    return nullptr;
  }
}

} // namespace

std::unique_ptr<DeviceInverse> make_inverse(const CoarsePattern &e, const std::vector<int> &box, const int count[3],
                                            Inverse type, std::shared_ptr<DenseLibrary> &library, cudaStream_t stream) {
  if (type == Inverse::explicit_inverse)
    if (auto inverse = make_substructured(e, box, count)) return inverse;
  if (!library) library = std::make_shared<DenseLibrary>();
  return std::make_unique<DenseInverse>(e.size(), type, library, stream);
}

} // namespace petscrrb::deflation
