/* The prepared stencil of a matrix where the matrix is, on the host or on a device, and what reads it there. All arrays are there. */
#pragma once

#include "exec/not_copied.hpp"
#include "pc/rrb/core/views.hpp"
#include "stencil/facts.hpp"
#include "stencil/weights.hpp"

#include <functional>
#include <memory>
#include <string>

namespace petscrrb {
struct Host;
class Cuda;
} // namespace petscrrb

class PCRRBStencil : petscrrb::NotCopied {
public:
  virtual ~PCRRBStencil() = default;

  /* Of rows that are all here, as read_stencil() and then rrb::prepare(). near_null: NULL for the constant vector, which takes the place
     of a useless one, too. why: of what is refused, or has a bad pivot; may be NULL. meanwhile(): enqueues work on what is read, before
     anybody knows whether that is to be used. Waits; may throw. */
  virtual petscrrb::ReadResult read(
      const petscrrb::Csr &, const petscrrb::Grid &, const double *near_null, double rounding, petscrrb::Positive,
      petscrrb::RowFacts &, std::string *why, const std::function<void()> &meanwhile = [] {}) = 0;
  /* Room for n points, for whoever reads them in another way. May throw. */
  virtual petscrrb::rrb::PreparedStencil room(std::size_t n, bool corners, bool scaled) = 0;
  virtual double *v() = 0; /* of it, to be written; NULL: it is 1 */

  /* What was read or written last. Its v is NULL where that is 1. */
  virtual petscrrb::rrb::PreparedStencil prepared() = 0;
  virtual double bytes() const = 0;
};

/* on must outlive it. Makes nothing on a device yet. */
std::unique_ptr<PCRRBStencil> PCRRBMakeStencil(const petscrrb::Host &on);
std::unique_ptr<PCRRBStencil> PCRRBMakeStencil(const petscrrb::Cuda &on);
