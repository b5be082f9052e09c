// The factorization of one r1/r2/b1/b2 grid on a device in one pass over memory. The point operations are those of eliminate.hpp.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "pc/rrb/core/dense_grid.hpp"
#include "pc/rrb/core/steps.hpp"

namespace petscrrb::rrb {
namespace device {

// The excess of red nodes: as the matrix has it, or as their elimination left it in a tile.
template <class V> struct TileExcess {
  V matrix;
  Dense tile;
  bool eliminated;

  __device__ double operator()(index_t h, index_t k) const { return eliminated ? tile(h, k) : matrix(h, k); }
  __device__ double &at(index_t h, index_t k) const { return tile.at(h, k); }
};

// The matrix of a grid for a tile.
template <class V, class K> struct TileMatrix {
  Quad<TileExcess<V>> X;
  Quad<V> E, N;
  Quad<K> NE, NW;
};

// The arrays of the next grid, which lie one after the other, indexed by this grid's b2; so that no thread looks for them in a list.
struct TileSplit {
  double *p;
  index_t size, pitch;

  explicit TileSplit(const Split &s) : p(s.q[r1].p), size(s.q[r2].p - s.q[r1].p), pitch(s.q[r1].pitch) {}
  __device__ double &at(index_t h, index_t k) const {
    return p[class_of(h, k) * size + half_down(k) * pitch + half_down(h)];
  }
};
inline StencilOut<TileSplit> tile_out(const StencilOut<Split> &o) {
  return {TileSplit(o.X), TileSplit(o.E), TileSplit(o.N), TileSplit(o.NE), TileSplit(o.NW)};
}
template <class V> const StencilOut<V> &tile_out(const StencilOut<V> &o) { return o; }

// A thread block's nodes of each class, and the factor at those and one more around: this is computed once more by each neighbour, so that
// no block waits for another one. T: what the factor is stored in.
template <class T> class FactorTile {
public:
  static constexpr int columns = 32, rows = 12, places = columns * rows; // with those around
  static constexpr int own_columns = columns - 2, own_rows = rows - 2, threads = places;
  static constexpr int bytes = 3 * places * (sizeof(double) + 5 * sizeof(T)); // 55 kB at most

  // first: of the nodes of all blocks
  __device__ FactorTile(char *shared, index_t first_h, index_t first_k)
      : h0_(first_h + index_t(blockIdx.x) * own_columns - 1),
        k0_(first_k + (blockIdx.z * cuda::most_blocks + blockIdx.y) * own_rows - 1),
        excess_(reinterpret_cast<double *>(shared)), factor_(reinterpret_cast<T *>(excess_ + 3 * places)) {}

  // f(h, k, own) at all places, a thread each
  template <class F> __device__ void at_places(const F &f) const {
    const int column = threadIdx.x % columns, row = threadIdx.x / columns;
    f(h0_ + column, k0_ + row, column > 0 && column <= own_columns && row > 0 && row <= own_rows);
  }

  // The matrix before red nodes are eliminated, or after.
  template <class V, class K> __device__ TileMatrix<V, K> matrix(const StencilViews<V, K> &a, bool eliminated) const {
    const auto x = [&](Class c) { return TileExcess<V>{a.X[c], left(c == b2 ? b1 : c), eliminated && c < b1}; };
    return {{{x(r1), x(r2), x(b1), x(b2)}}, a.E, a.N, a.NE, a.NW};
  }
  // The excess of nodes that are eliminated.
  __device__ Dense left(Class c) const { return at(excess_, c); }
  __device__ FactorViews<DenseOf<T>> factor() const {
    const auto quad = [&](int i) {
      return Quad<DenseOf<T>>{{at(factor_, i), at(factor_, 5 + i), at(factor_, 10 + i), {}}};
    };
    return {{quad(0), quad(1), quad(2), quad(3)}, quad(4)};
  }
  __device__ void clear(Class c, index_t h, index_t k) const {
    for (int i = 0; i < 5; ++i) at(factor_, 5 * c + i).at(h, k) = T(0);
    at(excess_, c).at(h, k) = 0.0;
  }
  __device__ void store(Class c, index_t h, index_t k, const FactorViews<DenseOf<T>> &to) const {
    for (int i = 0; i < 4; ++i) to.w[i][c].at(h, k) = at(factor_, 5 * c + i).at(h, k);
    to.dinv[c].at(h, k) = at(factor_, 5 * c + 4).at(h, k);
  }

private:
  template <class U> __device__ DenseOf<U> at(U *memory, int array) const {
    return {memory + array * places - (k0_ * columns + h0_), columns};
  }

  index_t h0_, k0_; // of the first place
  double *excess_;  // of r1, r2 and b1
  T *factor_;       // five arrays each
};

// A value of one node.
struct Local {
  double *p;

