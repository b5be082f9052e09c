/* Each rank looks at its own rows; then all take the first, the sum or the union of what they found. */
#include "pattern_ranks.h"

#include "../grid/line_reach.hpp"
#include "../grid/text.hpp"
#include "agree.h"
#include "mpi_throws.h"

#include <algorithm>
#include <stdexcept>

using namespace petscrrb;

static index_t Smallest(MPI_Comm comm, index_t x) {
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPIU_INT64, MPI_MIN, comm));
  return x;
}

/* f(column, value) until it returns false */
template <class F> void PetscRRBPatternOnRanks::each_coupling(PetscInt p, const F &f) const {
  if (identity_[(std::size_t)p]) return;
  for (PetscInt e = A_.ia[p]; e < A_.ia[p + 1]; ++e) {
    const PetscInt q = A_.ja[e];
    if (q == p || A_.a[e] == 0 || identity_[(std::size_t)q]) continue;
    if (!f(q)) return;
  }
}

std::string PetscRRBPatternOnRanks::mark_identity() {
  Csr all = A_;
  PetscRRBTrouble trouble;

  all.n += overlap_.ghosts();
  (void)petscrrb::mark_identity(all, identity_);
  for (PetscInt p = 0; p < A_.n && trouble.why.empty(); ++p)
    for (PetscInt e = A_.ia[p]; e < A_.ia[p + 1] && trouble.why.empty(); ++e)
      if (not_finite(A_.a[e]) != 0)
        trouble.why = "The matrix is not finite: row " + text(index_t(overlap_.global(p))) + ", column " +
                      text(index_t(overlap_.global(A_.ja[e]))) + " holds " + text(A_.a[e]);
  if (PetscRRBFirstTrouble(comm_, &trouble)) throw std::runtime_error("MPI failed");
  return trouble.why;
}

/* Of all ranks, by rows; complete if there are no more than `most` distances, else more than that many. */
std::vector<PetscRRBPatternOnRanks::Seen> PetscRRBPatternOnRanks::first_seen(std::size_t most) const {
  const auto first = [most](std::vector<Seen> found) {
    std::vector<Seen> kept;
    std::stable_sort(found.begin(), found.end(), [](const Seen &a, const Seen &b) { return a.row < b.row; });
    for (const Seen &s : found) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const Seen &k) { return k.distance == s.distance; });
      if (!known && kept.size() <= most) kept.push_back(s);
    }
    return kept;
  };
  std::vector<Seen> mine;
  for (PetscInt p = 0; p < A_.n && mine.size() <= most; ++p)
    each_coupling(p, [&](PetscInt q) {
      const index_t d = std::abs(at(q) - at(p));
      if (std::none_of(mine.begin(), mine.end(), [d](const Seen &s) { return s.distance == d; }))
        mine.push_back({d, at(p), at(q)});
      return mine.size() <= most;
    });
  std::vector<index_t> numbers;
  for (const Seen &s : mine) numbers.insert(numbers.end(), {s.distance, s.row, s.column});
  numbers = PetscRRBAllGather(comm_, MPIU_INT64, numbers);
  std::vector<Seen> all;
  for (std::size_t i = 0; i < numbers.size(); i += 3) all.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return first(all);
}

Distances PetscRRBPatternOnRanks::distances(std::size_t most) {
  const std::vector<Seen> seen = first_seen(most);
  Distances d;
  for (const Seen &s : seen) d.all.push_back(s.distance);
  d.too_many = d.all.size() > most;
  if (d.too_many) d.all.pop_back();
  std::sort(d.all.begin(), d.all.end());
  return d;
}

Pair PetscRRBPatternOnRanks::one_too_many(std::size_t most) {
  const Seen last = first_seen(most).back();
  return {(PetscInt)last.row, (PetscInt)last.column};
}

Fit PetscRRBPatternOnRanks::fit(const Grid &g) {
  LineReach reach(g);
  const auto &step = g.dim == 3 ? step3d : step2d;
  index_t row = rows_, column = -1;
  unsigned bits[2] = {}; /* directions; sides whose seams are crossed */

  for (PetscInt p = 0; p < A_.n && row == rows_; ++p) {
    const Reach &r = reach(at(p));
    const index_t here[3] = {at(p) % g.n[0], at(p) / g.n[0] % g.n[1], at(p) / (g.n[0] * g.n[1])};
    each_coupling(p, [&](PetscInt q) {
      const int m = r.direction((PetscInt)(at(q) - at(p)));
      if (m < 0) {
        row = at(p), column = at(q);
        return false;
      }
      bits[0] |= 1u << m;
      for (int x = 0; x < 3; ++x)
        if ((here[x] == 0 && step[m][x] < 0) || (here[x] == g.n[x] - 1 && step[m][x] > 0)) bits[1] |= 1u << x;
      return true;
    });
  }
  Fit f;
  const index_t first = Smallest(comm_, row);
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, bits, 2, MPI_UNSIGNED, MPI_BOR, comm_));
  if (first < rows_) {
    f.row = (PetscInt)first;
    f.column = (PetscInt)-Smallest(comm_, row == first ? -column : 1);
  }
  f.seen = bits[0];
  for (int x = 0; x < 3; ++x) f.seam[x] = bits[1] >> x & 1;
  return f;
}

const std::vector<index_t> &PetscRRBPatternOnRanks::identity_rows() {
  if (asked_) return identity_rows_;
  std::vector<index_t> mine;
  for (PetscInt p = 0; p < A_.n; ++p)
    if (identity_[(std::size_t)p]) mine.push_back(at(p));
  identity_rows_ = PetscRRBAllGather(comm_, MPIU_INT64, mine);
  std::sort(identity_rows_.begin(), identity_rows_.end());
  asked_ = true;
  return identity_rows_;
}

bool PetscRRBPatternOnRanks::is_complete(const Grid &grid, const Fit &f) {
  Grid g = grid;
  for (int x = 0; x < 3; ++x) g.periodic[x] = f.seam[x];
  LineReach reach(g);
  const unsigned used = used_directions(g, f);
  const index_t none = g.n[0] * g.n[1] * g.n[2];
  const std::vector<index_t> &identity = identity_rows();
  index_t complete = 1;

  for (PetscInt p = 0; p < A_.n; ++p) {
    if (identity_[(std::size_t)p]) continue;
    const Reach &r = reach(at(p));
    unsigned missing = used;
    for (PetscInt e = A_.ia[p]; e < A_.ia[p + 1]; ++e) {
      const int m = A_.a[e] != 0 ? r.direction((PetscInt)(at(A_.ja[e]) - at(p))) : -1;
      if (m >= 0) missing &= ~(1u << m);
    }
    for (int m = 1; m < g.points; ++m)
      if (missing >> m & 1 && r.d[m] != none && !std::binary_search(identity.begin(), identity.end(), at(p) + r.d[m]))
        complete = 0;
  }
  return Smallest(comm_, complete) == 1;
}

double PetscRRBPatternOnRanks::coupling(PetscInt row, PetscInt column) {
  double value = 0;
  for (PetscInt p = 0; p < A_.n; ++p)
    for (PetscInt e = A_.ia[p]; at(p) == row && e < A_.ia[p + 1]; ++e)
      if (at(A_.ja[e]) == column) value = A_.a[e];
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm_));
  return value;
}
