// q = S1 p on a device.
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
