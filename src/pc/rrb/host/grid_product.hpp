// The product with a grid's matrix on the host: the four classes row by row, so that what they share is in cache.
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/core/grid_product.hpp"

namespace petscrrb::rrb {

template <> class ProductLoop<Host> {
public:
  template <class V, class Then>
  void operator()(const Host &, const Extent &x, const DenseLayout &layout, const StencilQuads<Quad<Dense>> &s,
                  const Quad<V> &v, const Then &then) const {
#pragma omp parallel for schedule(static) if (x.nodes() > host::serial_below)
    for (index_t k = layout.k0; k < layout.k0 + layout.rows; ++k) {
      along_row<b2>(x, k, s, v, then);
      along_row<r1>(x, k, s, v, then);
      along_row<r2>(x, k, s, v, then);
      along_row<b1>(x, k, s, v, then);
    }
  }

private:
  template <Class c, class V, class Then>
  static void along_row(const Extent &x, index_t k, const StencilQuads<Quad<Dense>> &s, const Quad<V> &v,
                        const Then &then) {
    const Range2 nodes = x.nodes_of(c);
    if (k < nodes.k0 || k >= nodes.k1) return;
#pragma omp simd
    for (index_t h = nodes.h0; h < nodes.h1; ++h) then.store(c, h, k, then.load(c, h, k), product<c>(s, v, h, k));
  }
};

} // namespace petscrrb::rrb
