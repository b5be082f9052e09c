// How the rows of all ranks come to each of them: counts, columns and values, one message each, as numbers like those of an application.
#pragma once

#include "pc/rrb/graph/graph.hpp"
#include "pc/rrb/graph/matrix_reader.hpp"

#include <algorithm>
#include <numeric>

namespace petscrrb::rrb {

// A rank sends how many nonzeros each row has in its own columns, and then in those of others; and the columns likewise.
struct SendCounts {
  RankRows rows;
  double *to;

  PETSCRRB_HD static double count(const Csr &A, node_t i) { return A.ia ? double(A.ia[i + 1] - A.ia[i]) : 0.0; }
  PETSCRRB_HD void operator()(node_t i) const { to[i] = count(rows.own, i), to[rows.n + i] = count(rows.others, i); }
};
struct SendColumns {
  const PetscInt *column, *ghosts; // ghosts NULL: own columns, which follow `first`
  PetscInt first;
  double *to;

  PETSCRRB_HD void operator()(node_t k) const { to[k] = double(ghosts ? ghosts[column[k]] : first + column[k]); }
};

// Row i of a rank. start: its counts, then sums of all before.
struct RowOfRank {
  const node_t *start;
  node_t rows;
  const PetscInt *place;
};
struct CountRow : RowOfRank {
  node_t *count; // by places

  PETSCRRB_HD void operator()(node_t i) const { count[place[i]] = start[i] + start[rows + i]; }
};
struct FillRow : RowOfRank {
  const double *columns;        // as they were sent
  const PetscInt *place_of_all; // row
  const node_t *row_start;
  PetscInt *column;
  node_t *from; // of each nonzero, its number among those that were sent

  PETSCRRB_HD void operator()(node_t i) const {
    const node_t first = row_start[place[i]];
    node_t e = first;
    for (int block = 0; block < 2; ++block)
      for (node_t k = start[block * rows + i]; k < start[block * rows + i + 1]; ++k, ++e) {
        column[e] = place_of_all[node_t(columns[k])];
        from[e] = k;
      }
    sort(column + first, from + first, e - first);
  }
  // By Shell's method, in place: most rows are short, and nearly in order.
  PETSCRRB_HD static void sort(PetscInt *column, node_t *from, node_t n) {
    for (node_t gap = n; gap > 1;) {
      gap = gap < 8 ? 1 : gap / 4;
      for (node_t i = gap; i < n; ++i) {
        const PetscInt c = column[i];
        const node_t f = from[i];
        node_t k = i;
        for (; k >= gap && column[k - gap] > c; k -= gap) column[k] = column[k - gap], from[k] = from[k - gap];
        column[k] = c, from[k] = f;
      }
    }
  }
};

template <class Backend> class GatheredRows final : public RowsOfRanks {
  using Loops = GraphLoops<Backend>;
  template <class T> using Array = typename Backend::template Array<T>;

public:
  GatheredRows(const Backend &on, std::unique_ptr<Ranks> ranks, const std::vector<index_t> &rows,
               const std::vector<index_t> &nonzeros)
      : on_(on), ranks_(std::move(ranks)), rows_(rows), counts_(rows), nonzeros_(nonzeros), n_(sum(rows)),
        total_(sum(nonzeros)), mine_(std::size_t(nonzeros[std::size_t(ranks_->rank())])),
        all_(std::size_t(std::max(2 * n_, total_))), column_(std::size_t(total_)), row_(std::size_t(n_) + 1),
        from_(std::size_t(total_)), values_(std::size_t(total_)) {
    for (index_t &count : counts_) count *= 2;
    my_counts_.resize(std::size_t(counts_[std::size_t(ranks_->rank())]));
    start_.resize(2 * std::size_t(n_) + 1), row_start_.resize(std::size_t(n_) + 1);
  }

  void pack(const RankRows &mine, index_t own, PetscInt first, const std::vector<PetscInt> &ghosts,
            const std::vector<PetscInt> &place) override {
    own_ = own;
    Backend::assign(place_, place), Backend::assign(ghosts_, ghosts);
    Loops::each(on_, node_t(mine.n), SendCounts{mine, my_counts_.data()});
    Loops::each(on_, node_t(own), SendColumns{mine.own.ja, nullptr, first, mine_.data()});
    Loops::each(on_, others(), SendColumns{mine.others.ja, ghosts_.data(), 0, mine_.data() + own});
  }
  void gather() override {
    ranks_->gather(my_counts_.data(), counts_, all_.data());
    Loops::each(on_, node_t(2 * n_), CopyNumber{all_.data(), start_.data()});
    ranks_->gather(mine_.data(), nonzeros_, all_.data());
  }
  void put_together() override {
    ChoiceLoops<Backend> offsets(on_);
    each_rank([&](const RowOfRank &r) { Loops::each(on_, r.rows, CountRow{r, row_start_.data()}); });
    offsets.offsets(row_start_.data(), node_t(n_), any_number);
    offsets.offsets(start_.data(), node_t(2 * n_), any_number);
    each_rank([&](const RowOfRank &r) {
      Loops::each(on_, r.rows, FillRow{r, all_.data(), place_.data(), row_start_.data(), column_.data(), from_.data()});
    });
    Loops::each(on_, node_t(n_ + 1), CopyNumber{row_start_.data(), row_.data()});
    for (Array<node_t> *a : {&start_, &row_start_}) a->resize(0);
    for (Array<PetscInt> *a : {&place_, &ghosts_}) a->resize(0);
    my_counts_.resize(0);
  }
  Csr gather_values(const RankRows &mine) override {
    if (own_) on_.copy(mine_.data(), mine.own.a, std::size_t(own_)); // PETSc may have no array where there are none
    if (others()) on_.copy(mine_.data() + own_, mine.others.a, std::size_t(others()));
    ranks_->gather(mine_.data(), nonzeros_, all_.data());
    Loops::each(on_, node_t(total_), TakeFrom{all_.data(), from_.data(), values_.data()});
    return {PetscInt(n_), row_.data(), column_.data(), values_.data()};
  }
  std::size_t bytes() const override { return bytes_of(mine_, all_, column_, row_, from_, values_); }

private:
  static index_t sum(const std::vector<index_t> &n) { return std::accumulate(n.begin(), n.end(), index_t(0)); }
  node_t others() const { return node_t(nonzeros_[std::size_t(ranks_->rank())] - own_); }
  template <class F> void each_rank(const F &f) const {
    index_t first = 0;
    for (const index_t rows : rows_) {
      f(RowOfRank{start_.data() + 2 * first, node_t(rows), place_.data() + first});
      first += rows;
    }
  }

  const Backend &on_;
  const std::unique_ptr<Ranks> ranks_;
  const std::vector<index_t> rows_; // of each rank
  std::vector<index_t> counts_;     // two a row
  const std::vector<index_t> nonzeros_;
  const index_t n_, total_;
  index_t own_ = 0; // of this rank's nonzeros, those in its own columns, which come first
  Array<double> mine_, all_;
  Array<PetscInt> column_, row_;
  Array<node_t> from_;
  Array<double> values_;
  Array<double> my_counts_; // these and what follows go when the rows are put together
  Array<node_t> start_, row_start_;
  Array<PetscInt> place_, ghosts_;
};

template <class Backend>
std::unique_ptr<RowsOfRanks> make_rows_of_ranks(const Backend &on, std::unique_ptr<Ranks> ranks,
                                                const std::vector<index_t> &rows,
                                                const std::vector<index_t> &nonzeros) {
  return std::make_unique<GatheredRows<Backend>>(on, std::move(ranks), rows, nonzeros);
}

} // namespace petscrrb::rrb
