// The rows of all ranks put together.
#include "pc/rrb/host/rows_of_ranks.hpp"

#include "pc/rrb/host/graph_loops.hpp"

#include <numeric>

namespace petscrrb::rrb {

namespace {

// By Shell's method, in place: most rows are short, and nearly in order.
void sort_row(PetscInt *column, node_t *from, PetscInt n) {
  for (const PetscInt gap : {701, 301, 132, 57, 23, 10, 4, 1})
    for (PetscInt i = gap; i < n; ++i) {
      const PetscInt c = column[i];
      const node_t f = from[i];
      PetscInt k = i;
      for (; k >= gap && column[k - gap] > c; k -= gap) column[k] = column[k - gap], from[k] = from[k - gap];
      column[k] = c, from[k] = f;
    }
}

// Where the nonzeros of each row's blocks begin among those that were sent.
host::Buffer<node_t> starts_of(const RowsOfRanks &sent) {
  host::Buffer<node_t> start(sent.counts.size());
  node_t e = 0;
  std::size_t first = 0;
  for (const index_t rows : sent.rows) {
    const std::size_t end = first + 2 * std::size_t(rows);
    for (const std::size_t block : {0, 1})
      for (std::size_t i = first + block; i < end; i += 2) {
        start.data()[i] = e;
        e += sent.counts.data()[i];
      }
    first = end;
  }
  return start;
}

} // namespace

void put_together(const RowsOfRanks &sent, const PetscInt *place, RowsTogether *all) {
  using Loops = GraphLoops<Host>;
  const Host on;
  const node_t n = node_t(std::accumulate(sent.rows.begin(), sent.rows.end(), index_t(0)));
  const host::Buffer<node_t> starts = starts_of(sent);
  const node_t *const start = starts.data(), *const count = sent.counts.data(), *const column = sent.columns.data();

  all->ia.resize(std::size_t(n) + 1), all->ja.resize(sent.columns.size()), all->from.resize(sent.columns.size());
  PetscInt *const ia = all->ia.data(), *const ja = all->ja.data();
  node_t *const from = all->from.data();
  Loops::each(on, n, [&](node_t i) { ia[place[i] + 1] = count[2 * i] + count[2 * i + 1]; });
  std::partial_sum(ia, ia + n + 1, ia);
  Loops::each(on, n, [&](node_t i) {
    PetscInt e = ia[place[i]];
    for (const node_t b : {2 * i, 2 * i + 1})
      for (node_t k = start[b]; k < start[b] + count[b]; ++k, ++e) ja[e] = place[column[k]], from[e] = k;
    sort_row(ja + ia[place[i]], from + ia[place[i]], count[2 * i] + count[2 * i + 1]);
  });
}

void take_in_order(const host::Buffer<PetscScalar> &values, const host::Buffer<node_t> &from, PetscScalar *to) {
  GraphLoops<Host>::each(Host(), node_t(from.size()), [&](node_t i) { to[i] = values.data()[from.data()[i]]; });
}

} // namespace petscrrb::rrb