  __device__ double operator()(index_t, index_t) const { return *p; }
  __device__ double &at(index_t, index_t) const { return *p; }
};

// S1 at a node of b1.
struct SchurB1 {
  double x, e, n, w[4];

  __device__ SchurViews<Local> views() {
    return {{{{}, {}, {&x}, {}}}, {{{}, {}, {&e}, {}}}, {{{}, {}, {&n}, {}}}, {{w}, {w + 1}, {w + 2}, {w + 3}}};
  }
  __device__ void store_but_straight(const SchurViews<Dense> &to, index_t h, index_t k) const {
    to.X[b1].at(h, k) = x;
    for (int i = 0; i < 4; ++i) to.skew[i].at(h, k) = w[i];
  }
};

// What S1 couples a b1 with, by the factor.
struct SkewOfFactor {
  const FactorViews<Dense> &f;
  int i;

  __device__ double operator()(index_t h, index_t k) const { return f.w[i][b1](h, k) * f.pivot(b1, h, k); }
};

// The steps at the places of a tile; A, B: the matrix where all neighbours exist, and where they may not.
template <class T, class A, class B> class TileSteps {
public:
  __device__ TileSteps(char *shared, const FactorNodes &nodes, const Range2 &all, const A &inner, const B &edge,
                       const Lumping &lumping, NodeCounts *counts)
      : tile_(shared, all.h0, all.k0), f_(tile_.factor()), nodes_(nodes), inner_(inner), edge_(edge), lumping_(lumping),
        counts_(counts) {}

  // Of r1 and r2, at all places; to: where own ones go.
  __device__ void red(const FactorViews<DenseOf<T>> &to) const {
    tile_.at_places([&](index_t h, index_t k, bool own) {
      const auto matrix = [&](const auto &a) { return tile_.matrix(a, false); };
      eliminate(r1, h, k, own, to, [&](const auto &a) {
        return EliminateRed<r1, decltype(matrix(a)), DenseOf<T>>{matrix(a), f_, lumping_};
      });
      eliminate(r2, h, k, own, to, [&](const auto &a) {
        return EliminateRed<r2, decltype(matrix(a)), DenseOf<T>>{matrix(a), f_, lumping_};
      });
    });
    __syncthreads();
  }
  __device__ void even(const FactorViews<DenseOf<T>> &to, const Rings &rings) const {
    tile_.at_places([&](index_t h, index_t k, bool own) {
      eliminate(b1, h, k, own, to, [&](const auto &a) { return EliminateB1{schur(a), rings, tile_.left(b1)}; });
    });
    __syncthreads();
  }
  template <class Out> __device__ void coarse(const Out &out, const Rings &rings) const {
    at_nodes(b2, [&](index_t h, index_t k, bool own) -> unsigned {
      if (!own) return node_ok;
      return at(b2, h, k, [&](const auto &a) { return CoarseStencil{schur(a), rings, tile_.left(b1), out}; });
    });
  }

  // S1, where the red nodes' factor is. skew: of b1, at all places
  __device__ SchurB1 schur_b1(index_t h, index_t k) const {
    SchurB1 s;
    at(b1, h, k, [&](const auto &a) { return FormB1{schur(a), s.views()}; });
    return s;
  }
  template <class K> __device__ void schur_b2(const SchurViews<Dense> &to, const K (&skew)[4]) const {
    const SchurViews<Dense, K> s{to.X, to.E, to.N, {skew[0], skew[1], skew[2], skew[3]}};
    at_nodes(b2, [&](index_t h, index_t k, bool own) -> unsigned {
      if (own) at(b2, h, k, [&](const auto &a) { return FormB2{schur(a), s}; });
      return node_ok;
    });
  }
  // After even(): in Eisenstat's form. The couplings of b1 are those to the left and below, whose pivots are in the tile.
  __device__ void first_schur(const SchurOut &out) const {
    tile_.at_places([&](index_t h, index_t k, bool own) {
      unsigned flags = node_ok;
      if (own && cuda::contains(nodes_.made[b1], h, k)) {
        SchurB1 s = schur_b1(h, k);
        const ScaleB1 scale{f_, s.views()};
        const auto from = schur(inner_);
        const double root = scale.root(h, k);
        flags = scale.but_straight(h, k);
        s.store_but_straight(out.s, h, k);
        out.s.E[b1].at(h - 1, k) = from.east_b1(h - 1, k) * (root * scale.root(h - 1, k));
        out.s.N[b1].at(h, k - 1) = from.north_b1(h, k - 1) * (root * scale.root(h, k - 1));
      }
      cuda::add_counts(flags, h, k, out.counts);
    });
    schur_b2(out.s, {SkewOfFactor{f_, 0}, SkewOfFactor{f_, 1}, SkewOfFactor{f_, 2}, SkewOfFactor{f_, 3}});
  }
  __device__ void first_schur(const NoSchur &) const {}

  // f(h, k, own) at those nodes of a class; it returns flags, of which those of own nodes count.
  template <class F> __device__ void at_nodes(Class c, const F &f) const {
    tile_.at_places([&](index_t h, index_t k, bool own) {
      const unsigned flags = cuda::contains(nodes_.made[c], h, k) ? f(h, k, own) : unsigned(node_ok);
      own = own && cuda::contains(nodes_.counted[c], h, k);
      cuda::add_counts(own ? flags : unsigned(node_ok), h, k, counts_ + c);
    });
  }
  // step(matrix): what is done at a node
  template <class Step> __device__ auto at(Class c, index_t h, index_t k, const Step &step) const {
    if constexpr (std::is_same_v<A, B>)
      return step(inner_)(h, k);
    else
      return cuda::contains(nodes_.inner[c], h, k) ? step(inner_)(h, k) : step(edge_)(h, k);
  }
  // After red().
  template <class Matrix> __device__ auto schur(const Matrix &a) const {
    return Schur{tile_.matrix(a, true), f_, lumping_};
  }
  __device__ const FactorTile<T> &tile() const { return tile_; }

private:
  template <class Step>
  __device__ void eliminate(Class c, index_t h, index_t k, bool own, const FactorViews<DenseOf<T>> &to,
                            const Step &step) const {
    unsigned flags = node_ok;
    if (cuda::contains(nodes_.made[c], h, k)) {
      flags = at(c, h, k, step);
      if (own) tile_.store(c, h, k, to);
      own = own && cuda::contains(nodes_.counted[c], h, k);
    } else
      tile_.clear(c, h, k);
    cuda::add_counts(own ? flags : unsigned(node_ok), h, k, counts_ + c);
  }

  const FactorTile<T> tile_;
  const FactorViews<DenseOf<T>> f_;
  const FactorNodes &nodes_;
  const A &inner_;
  const B &edge_;
  const Lumping &lumping_;
  NodeCounts *counts_;
};

template <class T, class A, class B, class Out, class S>
__global__ void __launch_bounds__(FactorTile<T>::threads)
    factor_grid(A inner, B edge, FactorViews<DenseOf<T>> to, Out out, FactorNodes nodes, Range2 all, Rings rings,
                Lumping lumping, NodeCounts *counts, S s1) {
  extern __shared__ double memory[];
  const TileSteps<T, A, B> steps(reinterpret_cast<char *>(memory), nodes, all, inner, edge, lumping, counts);
  steps.red(to);
  steps.even(to, rings);
  steps.coarse(out, rings);
  steps.first_schur(s1);
}

// A thread block for each tile of the nodes `all`.
template <class T, class Kernel, class... Arguments>
void launch_tiles(const Cuda &on, const char *what, Kernel *kernel, const Range2 &all, const Arguments &...arguments) {
  using Tile = FactorTile<T>;
  if (!all.size()) return;
  const auto blocks = [](index_t n, int own) { return (n + own - 1) / own; };
  const index_t rows = blocks(all.k1 - all.k0, Tile::own_rows);
  const dim3 grid(unsigned(blocks(all.h1 - all.h0, Tile::own_columns)), unsigned(std::min(rows, cuda::most_blocks)),
                  unsigned(blocks(rows, int(cuda::most_blocks))));
  cuda::allow_shared(kernel, Tile::bytes);
  kernel<<<grid, Tile::threads, Tile::bytes, on.stream>>>(arguments...);
  cuda::check_launch(what);
}

} // namespace device

template <> struct OnePass<Cuda> {
  template <class A, class B, class T, class Out, class S = NoSchur>
  static bool factor(const Cuda &on, const FactorNodes &nodes, const A &inner, const B &edge,
                     const FactorViews<DenseOf<T>> &f, const Out &out, const Rings &rings, const Lumping &lumping,
                     NodeCounts *counts, const S &schur = {}) {
    const auto next = device::tile_out(out);
    device::launch_tiles<T>(on, "the factorization of a grid",
                            device::factor_grid<T, A, B, std::decay_t<decltype(next)>, S>, nodes.all(), inner, edge, f,
                            next, nodes, nodes.all(), rings, lumping, counts, schur);
    return true;
  }
};

} // namespace petscrrb::rrb
