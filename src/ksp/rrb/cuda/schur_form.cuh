// The RRB-solver's matrix on a device in one pass over memory: red nodes, S1 and Eisenstat's form by tiles (pc/rrb/cuda/one_pass.cuh).
#pragma once

#include "ksp/rrb/core/schur_matrix.hpp"
#include "pc/rrb/cuda/one_pass.cuh"

namespace petscrrb::rrbsolver {
namespace device {

// F: FactorViews of what is eliminated, and of the preconditioner.
template <class A, class B, class F>
__global__ void __launch_bounds__(rrb::device::FactorTile<double>::threads)
    form_schur(A inner, B edge, F red, SchurViews<Dense> to, F factor, bool scaled, FactorNodes nodes, Range2 all,
               NodeCounts *counts) {
  extern __shared__ double memory[];
  const Lumping none;
  const rrb::device::TileSteps<double, A, B> steps(reinterpret_cast<char *>(memory), nodes, all, inner, edge, none,
                                                   counts);
  steps.red(red);
  const auto &skew = steps.tile().factor().w; // of b1: what S1 couples with, as b2 wants it
  steps.tile().at_places([&](index_t h, index_t k, bool) { steps.tile().clear(b1, h, k); });
  steps.at_nodes(b1, [&](index_t h, index_t k, bool own) -> unsigned {
    rrb::device::SchurB1 s = steps.schur_b1(h, k);
    for (int i = 0; i < 4; ++i) skew[i][b1].at(h, k) = s.w[i];
    if (!own) return node_ok;
    const unsigned flags = scaled ? ScaleB1{factor, s.views()}(h, k) : unsigned(node_ok);
    s.store_but_straight(to, h, k);
    to.E[b1].at(h, k) = s.e, to.N[b1].at(h, k) = s.n;
    return flags;
  });
  __syncthreads();
  steps.schur_b2(to, {skew[0][b1], skew[1][b1], skew[2][b1], skew[3][b1]});
}

} // namespace device

template <> struct FormInOnePass<Cuda> {
  template <class A, class B, class F>
  static void form(const Cuda &on, const Extent &x, const A &inner, const B &edge, const F &red,
                   const SchurViews<Dense> &to, const F &factor, bool scaled, NodeCounts *counts) {
    const FactorNodes nodes(x);
    rrb::device::launch_tiles<double>(on, "the RRB-solver's matrix", device::form_schur<A, B, F>, nodes.all(), inner,
                                      edge, red, to, factor, scaled, nodes, nodes.all(), counts);
  }
};

} // namespace petscrrb::rrbsolver
