// Connected components of the coarse matrix, by one thread block; those whose row sums do not make them regular are pinned,
// as pc/rrb/pcrrb_coarse.cxx does on the host. And what of them is singular, from solutions with the pinned matrix.
#include "exec/cuda/overlap.cuh"
#include "dense/cuda/apply.cuh"
#include "dense/cuda/inverse.hpp"

#include <climits>

namespace petscrrb::dense {

namespace {

constexpr int threads = 1024;
constexpr int share = largest_n / threads; // unknowns of a thread

struct Mine {
  int first, n;

  template <class F> __device__ void each(const F &f) const {
#pragma unroll
    for (int q = 0; q < share; ++q)
      if (first + q * threads < n) f(first + q * threads, q);
  }
};

// Row sums and size of a component, gathered at its root.
enum : int {
  positive = 1,
  negative = 2,
  one_unknown = 4
};

constexpr int usual_row = 9; // entries; they are read at once

// f(place in the row, value of from there) for row i
template <class T, class F> __device__ void each_of_row(const SparseView &e, const T *from, int i, const F &f) {
  const int start = e.ia[i], length = e.ia[i + 1] - start;
  T value[usual_row];
#pragma unroll
  for (int p = 0; p < usual_row; ++p)
    if (p < length) value[p] = from[start + p];
#pragma unroll
  for (int p = 0; p < usual_row; ++p)
    if (p < length) f(p, value[p]);
  for (int p = usual_row; p < length; ++p) f(p, from[start + p]);
}

// Couplings that are not 0 as bits of the row, and the smallest unknown coupled. False: a value is not finite.
__device__ bool read_row(const SparseView &e, int i, unsigned &mask, int &smallest) {
  bool finite = true;
  unsigned bits = 0;
  int least = i;
  each_of_row(e, e.a, i, [&](int p, double value) {
    finite = finite && isfinite(value);
    bits |= unsigned(value != 0.0) << p;
  });
  each_of_row(e, e.ja, i, [&](int p, int j) {
    if (bits >> p & 1) least = min(least, j);
  });
  mask = bits, smallest = least;
  return finite;
}

// Every label becomes its root: pointers jump until nothing changes. No thread reads what another one writes between
// the same barriers.
__device__ void compress(const Mine &mine, int *label) {
  int next[share], changed;
  do {
    changed = 0;
    mine.each([&](int i, int q) {
      next[q] = label[label[i]];
      changed |= next[q] != label[i];
    });
    changed = __syncthreads_or(changed);
    mine.each([&](int i, int q) { label[i] = next[q]; });
    __syncthreads();
  } while (changed);
}

// label: the smallest unknown of each component. On a connected grid the smallest neighbours alone lead there.
__device__ void find_labels(const SparseView &e, const Mine &mine, const unsigned *mask, int *label, int *lower) {
  for (;;) {
    compress(mine, label);
    mine.each([&](int i, int) { lower[i] = label[i]; });
    __syncthreads();
    int changed = 0;
    mine.each([&](int i, int q) {
      each_of_row(e, e.ja, i, [&](int p, int j) {
        if (!(mask[q] >> p & 1) || label[j] >= label[i]) return;
        atomicMin(&lower[label[i]], label[j]);
        changed = 1;
      });
    });
    if (!__syncthreads_or(changed)) return;
    mine.each([&](int i, int) { label[i] = lower[i]; });
    __syncthreads();
  }
}

// integers in the order of the values
__device__ unsigned long long ordered(double value) {
  const long long bits = __double_as_longlong(value);
  return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 1ull << 63;
}

// Roots of components that may be singular take a place in the list. about: what was gathered at the root becomes that
// place.
__device__ void list_components(const View &s, const Mine &mine, const int *label, int *about, int *handled,
                                int *null_alone_count) {
  mine.each([&](int i, int) {
    if (label[i] != i) return;
    const int found = about[i], size = found / one_unknown;
    const bool decided = !(found & (positive | negative));
    about[i] = regular;
    if (!decided && !(found & negative)) return;
    if (decided && size == 1) {
      about[i] = null_alone;
      atomicAdd(null_alone_count, 1);
      return;
    }
    about[i] = atomicAdd(handled, 1);
    s.component[about[i]] = Component{0, INT_MAX, size, decided, 0.0};
  });
  __syncthreads();
}

// In each handled component, the unknown of largest diagonal, the first of them, gets twice that.
__device__ void pin(const View &s, const SparseView &e, const Mine &mine, const int *label, const int *about) {
  mine.each([&](int i, int) {
    const int c = s.handled_by[i] = about[label[i]];
    if (c >= 0) atomicMax(&s.component[c].key, ordered(e.diagonal(i)));
  });
  __syncthreads();
  // past the first-level cache, which knows nothing of atomics
  mine.each([&](int i, int) {
    const int c = about[label[i]];
    if (c >= 0 && __ldcg(&s.component[c].key) == ordered(e.diagonal(i))) atomicMin(&s.component[c].pin, i);
  });
  __syncthreads();
  mine.each([&](int i, int) {
    const int c = about[label[i]];
    const double d = e.diagonal(i), more = d > 0 ? d : 1.0;
    const bool pinned = c == null_alone || (c >= 0 && __ldcg(&s.component[c].pin) == i);
    s.shift[i] = pinned ? more : 0.0;
    s.u[i] = s.v[i] = 0.0;
    s.right_hand_side[i] = 0.0;
    if (c < 0) return;
    const Component &component = s.component[c];
    s.right_hand_side[i] = component.decided ? 1.0 / sqrt(double(component.size)) : s.shift[i];
  });
}

__global__ void __launch_bounds__(threads) components(View s, SparseView e, double null_inverse) {
  __shared__ int label[largest_n], about[largest_n], handled, null_alone_count;
  cuda::start_next();
  const Mine mine{int(threadIdx.x), s.n};
  unsigned mask[share];
  int good = 1;
  if (!threadIdx.x) handled = null_alone_count = 0;
  mine.each([&](int i, int q) { good &= int(read_row(e, i, mask[q], label[i]) && isfinite(e.excess[i])); });
  good = __syncthreads_and(good);
  find_labels(e, mine, mask, label, about);
  mine.each([&](int i, int) { about[i] = 0; });
  __syncthreads();
  mine.each([&](int i, int) {
    atomicAdd(&about[label[i]], one_unknown);
    if (e.excess[i] > 0) atomicOr(&about[label[i]], positive);
    if (e.excess[i] < 0) atomicOr(&about[label[i]], negative);
  });
  __syncthreads();
  list_components(s, mine, label, about, &handled, &null_alone_count);
  const int any = handled + null_alone_count;
  if (!threadIdx.x) *s.state = State{good, null_alone_count, any, handled, null_inverse};
  if (any) pin(s, e, mine, label, about);
}

// part of a pinned diagonal, as in pc/rrb/pcrrb_coarse.cxx
constexpr double singular_below = 1e-11;

// v, u and gamma of component c, from scratch = G right_hand_side. Where the factorization had to decide, that is
// w = d G e, d the shift: 1 / w_p - 1 is the Schur complement of the pinned unknown p over d, 0 where w is a null vector,
// whose u is still to come then.
__device__ void decide(const View &s, int c) {
  Component &component = s.component[c];
  const bool decided = component.decided;
  const double w = s.scratch[component.pin], schur = decided ? 0.0 : 1.0 / w - 1.0;
  const bool null = schur <= singular_below;
  double square = 0.0, product = 0.0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      square = fma(s.scratch[i], s.scratch[i], square);
      product = fma(s.scratch[i], s.right_hand_side[i], product);
    }
  square = block_sum(square);
  product = block_sum(product);
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      s.u[i] = decided ? s.scratch[i] : 0.0;
      s.v[i] = decided ? s.right_hand_side[i] : (null ? s.scratch[i] / sqrt(square) : s.scratch[i]);
      s.right_hand_side[i] = !decided && null ? s.v[i] : 0.0;
    }
  if (threadIdx.x) return;
  component.gamma =
      decided ? product + s.state->null_inverse : (null ? 0.0 : 1.0 / (s.shift[component.pin] * w * schur));
  if (null) ++s.state->null_directions;
  if (schur < -singular_below) s.state->spd = 0;
}

