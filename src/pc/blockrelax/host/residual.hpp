// The residual of one block on the host: the block with what is around it is copied into a window in cache.
#pragma once

#include "pc/blockrelax/host/matrix.hpp"

namespace petscrrb::blockrelax {

// A vector that other threads change while it is read; shared: they do
template <bool shared> double load(const double *x) {
  double value;
  if constexpr (shared)
    __atomic_load(x, &value, __ATOMIC_RELAXED);
  else
    value = *x;
  return value;
}
template <bool shared> void store(double *x, double value) {
  if constexpr (shared)
    __atomic_store(x, &value, __ATOMIC_RELAXED);
  else
    *x = value;
}

// Calls use(n), with n a constant where blocks most often are so long: short loops of unknown length are slow.
template <class Use> [[gnu::always_inline]] inline void at_length(int n, const Use &use) {
  if (n == 8)
    use(std::integral_constant<int, 8>());
  else if (n == 4)
    use(std::integral_constant<int, 4>());
  else
    use(n);
}

class Window {
public:
  Window(const Layout &l, const Patch &patch, const Block &block, double *memory)
      : p_(patch), b_(block), u_(memory), star_(l.points == 5 || l.points == 7) {
    for (int d = 0; d < 3; ++d) {
      halo_[d] = l.neighbours.halo[d];
      n_[d] = block.n[d] + 2 * halo_[d];
    }
  }

  // Where line (j, k) of the block begins.
  double *line(int j, int k) const { return u_ + ((k + halo_[2]) * n_[1] + j + halo_[1]) * n_[0] + halo_[0]; }
  const int *sides() const { return n_; }

  // Outside the patch it is zero, and so are edges and corners that no cell couples with: a block there may be of the same
  // colour, and another thread may be writing to it.
  template <bool shared> void fill(const double *x) {
    at_length(b_.n[0], [&](auto n) {
      for (int k = -halo_[2]; k < b_.n[2] + halo_[2]; ++k)
        for (int j = -halo_[1]; j < b_.n[1] + halo_[1]; ++j) fill_line<shared>(x, j, k, n);
    });
  }

private:
  template <bool shared, class Int> void fill_line(const double *x, int j, int k, Int n) {
    const PetscInt y = b_.first[1] + j, z = b_.first[2] + k;
    double *u = line(j, k);
    const bool beside = j < 0 || j >= b_.n[1], before = k < 0 || k >= b_.n[2]; // the block, along y and along z
    if (y < 0 || y >= p_.n[1] || z < 0 || z >= p_.n[2] || (star_ && beside && before)) {
      std::fill_n(u - halo_[0], n_[0], 0.0);
      return;
    }
    const double *from = x + row_at(p_, b_.first[0], y, z);
    const bool ends = !star_ || !(beside || before);
    const bool left = ends && b_.first[0] > 0, right = ends && b_.first[0] + n < p_.n[0];
    u[-1] = left ? load<shared>(from - 1) : 0;
    for (int i = 0; i < n; ++i) u[i] = load<shared>(from + i);
    u[n] = right ? load<shared>(from + n) : 0;
  }

  const Patch &p_;
  const Block &b_;
  double *u_;
  int n_[3], halo_[3];
  const bool star_; // cells couple along x, y and z only
};

// r = b - A x along a line of n cells: b and r begin there, u is its line of the window, o are its steps.
template <int steps, class Int>
[[gnu::always_inline]] inline void residual_of_line(const Couplings &c, const std::ptrdiff_t *o, Int n, const double *b,
                                                    const double *u, double *r) {
#pragma omp simd
  for (int i = 0; i < n; ++i) {
    double sum = b[i] - c.diagonal * u[i];
    for (int m = 0; m < steps; ++m) sum -= c.ahead[m] * (u[i + o[m]] + u[i - o[m]]);
    r[i] = sum;
  }
}
// back: with the cells that are behind
template <int steps, class Int>
[[gnu::always_inline]] inline void residual_of_line(const double *diagonal, const double *const *ahead,
                                                    const double *const *back, const std::ptrdiff_t *o, Int n,
                                                    const double *b, const double *u, double *r) {
#pragma omp simd
  for (int i = 0; i < n; ++i) {
    double sum = b[i] - diagonal[i] * u[i];
    for (int m = 0; m < steps; ++m) sum -= ahead[m][i] * u[i + o[m]] + back[m][i] * u[i - o[m]];
    r[i] = sum;
  }
}

// Without links.
template <int steps>
void residual_of_block(const Layout &l, const HostMatrix &A, const Patch &p, const Block &block, const Window &window,
                       const double *b, double *r) {
  const Couplings common = A.common();
  std::ptrdiff_t o[steps];
  PetscInt far[steps];
  for (int m = 0; m < steps; ++m) {
    o[m] = offset(window.sides(), l.neighbours.step[m]);
    far[m] = offset(p.n, l.neighbours.step[m]);
  }
  at_length(block.n[0], [&](auto n) {
    for (int k = 0; k < block.n[2]; ++k)
      for (int j = 0; j < block.n[1]; ++j, r += n) {
        const PetscInt row = row_at(p, block.first[0], block.first[1] + j, block.first[2] + k);
        const double *u = window.line(j, k);
        if (A.constant()) {
          residual_of_line<steps>(common, o, n, b + row, u, r);
          continue;
        }
        const double *ahead[steps], *back[steps];
        for (int m = 0; m < steps; ++m) {
          ahead[m] = A.ahead(m) + row;
          back[m] = ahead[m] - far[m];
        }
        residual_of_line<steps>(A.diagonals() + row, ahead, back, o, n, b + row, u, r);
      }
  });
}

inline void residual_of_block(const Layout &l, const HostMatrix &A, const Patch &p, const Block &block,
                              const Window &window, const double *b, double *r) {
  with_steps(l.points, [&](auto steps) { residual_of_block<steps()>(l, A, p, block, window, b, r); });
}

} // namespace petscrrb::blockrelax
