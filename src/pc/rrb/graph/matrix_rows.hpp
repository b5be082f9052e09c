// How the rows of a matrix become a graph.
#pragma once

#include "pc/rrb/graph/matrix_graph.hpp"
#include "pc/rrb/graph/matrix_reader.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace petscrrb::rrb {

template <class Backend> class MatrixRows final : public MatrixReader {
  using Loops = GraphLoops<Backend>;
  template <class T> using Array = typename Backend::template Array<T>;

public:
  explicit MatrixRows(const Backend &on) : on_(on), found_(on) {}

  void set(const Csr &A, const Grid &grid) override {
    if (A.n > most_points_on_graph) throw std::length_error("RRB on no 2D grid takes matrices of at most 2^28 rows");
    const node_t n = node_t(A.n);
    nx_ = ny_ = 0;
    if (grid.dim == 3 && std::max({grid.n[0], grid.n[1], grid.n[2]}) <= longest_side) nx_ = grid.n[0], ny_ = grid.n[1];
    ChoiceLoops<Backend> choosing(on_);
    rows_.start.resize(n + 1);
    Loops::each(on_, n, CountOffDiagonal{A, rows_.start.data()});
    const node_t couplings = choosing.offsets(rows_.start.data(), n, any_number);
    if (couplings > std::numeric_limits<node_t>::max() - n) // an entry's place is a node_t, that of a diagonal, too
      throw std::length_error("RRB on no 2D grid takes matrices of fewer than 2^31 nonzeros");
    rows_.column.resize(couplings), place_.resize(couplings), transposed_.resize(couplings), w_.resize(couplings);
    diagonal_.resize(n), e_.resize(n), identity_.resize(n);
    Loops::each(on_, n, ListOffDiagonal{A, rows_.start.data(), rows_.column.data(), place_.data(), diagonal_.data()});
    Loops::together_or_alone(on_, n, rows_.on_average(),
                             ListTransposed{rows_.rows(), place_.data(), transposed_.data()});
  }

  RowFacts read(const Csr &A, const double *near_null, double rounding,
                const std::function<void()> &meanwhile) override {
    const node_t n = node_t(A.n);
    RowFacts useless;
    scaled_ = near_null;
    if (near_null && v_.size() != std::size_t(n)) v_.resize(n);
    const MarkIdentityRow mark{A, identity_.data(), near_null, v_.data()};
    if (!near_null) {
      Loops::each(on_, n, mark);
    } else {
      found_.clear();
      found_.at_rows(n, mark);
      useless = found_.read();
      scaled_ = useless.useless_row == no_row;
    }
    found_.clear();
    found_.at_rows(n, WeighRow{A, rows_.rows(), place_.data(), transposed_.data(), diagonal_.data(), identity_.data(),
                               v(), rounding, w_.data(), e_.data()});
    RowFacts found = found_.read(meanwhile);
    found.useless_row = useless.useless_row, found.useless_value = useless.useless_value;
    return found;
  }

  PreparedStencil prepared() const override {
    PreparedStencil s;
    s.v = v();
    s.rows = {rows_.start.data(), rows_.column.data(), w_.data(), e_.data(), nx_, ny_};
    return s;
  }
  index_t couplings() const override { return rows_.couplings(); }
  std::size_t bytes() const override { return bytes_of(rows_, place_, transposed_, diagonal_, w_, e_, v_, identity_); }

private:
  const double *v() const { return scaled_ ? v_.data() : nullptr; }

  const Backend &on_;
  RowArrays<Backend> rows_;
  Array<node_t> place_, transposed_, diagonal_; // of each coupling among the entries, of a_qp, of each row's diagonal
  Array<double> w_, e_, v_;
  Array<unsigned char> identity_;
  RowLoops<Backend> found_;
  bool scaled_ = false;
  index_t nx_ = 0, ny_ = 0;
};

template <class Backend> std::unique_ptr<MatrixReader> make_matrix_reader(const Backend &on) {
  return std::make_unique<MatrixRows<Backend>>(on);
}

} // namespace petscrrb::rrb