// u and gamma of a null vector found by decide().
__device__ void finish(const View &s, int c) {
  double product = 0.0;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x)
    if (s.handled_by[i] == c) {
      s.u[i] = s.scratch[i];
      product = fma(s.u[i], s.v[i], product);
    }
  product = block_sum(product);
  if (!threadIdx.x) s.component[c].gamma = product + s.state->null_inverse;
}

__global__ void __launch_bounds__(threads) null_directions(View s) {
  extern __shared__ double shared[];
  const int handled = s.state->handled;
  if (!handled) return;
  for (int c = 0; c < handled; ++c) decide(s, c);
  int found = 0;
  for (int i = threadIdx.x; i < s.n; i += threads) found |= s.right_hand_side[i] != 0.0;
  if (!__syncthreads_or(found)) return;
  apply_by_block(s, s.right_hand_side, s.scratch, shared);
  for (int c = 0; c < handled; ++c)
    if (s.right_hand_side[s.component[c].pin] != 0.0) finish(s, c);
}

} // namespace

void find_components(const View &s, const double *a, const double *excess, double null_inverse, cudaStream_t stream) {
  components<<<1, threads, 0, stream>>>(s, {s.n, s.ia, s.ja, a, excess}, null_inverse);
  cuda::check_launch("components of the coarse matrix");
}

void find_null_directions(const View &s, cudaStream_t stream) {
  apply_pinned(s, s.right_hand_side, s.scratch, stream);
  null_directions<<<1, threads, s.pitch * sizeof(double), stream>>>(s);
  cuda::check_launch("null directions of the coarse matrix");
}

} // namespace petscrrb::dense
