// What multigrid has of its own on a device.
#pragma once

#include "dense/cuda/dense.hpp"
#include "exec/cuda/graph.hpp"
#include "exec/cuda/shape.cuh"
#include "exec/cuda/sums.cuh"
#include "pc/gridmg/core/coarsest.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "pc/gridmg/cuda/lines.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::gridmg {

constexpr int strengths = Strengths::count;
constexpr int strength_threads = 256, strength_blocks = 512;

// Each block adds up rows that are its own whatever the device.
static __global__ void __launch_bounds__(strength_threads)
    add_strengths(Matrix A, Range3 box, int across, cuda::BlockSum<strength_threads> sum) {
  const index_t rows = box.n[1] * box.n[2], at_once = strength_threads / across;
  const int x = int(threadIdx.x) % across, y = int(threadIdx.x) / across;
  Strengths s;
  for (index_t row = blockIdx.x * at_once + y; row < rows; row += strength_blocks * at_once) {
    const index_t j = row % box.n[1], k = row / box.n[1];
    for (index_t i = x; i < box.n[0]; i += across) s.add_point(A, Point{{i, j, k}});
  }
  const Strengths::Numbers value = s.numbers();
  for (int n = 0; n < strengths; ++n, sum.term += strength_blocks) sum.add(value.n[n]);
}

constexpr int scale_threads = 256;

static __global__ void __launch_bounds__(scale_threads)
    find_largest(const double *r, index_t n, unsigned long long *most) {
  double mine = 0.0;
  for (index_t i = index_t(blockIdx.x) * scale_threads + threadIdx.x; i < n; i += index_t(gridDim.x) * scale_threads)
    mine = fmax(mine, fabs(r[i]));
  cuda::raise(most, cuda::ordered_bits(mine));
}
struct SetScales {
  const unsigned long long *most; // NULL: `largest`
  double largest;
  Scales *to;

  __device__ void operator()(int) const {
    *to = Scales::of(most ? __longlong_as_double(static_cast<long long>(*most)) : largest);
  }
};

template <> class Strength<Cuda> {
public:
  Strength() { partial_.reserve(strengths * strength_blocks); }
  void start(const Cuda &on, const Matrix &A, const Shape &x, int grid) {
    int across = 8;
    while (across < strength_threads && across < x.n[0]) across *= 2;
    partial_.start();
    const auto first = partial_.take<strength_threads>(strengths * strength_blocks);
    add_strengths<<<strength_blocks, strength_threads, 0, on.stream>>>(A, x.all(), across, first);
    cuda::check_launch("strengths");
    for (int n = 0; n < strengths; n += Sums::most) {
      Sums sums;
      for (int i = n; i < std::min(n + Sums::most, strengths); ++i)
        sums.add({first.term + i * strength_blocks, strength_blocks}, nullptr);
      partial_.put(on, sums, sums_.data() + grid * strengths + n);
    }
  }
  const double *read(const Cuda &on) const { return sums_.read(on); }

private:
  PartialSum<Cuda> partial_;
  Scalars<Cuda> sums_{strengths * most_strengths, 0};
};

constexpr int coarsest_threads = 256;

// x = from times the inverse times b, a row a warp; places: of the points in these fields.
template <class T>
__global__ void __launch_bounds__(coarsest_threads)
    solve_coarsest(dense::InverseRows inverse, const int *places, Field<T> b, Field<T> x, double from) {
  const int row = (int(blockIdx.x) * coarsest_threads + int(threadIdx.x)) / 32;
  cuda::start_next();
  cuda::await_previous();
  if (row >= inverse.n) return;
  const double sum = inverse.times(row, [&](int k) { return double(b.p[places[k]]); });
  if (threadIdx.x % 32 == 0) x.p[places[row]] = T(from * sum);
}

