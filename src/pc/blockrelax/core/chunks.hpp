// Symmetric matrices within a wide band, block tridiagonal: few steps to solve with, each a product with a dense matrix.
// For the threads of a group on a device, and for threads that stand for them on the host, in a test.
#pragma once

#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blocks.hpp"

namespace petscrrb::blockrelax {

// Rows in chunks of `width`: a chunk is coupled with the one before and the one behind. A factor has the inverses of the
// pivots S_k = A_kk - C_k S_(k-1)^-1 C_k^T; the couplings C_k are those of the matrix.
struct Chunks {
  int n, width;

  // A narrower band has too little work for a wide group, the inverse pivot of a wider one no room in its registers.
  static constexpr int narrowest = 32, widest = 128;
  PETSCRRB_HD static bool suit(int of_band) { return of_band >= narrowest && of_band <= widest; }
  PETSCRRB_HD int count() const { return (n + width - 1) / width; }
  PETSCRRB_HD int first(int k) const { return k * width; }
  PETSCRRB_HD int rows(int k) const { return n - first(k) < width ? n - first(k) : width; }
  PETSCRRB_HD index_t at(int k) const { return index_t(first(k)) * width; } // column after column
  PETSCRRB_HD index_t size() const { return at(count() - 1) + index_t(rows(count() - 1)) * rows(count() - 1); }
};

// What a group has in common while it factors: a chunk's couplings with cells before, first those that lead to the chunk
// before; those within the chunk come last.
template <int rows, int most> struct ChunkRoom {
  double column[2][rows], diagonal[rows], value[most][rows];
  int other[most][rows]; // a cell's place in its chunk
  int between[rows], within[rows];
};

namespace chunk_details {

template <class Group, class Matrix, class Room>
PETSCRRB_DEVICE void gather(const Group &g, const Chunks &c, const Matrix &A, int k, Room &room) {
  const int first = c.first(k);
  for (int i = g.rank(); i < c.rows(k); i += Group::size) {
    int between = 0, within = 0;
    A.back(first + i, [&](int other, double value) {
      if (value == 0) return; // it may be farther away than the band is wide
      const int m = other < first ? between++ : Matrix::most - 1 - within++;
      room.value[m][i] = value;
      room.other[m][i] = other < first ? other - first + c.width : other - first;
    });
    room.between[i] = between, room.within[i] = within;
    room.diagonal[i] = A.diagonal(first + i);
  }
}

// A thread has the entries at rows ti, ti + side, .. and columns tj, tj + side, ..
template <int tile, class Group> struct Tile {
  static constexpr int side = Group::side;
  double v[tile][tile];

  // before: the inverse pivot of the chunk before, or null
  template <class Matrix, class Room>
  PETSCRRB_DEVICE void assemble(const Group &g, int rows, int width, const double *before, const Room &room) {
    const int ti = g.rank() / side, tj = g.rank() % side;
    int between[tile], most = 0;
    PETSCRRB_UNROLL
    for (int b = 0; b < tile; ++b) {
      const int l = tj + b * side;
      between[b] = before && l < rows ? room.between[l] : 0;
      most = between[b] > most ? between[b] : most;
    }
    PETSCRRB_UNROLL
    for (int a = 0; a < tile; ++a) {
      const int i = ti + a * side;
      PETSCRRB_UNROLL
      for (int b = 0; b < tile; ++b) v[a][b] = i == tj + b * side && i < rows ? room.diagonal[i] : 0;
      if (i >= rows) continue;
      for (int m = Matrix::most - room.within[i]; m < Matrix::most; ++m) {
        PETSCRRB_UNROLL
        for (int b = 0; b < tile; ++b)
          if (room.other[m][i] == tj + b * side) v[a][b] += room.value[m][i];
      }
      for (int m = 0; before && m < room.between[i]; ++m) {
        const double *const p = before + room.other[m][i] * width;
        const double value = room.value[m][i];
        for (int o = 0; o < most; ++o) {
          PETSCRRB_UNROLL
          for (int b = 0; b < tile; ++b) {
            const int l = tj + b * side;
            if (o < between[b]) v[a][b] -= value * room.value[o][l] * p[room.other[o][l]];
          }
        }
      }
    }
    PETSCRRB_UNROLL
    for (int b = 0; b < tile; ++b) {
      const int l = tj + b * side;
      if (l >= rows) continue;
      for (int m = Matrix::most - room.within[l]; m < Matrix::most; ++m) {
        PETSCRRB_UNROLL
        for (int a = 0; a < tile; ++a)
          if (room.other[m][l] == ti + a * side) v[a][b] += room.value[m][l];
      }
    }
  }

  // Becomes minus its inverse: one row after the other is swept, and its pivot is that of an elimination in this order.
  // Returns the first whose pivot is negative, or -1.
  template <class Room> PETSCRRB_DEVICE int sweep(const Group &g, int rows, Room &room) {
    const int ti = g.rank() / side, tj = g.rank() % side;
    PETSCRRB_UNROLL
    for (int s = 0; s < tile; ++s)
      for (int q = 0; q < side; ++q) {
        const int p = s * side + q;
        if (p >= rows) return -1;
        double *const column = room.column[p % 2]; // the other one may still be read
        if (tj == q) {
          PETSCRRB_UNROLL
          for (int a = 0; a < tile; ++a) column[ti + a * side] = v[a][s];
        }
        g.sync();
        const double d = column[p], full = room.diagonal[p];
        if (!is_good_pivot(d, full)) return p;
        const double inverse = inverse_of_pivot(d, full);
        double of_row[tile], of_column[tile];
        PETSCRRB_UNROLL
        for (int a = 0; a < tile; ++a) of_row[a] = column[ti + a * side] * inverse;
        PETSCRRB_UNROLL
        for (int b = 0; b < tile; ++b) of_column[b] = column[tj + b * side];
        PETSCRRB_UNROLL
        for (int a = 0; a < tile; ++a) {
          PETSCRRB_UNROLL
          for (int b = 0; b < tile; ++b) v[a][b] -= of_row[a] * of_column[b];
        }
        if (tj == q) {
          PETSCRRB_UNROLL
          for (int a = 0; a < tile; ++a) v[a][s] = of_row[a];
        }
        if (ti == q) {
          PETSCRRB_UNROLL
          for (int b = 0; b < tile; ++b) v[s][b] = of_column[b] * inverse;
          if (tj == q) v[s][s] = -inverse;
        }
      }
    return -1;
  }

  PETSCRRB_DEVICE void store(const Group &g, int rows, double *to) const {
    const int ti = g.rank() / side, tj = g.rank() % side;
    PETSCRRB_UNROLL
    for (int a = 0; a < tile; ++a) {
      PETSCRRB_UNROLL
      for (int b = 0; b < tile; ++b) {
        const int i = ti + a * side, l = tj + b * side;
        if (i < rows && l < rows) to[i * rows + l] = -v[a][b];
      }
    }
  }
};

PETSCRRB_DEVICE inline double load_once(const double *p) {
#if defined(__CUDA_ARCH__)
  return __ldcs(p);
#else
  return *p;
#endif
}

} // namespace chunk_details

// Returns the first row whose pivot is negative, or -1. A direction that is null but for rounding is left out: its row and
// column of the inverse are zero. The width is at most `tile` times the side of the group.
template <int tile, class Group, class Matrix, class Room>
PETSCRRB_DEVICE int factor(const Group &g, const Chunks &c, const Matrix &A, double *to, Room &room) {
  for (int k = 0; k < c.count(); ++k) {
    chunk_details::gather(g, c, A, k, room);
    g.sync();
    chunk_details::Tile<tile, Group> t;
    t.template assemble<Matrix>(g, c.rows(k), c.width, k ? to + c.at(k - 1) : nullptr, room);
    const int bad = t.sweep(g, c.rows(k), room);
    if (bad >= 0) return c.first(k) + bad;
    t.store(g, c.rows(k), to + c.at(k));
    g.sync();
  }
  return -1;
}

// A solve with a factor: a warp takes columns of an inverse pivot, a lane `slots` of their rows; `early` columns of the next
// one are on their way meanwhile, and the others are read when they are needed.
template <int slots, int early, class Group> class ChunkSolve {
public:
  // doubles that a group needs
  PETSCRRB_HD static int room(int width) { return (Group::lines + 1) * width; }

  PETSCRRB_DEVICE ChunkSolve(const Group &g, const Chunks &c, const double *inverse, double *room)
      : g_(g), c_(c), inverse_(inverse), part_(room), far_(room + Group::lines * c.width),
        lane_(g.rank() % Group::lanes), line_(g.rank() / Group::lanes) {}

  // x becomes A^-1 x.
  template <class Matrix> PETSCRRB_DEVICE void operator()(const Matrix &A, double *x) {
    const int last = c_.count() - 1;
    load(0);
    for (int k = 0; k <= last; ++k) {
      double *const mine = x + c_.first(k);
      if (k > 0) {
        for (int i = g_.rank(); i < c_.rows(k); i += Group::size) {
          double sum = mine[i];
          A.back(c_.first(k) + i, [&](int other, double a) {
            if (other < c_.first(k)) sum -= a * x[other];
          });
          mine[i] = sum;
        }
        g_.sync();
      }
      multiply(k, mine, k < last ? k + 1 : k - 1);
      for (int i = g_.rank(); i < c_.rows(k); i += Group::size) mine[i] = sum(i);
      g_.sync();
    }
    for (int k = last - 1; k >= 0; --k) {
      for (int i = g_.rank(); i < c_.width; i += Group::size) {
        double sum = 0;
        A.ahead(c_.first(k) + i, [&](int other, double a) {
          if (other >= c_.first(k + 1)) sum += a * x[other];
        });
        far_[i] = sum;
      }
      g_.sync();
      multiply(k, far_, k - 1);
      for (int i = g_.rank(); i < c_.width; i += Group::size) x[c_.first(k) + i] -= sum(i);
      g_.sync();
    }
  }

private:
  PETSCRRB_DEVICE void load(int k) {
    if (k < 0) return;
    const double *const p = inverse_ + c_.at(k);
    const int rows = c_.rows(k);
    PETSCRRB_UNROLL
    for (int e = 0; e < early; ++e) {
      PETSCRRB_UNROLL
      for (int s = 0; s < slots; ++s) ahead_[e][s] = entry(p, rows, line_ + e * Group::lines, s);
    }
  }
  // Of a thread's rows, or the last one's: loads without branches are on their way together.
  PETSCRRB_DEVICE double entry(const double *p, int rows, int column, int slot) const {
    const int row = lane_ + slot * Group::lanes, last = rows - 1;
    return chunk_details::load_once(p + (column < last ? column : last) * rows + (row < last ? row : last));
  }
  // What each warp adds to the product of inverse pivot k and y. next: whose turn it is then
  PETSCRRB_DEVICE void multiply(int k, const double *y, int next) {
    const double *const p = inverse_ + c_.at(k);
    const int rows = c_.rows(k);
    double sums[slots] = {};
    PETSCRRB_UNROLL
    for (int e = 0; e < early; ++e) {
      const int column = line_ + e * Group::lines;
      const double value = column < rows ? y[column] : 0;
      PETSCRRB_UNROLL
      for (int s = 0; s < slots; ++s) sums[s] += ahead_[e][s] * value;
    }
    load(next);
    PETSCRRB_UNROLL_BY(4)
    for (int column = line_ + early * Group::lines; column < rows; column += Group::lines) {
      PETSCRRB_UNROLL
      for (int s = 0; s < slots; ++s) sums[s] += entry(p, rows, column, s) * y[column];
    }
    PETSCRRB_UNROLL
    for (int s = 0; s < slots; ++s) {
      const int row = lane_ + s * Group::lanes;
      if (row < rows) part_[line_ * c_.width + row] = sums[s];
    }
    g_.sync();
  }
  PETSCRRB_DEVICE double sum(int row) const {
    double of_all = part_[row];
    for (int l = 1; l < Group::lines; ++l) of_all += part_[l * c_.width + row];
    return of_all;
  }

  const Group &g_;
  const Chunks c_;
  const double *const inverse_;
  double *const part_, *const far_;
  const int lane_, line_;
  double ahead_[early][slots];
};

} // namespace petscrrb::blockrelax
