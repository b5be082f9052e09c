// Connected components of the coarse matrix, by one thread block; those whose row sums do not make them regular are pinned,
// as pc/rrb/pcrrb_coarse.cxx does on the host.
#include "exec/cuda/overlap.cuh"
#include "dense/cuda/view.hpp"

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
template <class T, class F> __device__ void each_of_row(const View &s, const T *from, int i, const F &f) {
  const int start = s.ia[i], length = s.ia[i + 1] - start;
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
__device__ bool read_row(const View &s, const double *a, int i, unsigned &mask, int &smallest) {
  bool finite = true;
  unsigned bits = 0;
  int least = i;
  each_of_row(s, a, i, [&](int p, double value) {
    finite = finite && isfinite(value);
    bits |= unsigned(value != 0.0) << p;
  });
  each_of_row(s, s.ja, i, [&](int p, int j) {
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
__device__ void find_labels(const View &s, const Mine &mine, const unsigned *mask, int *label, int *lower) {
  for (;;) {
    compress(mine, label);
    mine.each([&](int i, int) { lower[i] = label[i]; });
    __syncthreads();
    int changed = 0;
    mine.each([&](int i, int q) {
      each_of_row(s, s.ja, i, [&](int p, int j) {
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

__device__ double diagonal(const View &s, const double *a, int i) {
  for (int p = s.ia[i]; p < s.ia[i + 1]; ++p)
    if (s.ja[p] == i) return a[p];
  return 0.0;
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
__device__ void pin(const View &s, const double *a, const Mine &mine, const int *label, const int *about) {
  mine.each([&](int i, int) {
    const int c = s.handled_by[i] = about[label[i]];
    if (c >= 0) atomicMax(&s.component[c].key, ordered(diagonal(s, a, i)));
  });
  __syncthreads();
  // past the first-level cache, which knows nothing of atomics
  mine.each([&](int i, int) {
    const int c = about[label[i]];
    if (c >= 0 && __ldcg(&s.component[c].key) == ordered(diagonal(s, a, i))) atomicMin(&s.component[c].pin, i);
  });
  __syncthreads();
  mine.each([&](int i, int) {
    const int c = about[label[i]];
    const double d = diagonal(s, a, i), more = d > 0 ? d : 1.0;
    const bool pinned = c == null_alone || (c >= 0 && __ldcg(&s.component[c].pin) == i);
    s.shift[i] = pinned ? more : 0.0;
    s.u[i] = s.v[i] = 0.0;
    s.right_hand_side[i] = 0.0;
    if (c < 0) return;
    const Component &component = s.component[c];
    s.right_hand_side[i] = component.decided ? 1.0 / sqrt(double(component.size)) : s.shift[i];
  });
}

__global__ void __launch_bounds__(threads)
    components(View s, const double *a, const double *excess, double null_inverse) {
  __shared__ int label[largest_n], about[largest_n], handled, null_alone_count;
  cuda::start_next();
  const Mine mine{int(threadIdx.x), s.n};
  unsigned mask[share];
  int good = 1;
  if (!threadIdx.x) handled = null_alone_count = 0;
  mine.each([&](int i, int q) { good &= int(read_row(s, a, i, mask[q], label[i]) && isfinite(excess[i])); });
  good = __syncthreads_and(good);
  find_labels(s, mine, mask, label, about);
  mine.each([&](int i, int) { about[i] = 0; });
  __syncthreads();
  mine.each([&](int i, int) {
    atomicAdd(&about[label[i]], one_unknown);
    if (excess[i] > 0) atomicOr(&about[label[i]], positive);
    if (excess[i] < 0) atomicOr(&about[label[i]], negative);
  });
  __syncthreads();
  list_components(s, mine, label, about, &handled, &null_alone_count);
  const int any = handled + null_alone_count;
  if (!threadIdx.x) *s.state = State{good, null_alone_count, any, handled, null_inverse};
  if (any) pin(s, a, mine, label, about);
}

} // namespace

void find_components(const View &s, const double *a, const double *excess, double null_inverse, cudaStream_t stream) {
  components<<<1, threads, 0, stream>>>(s, a, excess, null_inverse);
  cuda::check_launch("components of the coarse matrix");
}

} // namespace petscrrb::dense