template <> class CoarsestInverse<Cuda> {
public:
  static constexpr index_t most = 8192; // its inverse takes 500 MB then

  void refresh(const Cuda &on, const Shape &x, const Matrix &A, double null_inverse) {
    if (!inverse_ || x.n != shape_.n) {
      const CoarsestRows rows(x);
      inverse_.reset();
      shape_ = x;
      ia_.assign(rows.ia), ja_.assign(rows.ja);
      values_.resize(rows.ja.size() + std::size_t(x.points()));
      const Layout layout(x.n);
      std::vector<int> places, black;
      int blacks = 0;
      each_point(x.n, [&](const Point &p) {
        places.push_back(int(layout.place(p.a[0], p.a[1], p.a[2])));
        black.push_back(is_red(p.a[0], p.a[1], p.a[2]) ? -1 : blacks++);
      });
      places_.assign(places), black_.assign(black);
      for (int q = 0; q < 3; ++q)
        if (x.ring[q] && x.n[q] > 1 && x.n[q] % 2) blacks = 0; // red points are coupled around it
      inverse_ = std::make_unique<dense::DenseInverse>(
          dense::SparseView{int(x.points()), ia_.data(), ja_.data(), values_.data(), excess()},
          dense::Inverse::explicit_inverse, nullptr, on.stream, dense::Colours{black_.data(), blacks});
    }
    cuda::for_rows("the coarsest grid", int(x.points()),
                   TakeRow{A, {x.n[0], x.n[1], x.n[2]}, ia_.data(), ja_.data(), values_.data(), excess()}, on.stream);
    inverse_->refresh(values_.data(), excess(), null_inverse, on.stream);
  }
  bool enqueues() const { return shape_.points() <= dense::DenseInverse::most_swept; } // cuSOLVER may do more
  void finish(const Cuda &on, bool &failed, int &null_directions) const {
    cuda::wait_for(on.stream, "the coarsest grid");
    const auto status = inverse_->status();
    failed = !status.definite;
    null_directions = status.null_directions;
  }
  template <class T> void solve(const Cuda &on, const Field<T> &b, const Field<T> &x, double from) {
    static const bool overlap = cuda::may_overlap(solve_coarsest<T>);
    const unsigned blocks = unsigned(shape_.points() - 1) / (coarsest_threads / 32) + 1;
    cuda::launch("the coarsest grid", solve_coarsest<T>, overlap, blocks, coarsest_threads, 0, on.stream,
                 inverse_->rows(), places_.data(), b, x, from);
  }
  double bytes() const {
    return double(ia_.bytes() + ja_.bytes() + places_.bytes() + black_.bytes() + values_.bytes() +
                  (inverse_ ? inverse_->bytes() : 0));
  }

private:
  double *excess() const { return values_.data() + ja_.size(); }

  Shape shape_;
  cuda::Buffer<int> ia_, ja_, places_, black_;
  cuda::Buffer<double> values_;
  std::unique_ptr<dense::DenseInverse> inverse_;
};

template <> class FindScales<Cuda> {
public:
  explicit FindScales(const Cuda &) : scales_(1) {}
  const Scales *operator()(const Cuda &on, const double *r, index_t n) {
    find(on, r, n);
    cuda::for_rows("scales", 1, SetScales{most_.device(), 0.0, scales_.data()}, on.stream);
    return scales_.data();
  }
  const Scales *put(const Cuda &on, double largest) {
    cuda::for_rows("scales", 1, SetScales{nullptr, largest, scales_.data()}, on.stream);
    return scales_.data();
  }
  // waits for the stream
  double largest(const Cuda &on, const double *r, index_t n) {
    find(on, r, n);
    return rows_kernels::value(most_.read(on.stream));
  }

private:
  void find(const Cuda &on, const double *r, index_t n) {
    most_.clear(on.stream);
    if (!n) return;
    const index_t blocks =
        std::min<index_t>((n + scale_threads - 1) / scale_threads, cuda::resident_blocks(find_largest, scale_threads));
    find_largest<<<unsigned(blocks), scale_threads, 0, on.stream>>>(r, n, most_.device());
    cuda::check_launch("find_largest");
  }

  cuda::Report<unsigned long long> most_;
  cuda::Buffer<Scales> scales_;
};

template <> class Repeated<Cuda> {
public:
  template <class Work> void operator()(Cuda &on, const Work &work) {
    const auto without_error = [&] {
      work();
      return 0;
    };
    if (graph_.empty()) graph_.capture(on, without_error);
    graph_.launch(on);
  }
  void reset() { graph_.reset(); }

private:
  cuda::Graph graph_;
};

// in gridmg.cu
extern template class Hierarchy<Cuda, float>;
extern template class Hierarchy<Cuda, double>;
extern template class Multigrid<Cuda, float>;
extern template class Multigrid<Cuda, double>;
extern template class GridMGOn<Cuda, float>;
extern template class GridMGOn<Cuda, double>;

} // namespace petscrrb::gridmg
