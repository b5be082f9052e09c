// q = S1 p on a device, and q of Eisenstat's form.
#pragma once

#include "ksp/rrb/cuda/columns.cuh"

namespace petscrrb::rrbsolver::device {

// A vector's row around a pair of columns. Around a ring the columns past the ends are those at the other end.
struct Row {
  Pair here, left, right;

  Row() = default;
  // edges: the values of the columns beside that no lane has
  __device__ Row(const Columns &c, const Pair &values, double left_edge, double right_edge) : here(values) {
    if (c.right && !c.second) here.y = right_edge;
    left = to_left(c, here, left_edge);
    right = to_right(c, here, right_edge);
  }
};

// q = S1 p and the parts of the sum of p q.
struct Product {
  Arrays<const double> s1; // X of b1 and b2, E, N; the four skew ones
  Vector p;
  Arrays<double> q;
  Box box;

  enum Array {
    P1 = of_s1, // of the next row
    P2,
    arrays
  };
  // those of which the column to the left is needed, too
  static __device__ constexpr int west(int i) { return i < 2 ? E1 + i : i == 2 ? skew + SE : skew + NE; }
  enum Edge {
    left_s1 = 0,
    left_p = 4,
    right_p = 6,
    edges = 8
  };
  using Ahead = cuda::RowsAhead<threads, arrays, edges>;

  __device__ void fetch(const Ahead &ahead, const Columns &c, int k) const {
    const int above = p.around_y(k + 1);
    for (int i = 0; i < of_s1; ++i) ahead.fetch_pair(k, i, s1.at(i, c.h, k));
    for (int i = 0; i < 2; ++i) ahead.fetch_pair(k, P1 + i, p.at.at(i, c.h, above));
    if (c.left) {
      for (int i = 0; i < 4; ++i) ahead.fetch_edge(k, left_s1 + i, s1.at(west(i), c.h - 1, k));
      for (int i = 0; i < 2; ++i) ahead.fetch_edge(k, left_p + i, p.at.at(i, p.around_x(c.h - 1), above));
    }
    if (c.right)
      for (int i = 0; i < 2; ++i) ahead.fetch_edge(k, right_p + i, p.at.at(i, p.around_x(c.beside_right), above));
  }
  // a row of p that was not fetched ahead
  __device__ Row row(const Columns &c, int array, int k) const {
    const int y = p.around_y(k);
    return {c, pair(p.at.at(array, c.h, y)), c.left ? *p.at.at(array, p.around_x(c.h - 1), y) : 0.0,
            c.right ? *p.at.at(array, p.around_x(c.beside_right), y) : 0.0};
  }

