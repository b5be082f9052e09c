// The true residual in higher precision, and a solver's norms of it.
#pragma once

#include "oracle.hpp"

namespace longtest {

template <class F> // f(to, from, a) for each entry that is not 0 of the operator, which may be the transpose
void each_entry(const Claim &c, const F &f) {
  for (std::size_t i = 0; i < c.problem->A.row.size(); ++i)
    for (const auto &[j, a] : c.problem->A.row[i])
      if (a != 0) c.transposed ? f(std::size_t(j), i, Long(a)) : f(i, std::size_t(j), Long(a));
}

struct Residual {
  Longs r;       // b - A x
  Longs rounded; // the numbers whose rounding errors r may have
};

Residual residual(const Claim &, const reference::Vector *x, bool projected); // x NULL: 0
Long norm(const Longs &);
reference::Vector preconditioned(const Claim &, PC,
                                 const reference::Vector &); // as the claim's operator, which may be the transpose

// A solver's norms of vectors, with its preconditioner.
class Norm {
public:
  // own_loop: that of a preconditioner's own Richardson iteration, which looks at the residual itself
  explicit Norm(const Claim &, bool own_loop = false);
  bool known() const { return known_; }
  KSPNormType type() const { return type_; }

  // of a natural norm's square `absolute` takes the sum without cancellation; the preconditioner gets v with a largest number of `largest`
  Long operator()(const Longs &, bool absolute = false, Long largest = 1) const;

  // As KSPConvergedDefault() takes that of b: r . z, with the preconditioner inside of a deflation where there is one.
  Long of_rhs(const Longs &) const;

private:
  const Claim &c_;
  KSPNormType type_;
  PC pc_;
  bool known_;
  bool by_products_; // z . A z in the place of r . z: the natural norm of the conjugate residual methods
};

} // namespace longtest
