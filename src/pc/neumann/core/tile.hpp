// A piece on one tile of the grid: the tile with its halo is read once, and each step of Horner's rule is done on what
// of it still is right. On any lattice, on the host.
#pragma once

#include "pc/neumann/core/read.hpp"

namespace petscrrb::neumann {

// The tile at `first`, `size` points large, and the window around it.
struct Tile {
  PetscInt first[3]; // of the tile
  int size[3];
  Halo halo;

  int window(int d) const { return halo.low[d] + size[d] + halo.high[d]; }
  int points() const { return window(0) * window(1) * window(2); }
};

// Doubles that it needs for each point of a window: t and two vectors, the couplings, and those that are reversed.
constexpr int doubles_of_window(int steps, bool around) { return 3 + (around ? 2 : 1) * steps; }

template <int steps, bool around> class TileWork {
public:
  TileWork(const Lattice &lattice, const Couplings &couplings, const Tile &which, double *memory)
      : g(lattice), a(couplings), tile(which), wx(which.window(0)), wy(which.window(1)), wz(which.window(2)) {
    const int n = wx * wy * wz;
    for (int v = 0; v < 3; ++v) vector[v] = memory + v * n;
    for (int m = 0; m < steps; ++m) {
      const Step s = g.step(m);
      offset[m] = (s.z * wy + s.y) * wx + s.x;
      ahead[m] = memory + (3 + m) * n;
      back[m] = around ? ahead[m] + steps * n : nullptr;
      turn[m] = g.periodic[m == 0 ? 0 : steps == 3 && m == 2 ? 2 : 1] ? offset[m] : 0;
    }
  }

  void run(const Piece &p) {
    for (int d = 0; d < 3; ++d) low[d] = 0, high[d] = tile.window(d);
    t_ = vector[0];
    in_ = p.start ? vector[1] : t_;
    lines([&](int j, int k) { load(p, j, k); });
    horner(p.first, p.steps);
    if (p.then) {
      between(p.between);
      horner(other(p.first), p.then);
    }
    store(p);
  }

private:
  template <class F> void lines(const F &f) const {
    for (int k = low[2]; k < high[2]; ++k)
      for (int j = low[1]; j < high[1]; ++j) f(j, k);
  }
  template <class F> static void along(int from, int to, const F &f) {
#pragma omp simd
    for (int i = from; i < to; ++i) f(i);
  }

  double *unused() const {
    for (int v = 0; v < 2; ++v)
      if (vector[v] != t_ && vector[v] != in_) return vector[v];
    return vector[2];
  }
  int at(int i, int j, int k) const { return (k * wy + j) * wx + i; }

  void load(const Piece &p, int j, int k) {
    const PetscInt y = g.wrapped(tile.first[1] - tile.halo.low[1] + j, 1);
    const PetscInt z = g.wrapped(tile.first[2] - tile.halo.low[2] + k, 2);
    const PetscInt x0 = tile.first[0] - tile.halo.low[0], base = (z * g.n[1] + y) * g.n[0] + x0;
    const int line = at(0, j, k);
    if (y < 0 || z < 0) return along(0, wx, [&](int i) { clear(line + i); });
    const int left = static_cast<int>(std::clamp<PetscInt>(-x0, 0, wx));
    const int right = static_cast<int>(std::clamp<PetscInt>(g.n[0] - x0, left, wx));
    const auto outside = [&](int i) {
      const PetscInt x = g.wrapped(x0 + i, 0);
      if (x < 0)
        clear(line + i);
      else
        fetch(p, line + i, base - x0 + x, x, y, z);
    };
    along(0, left, outside);
    if (around || p.in != Scale::s)
      along(left, right, [&](int i) { fetch(p, line + i, base + i, x0 + i, y, z); });
    else
      fetch_line(p, line, left, right, base);
    along(right, wx, outside);
  }
  void clear(int c) {
    t_[c] = in_[c] = 0; // in_ may be t_
    for (int m = 0; m < steps; ++m) {
      ahead[m][c] = 0;
      if (around) back[m][c] = 0;
    }
  }
  void fetch(const Piece &p, int c, PetscInt row, PetscInt x, PetscInt y, PetscInt z) {
    t_[c] = scaled(p.in, a.s[row], p.r[row]);
    if (p.start) in_[c] = p.start[row];
    for (int m = 0; m < steps; ++m) {
      const double w = a.w[m][row];
      const bool reversed = around && g.reversed(x, y, z, m);
      ahead[m][c] = reversed ? 0 : w;
      if (around) back[m][c] = reversed ? w : 0;
    }
  }

  // The same for what is most of it, in loops that are vectorized.
  void fetch_line(const Piece &p, int line, int left, int right, PetscInt base) {
    const double *r = p.r + base, *scale = a.s + base;
    double *t = t_ + line;
    along(left, right, [=](int i) { t[i] = scale[i] * r[i]; });
    if (p.start) copy(in_ + line, p.start + base, left, right);
    for (int m = 0; m < steps; ++m) copy(ahead[m] + line, a.w[m] + base, left, right);
  }
  void copy(double *to, const double *from, int left, int right) {
    along(left, right, [=](int i) { to[i] = from[i]; });
  }

  // Each step is right on less of the window, as the halo counts it.
  void horner(Triangle triangle, int count) {
    Halo one;
    one.add(g, triangle, 1);
    for (int k = 0; k < count; ++k) {
      for (int d = 0; d < 3; ++d) low[d] += one.low[d], high[d] -= one.high[d];
      const double *t = t_, *in = in_;
      double *out = unused();
      if (triangle == Triangle::lower)
        everywhere([=](int c, const double *const *f, const double *const *b, const int *o, const int *u) {
          double sum = 0;
          for (int m = 0; m < steps; ++m) {
            sum += f[m][c - o[m]] * in[c - o[m]];
            if (around) sum += b[m][c] * in[c + u[m]];
          }
          out[c] = t[c] - sum;
        });
      else
        everywhere([=](int c, const double *const *f, const double *const *b, const int *o, const int *u) {
          double sum = 0;
          for (int m = 0; m < steps; ++m) {
            sum += f[m][c] * in[c + o[m]];
            if (around) sum += b[m][c - u[m]] * in[c - u[m]];
          }
          out[c] = t[c] - sum;
        });
      in_ = out;
    }
  }
  // y becomes t
  void between(Scale scale) {
    const PetscInt x = tile.first[0] - tile.halo.low[0];
    if (scale != Scale::none)
      lines([&](int j, int k) {
        const PetscInt y = tile.first[1] - tile.halo.low[1] + j, z = tile.first[2] - tile.halo.low[2] + k;
        double *in = in_ + at(0, j, k);
        along(low[0], high[0], [&](int i) {
          const PetscInt row = g.row(x + i, y, z);
          if (row >= 0) in[i] = scaled(scale, a.s[row], in[i]);
        });
      });
    t_ = in_;
  }
  void store(const Piece &p) { // what is left of the window is the tile
    lines([&](int j, int k) {
      const PetscInt y = tile.first[1] + j - low[1], z = tile.first[2] + k - low[2];
      const PetscInt row = (z * g.n[1] + y) * g.n[0] + tile.first[0] - low[0];
      const double *in = in_ + at(0, j, k), *scale = a.s + row;
      double *to = p.z + row;
      if (p.out == Scale::s)
        along(low[0], high[0], [=](int i) { to[i] = scale[i] * in[i]; });
      else
        along(low[0], high[0], [=, out = p.out](int i) { to[i] = scaled(out, scale[i], in[i]); });
    });
  }

  template <class F> void everywhere(const F &f) {
    lines([&](int j, int k) {
      const int line = at(0, j, k);
      along(low[0], high[0], [&](int i) { f(line + i, ahead, back, offset, turn); });
    });
  }
  const Lattice &g;
  const Couplings &a;
  const Tile &tile;
  const int wx, wy, wz;
  double *vector[3], *t_, *in_, *ahead[steps], *back[steps]; // in_ is t_ at first
  int offset[steps], turn[steps], low[3], high[3]; // turn: where a coupling may be reversed; what is elsewhere is old
};

} // namespace petscrrb::neumann