  // the sum over a thread's nodes
  __device__ double march(const Columns &c, const Ahead &ahead) const {
    const int h = c.h, below = c.k0 - 1;
    double curvature = 0.0;
    fetch(ahead, c, c.k0);
    ahead.end_row();
    // what of the row below its nodes and ours share
    const auto s_below = [&](int i) { return pair(s1.at(i, h, below)); };
    Pair north1 = s_below(N1), north2 = s_below(N2), nw = s_below(skew + NW);
    Pair ne = to_left(c, s_below(skew + NE), c.left ? __ldg(s1.at(skew + NE, h - 1, below)) : 0.0);
    Row b1_below = row(c, 0, below), b1_here = row(c, 0, c.k0);
    Row b2_below = row(c, 1, below), b2_here = row(c, 1, c.k0);
    for (int k = c.k0; k < c.k1; ++k) {
      if (k + 1 < c.k1) fetch(ahead, c, k + 1);
      ahead.end_row();
      ahead.await();
      const auto s = [&](int i) { return pair_of(ahead.template pair<double>(k, i)); };
      const auto edge = [&](bool has, int i) { return has ? ahead.template edge<double>(k, i) : 0.0; };
      const auto left = [&](int i) { return to_left(c, s(west(i)), edge(c.left, left_s1 + i)); };
      const Pair e1 = s(E1), e1_left = left(0), e2 = s(E2), e2_left = left(1), n1 = s(N1), n2 = s(N2),
                 sw = s(skew + SW), se = s(skew + SE), se_left = left(2), nw_here = s(skew + NW),
                 ne_here = s(skew + NE), ne_left = left(3);
      const Row b1_above(c, s(P1), edge(c.left, left_p), edge(c.right, right_p)),
          b2_above(c, s(P2), edge(c.left, left_p + 1), edge(c.right, right_p + 1));
      const Pair q1 = s(X1) * b1_here.here - (e1 * b1_here.right + e1_left * b1_here.left) -
                      (n1 * b1_above.here + north1 * b1_below.here) - (sw * b2_here.here + se * b2_here.right) -
                      (nw_here * b2_above.here + ne_here * b2_above.right);
      const Pair q2 = s(X2) * b2_here.here - (e2 * b2_here.right + e2_left * b2_here.left) -
                      (n2 * b2_above.here + north2 * b2_below.here) - (sw * b1_here.here + se_left * b1_here.left) -
                      (nw * b1_below.here + ne * b1_below.left);
      const Columns::Two in1 = c.owned(box, b1, k), in2 = c.owned(box, b2, k);
      put(q.at(0, h, k), q1, in1);
      put(q.at(1, h, k), q2, in2);
      curvature += sum(q1 * b1_here.here, in1) + sum(q2 * b2_here.here, in2);
      b1_below = b1_here, b1_here = b1_above, b2_below = b2_here, b2_here = b2_above;
      north1 = n1, north2 = n2, nw = nw_here, ne = ne_left;
    }
    return curvature;
  }
};

static __global__ void __launch_bounds__(threads) product(Product f, Sum curvatures, const double *scalars, int rows) {
  const Columns columns(f.box, rows);
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  curvatures.add(columns.any ? f.march(columns, Product::Ahead(ahead_memory)) : 0.0);
}

// q and the parts of the sum of p q, as host/schur_loops.hpp computes them: t = u - W p^ at b1, of which b2 needs those around. What a part
// of the rows needs of the rows below it is computed once more, and so is what a warp needs of the columns beside.
// by_kinds: of few kinds of rows S1 is read from a table, whatever the form.
template <bool by_kinds> struct EisenstatProduct {
  Arrays<const double> s1; // as in Product, scaled
  Arrays<double> p, q;
  Box box;
  const std::uint8_t *kind; // as in FirstSchur
  const double *values;

  // X, E and N are of the row below
  static constexpr int fetched = by_kinds ? 0 : int(of_s1);
  enum Array {
    P1 = fetched,
    P2, // of the row above
    arrays
  };
  using Ahead = cuda::RowsAhead<threads, arrays, 0>;

  // a row of zeros past the ends
  __device__ int row(int k) const { return min(max(k, box.k0 - 1), box.k1); }
  __device__ void fetch(const Ahead &ahead, const Columns &c, int k) const {
    const int here = row(k), below = row(k - 1), above = row(k + 1);
    for (int i = 0; i < fetched; ++i) ahead.fetch_pair(k, i, s1.at(i, c.h, i < skew ? below : here));
    ahead.fetch_pair(k, P1, p.at(0, c.h, here)), ahead.fetch_pair(k, P2, p.at(1, c.h, above));
  }

  // the kinds of a pair, and values of theirs
  __device__ uchar2 kinds(const Columns &c, int k) const {
    if constexpr (!by_kinds) return {};
    return __ldg(reinterpret_cast<const uchar2 *>(kind + (index_t(row(k)) * s1.pitch + c.h)));
  }
  __device__ Pair of_kinds(const uchar2 &of, int i) const {
    return {__ldg(values + of.x * of_s1 + i), __ldg(values + of.y * of_s1 + i)};
  }

  // the sum over a thread's nodes
  __device__ double march(const Columns &c, const Ahead &ahead) const {
    const auto left = [&](const Pair &v) { return to_left(c, v, 0.0); };
    const auto right = [&](const Pair &v) { return to_right(c, v, 0.0); };
    const int h = c.h, first = c.k0 - 2;
    double curvature = 0.0;
    fetch(ahead, c, first);
    ahead.end_row();
    // of rows k - 2, k - 1 and k
    Pair p2[3] = {{}, {}, pair(p.at(1, h, row(first)))}, whole[2] = {};
    Pair wp{}, n1{}, n2{}, from_below{}; // of row k - 1, of N that of row k - 2
    Pair sw{}, se{}, nw{}, ne{};
    uchar2 below = kinds(c, first - 1), here = kinds(c, first);
    for (int k = first; k <= c.k1; ++k) {
      if (k < c.k1) fetch(ahead, c, k + 1);
      ahead.end_row();
      ahead.await();
      const uchar2 above = kinds(c, k + 1);
      const auto fetched_ahead = [&](int i) { return pair_of(ahead.template pair<double>(k, i)); };
      const auto s = [&](int i) {
        if constexpr (by_kinds)
          return of_kinds(i < skew ? below : here, i);
        else
          return fetched_ahead(i);
      };
      const Pair p2_above = fetched_ahead(P2);
      const Pair sw_here = s(skew + SW), se_here = s(skew + SE), nw_here = s(skew + NW), ne_here = s(skew + NE);
      const Pair wp_here =
          (sw_here * p2[2] + se_here * right(p2[2])) + (nw_here * p2_above + ne_here * right(p2_above));
      const Pair whole_here = fetched_ahead(P1) + wp_here;
      // row k - 1
      const Pair e1 = s(E1), e2 = s(E2), n1_here = s(N1), n2_here = s(N2);
      const Pair u =
          s(X1) * whole[1] - (e1 * right(whole[1]) + left(e1 * whole[1])) - (n1_here * whole_here + n1 * whole[0]);
      const Pair t = u - wp, q1 = whole[1] + t; // p~ + u
      const Pair q2 = s(X2) * p2[1] - (e2 * right(p2[1]) + left(e2 * p2[1])) - (n2_here * p2[2] + n2 * p2[0]) +
                      (sw * t + left(se * t)) + from_below;
      from_below = nw * t + left(ne * t);
      if (k > c.k0) {
        const Columns::Two in1 = c.owned(box, b1, k - 1), in2 = c.owned(box, b2, k - 1);
        put(q.at(0, h, k - 1), q1, in1);
        put(q.at(1, h, k - 1), q2, in2);
        curvature += sum(q1 * (whole[1] - wp), in1) + sum(q2 * p2[1], in2);
      }
      p2[0] = p2[1], p2[1] = p2[2], p2[2] = p2_above, whole[0] = whole[1], whole[1] = whole_here;
      wp = wp_here, n1 = n1_here, n2 = n2_here;
      sw = sw_here, se = se_here, nw = nw_here, ne = ne_here;
      below = here, here = above;
    }
    return curvature;
  }
};

template <bool by_kinds>
__global__ void __launch_bounds__(threads, 4)
    eisenstat_product(EisenstatProduct<by_kinds> f, Sum curvatures, const double *scalars, int rows) {
  const Columns columns(f.box, rows, Columns::Shared());
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  curvatures.add(columns.any ? f.march(columns, typename EisenstatProduct<by_kinds>::Ahead(ahead_memory)) : 0.0);
}

// Where there are many parts of the sum of p q, one block adds them for all of the next kernel.
constexpr int few_terms = 256, add_threads = 512;
static __global__ void __launch_bounds__(add_threads) add_curvatures(Terms curvatures, double *scalars) {
  cuda::start_next();
  cuda::await_previous();
  if (scalars[ended] != 0.0) return;
  const double sum = cuda::sum_of<add_threads>(curvatures);
  if (threadIdx.x == 0) scalars[curvature] = sum, scalars[alpha] = scalars[rho] / sum;
}

} // namespace petscrrb::rrbsolver::device
