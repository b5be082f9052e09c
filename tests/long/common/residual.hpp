// The true residual in higher precision, and a solver's norms of it.
#pragma once

#include "oracle.hpp"

namespace longtest {

struct Residual {
  Longs r;       // b - A x
  Longs rounded; // the numbers whose rounding errors r may have
};

Residual residual(const Claim &, const reference::Vector *x, bool projected); // x NULL: 0
Long norm(const Longs &);

// A solver's norms of vectors, with its preconditioner.
class Norm {
public:
  // own_loop: that of a preconditioner's own Richardson iteration, which looks at the residual itself
  explicit Norm(const Claim &, bool own_loop = false);
  bool known() const { return known_; }
  KSPNormType type() const { return type_; }

  // of a natural norm's square `absolute` takes the sum without cancellation; the preconditioner gets v with a largest number of `largest`
  Long operator()(const Longs &, bool absolute = false, Long largest = 1) const;

  // With the preconditioner inside of a deflation, where there is one: it makes the norm of b that tolerances refer to.
  Long inner(const Longs &) const;

private:
  const Claim &c_;
  KSPNormType type_;
  PC pc_;
  bool known_;
};

} // namespace longtest
