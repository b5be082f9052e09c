// Sums over the couplings of nodes on the host.
#pragma once

#include "exec/host/sums.hpp"
#include "pc/rrb/graph/couplings.hpp"

namespace petscrrb::rrb {

template <> struct CouplingSums<Host> {
  template <class F> static void each(const Host &, node_t n, double /* on_average */, const F &f) {
    constexpr node_t piece = 4096; // nodes that a thread takes at once: see GraphLoops
#pragma omp parallel for schedule(dynamic, piece) if (n > host::serial_below)
    for (node_t i = 0; i < n; ++i) f.take(i, sum(f, i));
  }

  static index_t most_terms(index_t n) { return ListAsBox::rows(n); }
  template <class F>
  static Terms terms(const Host &, index_t n, double /* on_average */, const F &f, PartialSum<Host> &partial) {
    const index_t rows = ListAsBox::rows(n);
    double *const term = partial.take(rows);
#pragma omp parallel for schedule(static) if (n > host::serial_below)
    for (index_t k = 0; k < rows; ++k) {
      double of_row = 0.0;
      for (index_t i = k * ListAsBox::width; i < std::min((k + 1) * ListAsBox::width, n); ++i)
        of_row += f.take(i, sum(f, i));
      term[k] = of_row;
    }
    return {term, rows};
  }

private:
  template <class F> static double sum(const F &f, index_t i) {
    const auto &[begin, end, column, weight] = f.couplings;
    double sum = f.own(i);
    for (auto k = begin[i]; k < end[i]; ++k) sum += f.term(i, weight[k], column[k]);
    return sum;
  }
};

} // namespace petscrrb::rrb
