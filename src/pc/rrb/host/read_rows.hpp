// Reads the rows of a matrix on several ranks on the host, as cuda/read_rows.hpp does on a device.
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/ranks/read_rows.hpp"

#include <limits>

namespace petscrrb::host {

class RankReader {
public:
  RankReader(const Host &, PetscInt own, const std::vector<PetscInt> &ghosts, PetscInt other_entries, const Grid &grid)
      : grid_(grid), transposed_((std::size_t)other_entries, std::numeric_limits<double>::quiet_NaN()),
        identity_((std::size_t)own + ghosts.size()) {}

  void set(const RankRows &rows) {
    rows_ = rows;
#pragma omp parallel for schedule(static) if (rows_.n >= rows_for_threads)
    for (PetscInt p = 0; p < rows_.n; ++p) identity_[(std::size_t)p] = rows_.is_identity(p);
  }
  double *transposed() { return transposed_.data(); }
  unsigned char *identity() { return identity_.data(); }
  bool take_vector(const double *x, double *v) const {
    bool useful = true;
#pragma omp parallel for schedule(static) reduction(&& : useful) if (rows_.n >= rows_for_threads)
    for (PetscInt p = 0; p < rows_.n; ++p) {
      v[p] = scaling(x[p], identity_[(std::size_t)p]);
      useful = useful && is_useful(v[p]);
    }
    return useful;
  }
  RowFacts read(const double *v, double rounding, Positive positive, const rrb::PreparedStencil &to) const {
    return rrb::read_rows(rrb::reading(rows_, transposed_.data(), identity_.data(), v, grid_, rounding, positive, to),
                          grid_);
  }
  std::size_t bytes() const { return 8 * transposed_.size() + identity_.size(); }

private:
  const Grid grid_;
  RankRows rows_; // as they were got
  std::vector<double> transposed_;
  Flags identity_;
};

} // namespace petscrrb::host
