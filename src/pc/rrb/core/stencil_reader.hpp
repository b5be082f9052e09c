// Reads a matrix that is on a 2D grid into a prepared stencil (prepare.hpp), on the host or on a device, where all arrays are. One that is on
// no grid: graph/matrix_reader.hpp.
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

namespace rrb {

class StencilReader : NotCopied {
public:
  virtual ~StencilReader() = default;

  // Rows that are all here, as read_stencil() and then prepare(). near_null: NULL for the constant vector, which takes the place of a
  // useless one, too. why: of what is refused, or has a bad pivot; may be NULL. meanwhile(): enqueues work on what is read, before anybody
  // knows whether that is to be used. Waits.
  virtual ReadResult read(
      const Csr &, const Grid &, const double *near_null, double rounding, Positive, RowFacts &, std::string *why,
      const std::function<void()> &meanwhile = [] {}) = 0;
  // Room for n points, for whoever reads them in another way.
  virtual PreparedStencil room(std::size_t n, bool corners, bool scaled) = 0;
  virtual double *v() = 0; // of it, to be written; NULL: it is 1

  // What was read or written last. Its v is NULL where that is 1.
  virtual PreparedStencil prepared() = 0;
  virtual double bytes() const = 0;
};

// on must outlive it. Makes nothing on a device yet.
std::unique_ptr<StencilReader> make_stencil_reader(const Host &on);
std::unique_ptr<StencilReader> make_stencil_reader(const Cuda &on);

// s: Stencil or cuda::DeviceStencil
template <class Stencil> void make_room(Stencil &s, std::size_t n, bool corners, bool scaled) {
  const auto room = [](auto &a, std::size_t size) {
    if (a.size() != size) a.resize(size);
  };
  room(s.C, n), room(s.E, n), room(s.N, n);
  room(s.NE, corners ? n : 0), room(s.NW, corners ? n : 0);
  room(s.v, scaled ? n : 0);
}

} // namespace rrb
} // namespace petscrrb
