// Multigrid on a device.
#include "pc/gridmg/core/gridmg.hpp"

#include "dense/cuda/dense.hpp"
#include "exec/cuda/sums.cuh"
#include "exec/cuda/shape.cuh"
#include "pc/gridmg/core/coarsest.hpp"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::gridmg {
namespace {

// A sum of Strengths, by its place: three shares, three numbers of strong points, alive, bad.
struct StrengthAt {
  Matrix A;
  index_t rows;
  int which;

  __device__ double operator()(index_t i, index_t row) const {
    const Point p{{i, row % rows, row / rows}};
    Strengths s;
    s.add_point(A, p);
    return which < 3 ? s.share[which] : which < 6 ? s.strong[which - 3] : which == 6 ? s.alive : s.bad;
  }
};

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) find_largest(const double *r, index_t n, unsigned long long *most) {
  double mine = 0.0;
  for (index_t i = index_t(blockIdx.x) * threads + threadIdx.x; i < n; i += index_t(gridDim.x) * threads)
    mine = fmax(mine, fabs(r[i]));
  cuda::raise(most, cuda::ordered_bits(mine));
}
struct SetScales {
  const unsigned long long *most;
  Scales *to;

  __device__ void operator()(int) const { *to = Scales::of(__longlong_as_double(static_cast<long long>(*most))); }
};

} // namespace

template <> class Strength<Cuda> {
public:
  Strengths operator()(const Cuda &on, const Matrix &A, const Shape &x) const {
    for (int i = 0; i < 8; ++i) sums_.sum(on, i, {0, x.n[0], 0, x.n[1] * x.n[2]}, StrengthAt{A, x.n[1], i});
    const double *s = sums_.read(on);
    Strengths out;
    for (int q = 0; q < 3; ++q) out.share[q] = s[q], out.strong[q] = s[3 + q];
    out.alive = s[6], out.bad = s[7];
    return out;
  }

private:
  Scalars<Cuda> sums_{8, 0};
};

template <class T> struct ZebraLines<Cuda, T> {
  Smoothed<T> g;
  Field<T> inverse, b, x;
  Shape shape;

  void relax(const Cuda &on, int q, index_t colour) const {
    const index_t nh = (shape.n[0] + 1) / 2;
    if (q == 0)
      on.for_each({0, shape.n[1], 0, shape.n[2]}, RelaxLine<T, 0>{g, inverse, b, x, shape.n[0], colour});
    else if (q == 1)
      on.for_each({0, nh, 0, shape.n[2]}, RelaxLine<T, 1>{g, inverse, b, x, shape.n[1], colour});
    else
      on.for_each({0, nh, 0, shape.n[1]}, RelaxLine<T, 2>{g, inverse, b, x, shape.n[2], colour});
  }
};

template <> class CoarsestInverse<Cuda> {
public:
  static constexpr index_t most = 8192; // its inverse takes 500 MB then

  void refresh(const Cuda &on, const Shape &x, const Matrix &A, bool &failed, int &null_directions) {
    if (!inverse_ || x.n != shape_.n) {
      const CoarsestRows rows(x);
      inverse_.reset();
      shape_ = x;
      ia_.assign(rows.ia), ja_.assign(rows.ja);
      values_.resize(rows.a.size() + rows.excess.size());
      vector_.resize(2 * x.points());
      inverse_ = std::make_unique<dense::DenseInverse>(
          dense::SparseView{int(x.points()), ia_.data(), ja_.data(), values_.data(), excess()},
          dense::Inverse::explicit_inverse, std::make_shared<dense::DenseLibrary>(), on.stream);
    }
    cuda::for_rows("the coarsest grid", int(x.points()),
                   TakeRow{A, {x.n[0], x.n[1], x.n[2]}, ia_.data(), ja_.data(), values_.data(), excess()}, on.stream);
    inverse_->refresh(values_.data(), excess(), on.stream);
    cuda::wait_for(on.stream, "the coarsest grid");
    const auto status = inverse_->status();
    failed = !status.definite;
    null_directions = status.null_directions;
  }
  double *vector() { return vector_.data(); }
  const double *solve(const Cuda &on) {
    return inverse_->solve(vector_.data(), vector_.data() + shape_.points(), on.stream);
  }
  double bytes() const {
    return double(ia_.bytes() + ja_.bytes() + values_.bytes() + vector_.bytes() + (inverse_ ? inverse_->bytes() : 0));
  }

private:
  double *excess() const { return values_.data() + ja_.size(); }

  Shape shape_;
  cuda::Buffer<int> ia_, ja_;
  cuda::Buffer<double> values_, vector_;
  std::unique_ptr<dense::DenseInverse> inverse_;
};

template <> class FindScales<Cuda> {
public:
  explicit FindScales(const Cuda &) : most_(1), scales_(1) {}
  const Scales *operator()(const Cuda &on, const double *r, index_t n) {
    cuda::check(cudaMemsetAsync(most_.data(), 0, most_.bytes(), on.stream), "cudaMemsetAsync");
    const index_t blocks = std::min<index_t>((n + threads - 1) / threads, cuda::resident_blocks(find_largest, threads));
    find_largest<<<unsigned(blocks), threads, 0, on.stream>>>(r, n, most_.data());
    cuda::check_launch("find_largest");
    cuda::for_rows("scales", 1, SetScales{most_.data(), scales_.data()}, on.stream);
    return scales_.data();
  }

private:
  cuda::Buffer<unsigned long long> most_;
  cuda::Buffer<Scales> scales_;
};

std::unique_ptr<GridMG> make_gridmg(const Cuda &on, const Grid &g, const Options &o, bool single) {
  if (single) return std::make_unique<GridMGOn<Cuda, float>>(on, g, o);
  return std::make_unique<GridMGOn<Cuda, double>>(on, g, o);
}

} // namespace petscrrb::gridmg
