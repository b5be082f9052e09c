// Relaxation by blocks, as PCBlockRelax uses it: one implementation on the host, one on a CUDA device.
#pragma once

#include "stencil/facts.hpp"
#include "grid/csr.hpp"
#include "pc/blockrelax/core/patches.hpp"

#include <memory>
#include <string>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::blockrelax {

enum class Order {
  jacobi,  // all blocks from the old vector
  chaotic, // in place, in no order
  coloured // in place, colour by colour
};
enum class Inverse {
  automatic,
  tensor, // fast diagonalization, where coefficients are constant
  dense
};
enum class Parallel {
  automatic,
  patches, // a thread takes whole patches
  blocks,  // all threads one patch after the other
  both
};

struct Options {
  Order order = Order::jacobi;
  int block[3] = {8, 8, 8};
  double omega = 0.8;
  int colours = 0;        // 0: as few as will do; fewer are an exception
  bool symmetric = false; // coloured: the colours forth and back
  Inverse inverse = Inverse::automatic;
  Parallel parallel = Parallel::automatic;
  double memory = 0; // bytes that factors of blocks may take; 0: no limit

  Cut cut() const { return {{block[0], block[1], block[2]}}; }
};

struct Findings {
  RowFacts read;
  bool constant = false; // all rows have the same diagonal and couplings with their neighbours, as far as a patch goes,
                         // and none with others of their block
  index_t shapes = 0;    // distinct inverses that are held
  index_t pivot = no_row; // the first row of a block that is not positive definite
  std::string used;       // tensor, dense, factored, or tensor and factored: for -ksp_view
};

class BlockRelax {
public:
  virtual ~BlockRelax() = default;

  // Inverses of the diagonal blocks of a matrix that lies where this does. Allocates nothing if the pattern is the one of
  // the first call and the values are of the same kind (constant or not).
  virtual Findings refresh(const Csr &) = 0;
  // x += omega M^-1 (b - A x), so many times; x is zero if from_zero, whatever is in it. b and x are not the same.
  virtual void sweep(const double *b, double *x, int sweeps, bool from_zero) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<BlockRelax> make_blockrelax(const Domain &, const Options &);
// All work goes to the stream, which the owner sets before each call.
std::unique_ptr<BlockRelax> make_blockrelax(const Cuda &, const Domain &, const Options &);

} // namespace petscrrb::blockrelax
