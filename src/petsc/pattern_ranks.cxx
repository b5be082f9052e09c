/* Each rank looks at its own rows; then all take the first, the sum or the union of what they found. */
#include "petsc/pattern_ranks.h"

#include "grid/text.hpp"
#include "petsc/mpi_throws.h"

#include <algorithm>

using namespace petscrrb;

static const PetscRRBSay say("the pattern of the matrix");

static index_t Smallest(MPI_Comm comm, index_t x) {
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPIU_INT64, MPI_MIN, comm));
  return x;
}

PetscRRBPatternOnRanks::PetscRRBPatternOnRanks(Mat P, const PetscRRBRankRows &rows, RankPattern *mine)
    : P_(P), comm_(PetscObjectComm((PetscObject)P)), rows_(rows), device_(mine) {
  PetscRRBCheckSent(MatGetSize(P, &size_, NULL));
}

PetscRRBPatternOnRanks::~PetscRRBPatternOnRanks() { (void)rows_.Restore(P_, PETSC_FALSE, &view_); }

HostRankPattern &PetscRRBPatternOnRanks::look() {
  if (host_) return *host_;
  PetscRRBCheckSent(rows_.Get(P_, PETSC_FALSE, &view_));
  host_ = std::make_unique<HostRankPattern>(view_, rows_.ghosts());
  return *host_;
}

HostRankPattern &PetscRRBPatternOnRanks::on_host() {
  PetscRRBThrowTogether(comm_, say, [&] { (void)look(); });
  HostRankPattern &host = look();
  if (!marked_) {
    PetscRRBThrowTogether(comm_, say, [&] { (void)host.mark_identity(); });
    exchange_identity(host, PETSC_FALSE);
  }
  marked_ = true;
  return host;
}

void PetscRRBPatternOnRanks::exchange_identity(RankPattern &of, PetscBool device) {
  PetscRRBCheckSent(rows_.ExchangeRows(device, MPI_UNSIGNED_CHAR, of.identity(), of.identity() + rows_.own()));
}

std::string PetscRRBPatternOnRanks::mark_identity() {
  PetscRRBTrouble trouble;

  PetscRRBThrowTogether(comm_, say, [&] {
    if (!here().mark_identity())
      trouble.why = where_not_finite(look().rows(), [&](PetscInt row, PetscInt column) {
        return "row " + text(index_t(rows_.global(row))) + ", column " + text(index_t(rows_.global(column)));
      });
  });
  PetscRRBCheckSent(PetscRRBFirstTrouble(comm_, &trouble));
  if (!trouble.why.empty()) return trouble.why;
  exchange_identity(here(), device_ ? PETSC_TRUE : PETSC_FALSE);
  marked_ = !device_;
  return "";
}

Distances PetscRRBPatternOnRanks::distances(std::size_t most) {
  Distances mine, d;

  PetscRRBThrowTogether(comm_, say, [&] { mine = here().distances(most); });
  d.all = PetscRRBAllGather(comm_, MPIU_INT64, mine.all);
  std::sort(d.all.begin(), d.all.end());
  d.all.erase(std::unique(d.all.begin(), d.all.end()), d.all.end());
  d.too_many = d.all.size() > most || Smallest(comm_, mine.too_many ? 0 : 1) == 0;
  return d;
}

Pair PetscRRBPatternOnRanks::one_too_many(std::size_t most) {
  std::vector<index_t> numbers;
  std::vector<Seen> all;
  std::vector<PetscInt> known;

  const HostRankPattern &host = on_host();
  PetscRRBThrowTogether(comm_, say, [&] {
    for (const Seen &s : host.first_seen(most)) numbers.insert(numbers.end(), {s.distance, s.row, s.column});
  });
  numbers = PetscRRBAllGather(comm_, MPIU_INT64, numbers);
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    all.push_back({PetscInt(numbers[i]), PetscInt(numbers[i + 1]), PetscInt(numbers[i + 2])});
  std::stable_sort(all.begin(), all.end(), [](const Seen &a, const Seen &b) { return a.row < b.row; });
  for (const Seen &s : all) {
    if (std::find(known.begin(), known.end(), s.distance) != known.end()) continue;
    if (known.size() == most) return {s.row, s.column};
    known.push_back(s.distance);
  }
  return {-1, -1};
}

Fit PetscRRBPatternOnRanks::fit(const Grid &g) {
  Fit f;
  PetscRRBThrowTogether(comm_, say, [&] { f = here().fit(g); });
  unsigned bits[2] = {f.seen, 0}; /* directions; sides whose seams are crossed */
  const index_t row = f.ok() ? size_ : f.row, first = Smallest(comm_, row);

  for (int x = 0; x < 3; ++x) bits[1] |= f.seam[x] ? 1u << x : 0u;
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, bits, 2, MPI_UNSIGNED, MPI_BOR, comm_));
  if (first < size_) {
    f.column = (PetscInt)-Smallest(comm_, row == first ? -(index_t)f.column : 1);
    f.row = (PetscInt)first;
  }
  f.seen = bits[0];
  for (int x = 0; x < 3; ++x) f.seam[x] = bits[1] >> x & 1;
  return f;
}

bool PetscRRBPatternOnRanks::is_complete(const Grid &grid, const Fit &f) {
  const HostRankPattern &host = on_host();
  bool complete = false;
  std::vector<PetscInt> asked;
  PetscRRBThrowTogether(comm_, say, [&] { asked = host.missing(grid, f, &complete); });

  asked = PetscRRBAllGather(comm_, MPIU_INT, asked);
  for (const PetscInt place : asked) complete = complete && !host.has_coupled(place);
  return Smallest(comm_, complete) == 1;
}

index_t PetscRRBPatternOnRanks::coupled_rows() {
  PetscInt64 rows = on_host().coupled_rows();
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPIU_INT64, MPI_SUM, comm_));
  return rows;
}

double PetscRRBPatternOnRanks::coupling(PetscInt row, PetscInt column) {
  double value = on_host().coupling(row, column);
  PetscRRBCheckMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm_));
  return value;
}
