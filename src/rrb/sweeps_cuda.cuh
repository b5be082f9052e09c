// The sweeps of RRB's grids on a device: which kernels, in which shape.
#pragma once

#include "rrb/tail_cuda.cuh"

namespace petscrrb::rrb {

// The device's answer to "sweep one grid" (rrb_apply.hpp).
template <class T> class Sweeps<Cuda, T> {
public:
  Sweeps() = default;
  explicit Sweeps(const Extent &) {}

  template <bool Couple>
  void forward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural) const {
    with_vectors<true>(d, next, natural, [&](const auto &x, const auto &b2) {
      const Launch l(d);
      device::forward<Couple><<<l.blocks, l.threads, 0, on.stream>>>(device::factor_of(d), l.box, x,
                                                                     device::b1_after(d), b2, l.rows);
      cuda::check_launch("the forward sweep");
    });
  }

  template <bool Couple>
  void backward(const Cuda &on, const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &natural,
                Scaling scaling) const {
    with_vectors<false>(d, next, natural, [&](const auto &x, const auto &b2) {
      const Launch l(d);
      const auto run = [&](auto kernel) {
        kernel<<<l.blocks, l.threads, 0, on.stream>>>(device::factor_of(d), l.box, x, device::b1_after(d), b2, l.rows);
      };
      using X = std::decay_t<decltype(x)>;
      using Next = std::decay_t<decltype(b2)>;
      if (scaling == Scaling::full)
        run(device::backward<Couple, Scaling::full, T, X, Next>);
      else
        run(device::backward<Couple, Scaling::root, T, X, Next>);
      cuda::check_launch("the backward sweep");
    });
  }
  std::size_t bytes() const { return 0; }

  // The coarsest grids and the last block in one kernel, where that is possible.
  template <class Next>
  void set_up_tail(const std::deque<DenseGrid<Cuda, T>> &dense, const Next &next, const coarse::View *view) {
    tail_.set_up(dense, next, view);
  }
  int tail_from() const { return tail_.first(); }
  void solve_tail(const Cuda &on, int from) { tail_.solve(on, from); }

private:
  struct Launch {
    device::Box box;
    int rows;
    dim3 blocks, threads;

    explicit Launch(const DenseGrid<Cuda, T> &d) : box(device::box_of(d.extent, d.layout())) {
      const int across = (box.h1 - box.h0 + device::columns - 1) / device::columns, along = box.k1 - box.k0;
      constexpr int enough = 4096; // warps, to fill the largest devices
      rows = std::clamp(int(index_t(across) * along / enough), 1, device::most_rows);
      rows = std::max(rows, (along + 65534) / 65535);
      blocks = dim3((across + device::warps - 1) / device::warps, (along + rows - 1) / rows);
      threads = dim3(32 * device::warps);
    }
  };

  template <bool ReadOnly, class F>
  static void with_vectors(const DenseGrid<Cuda, T> &d, const NextGrid &next, const NaturalVectors &v, const F &f) {
    const Side &x = d.extent.x, &y = d.extent.y;
    const auto with_next = [&](const auto &vector) {
      if (next.dense)
        f(vector, device::dense_next<true>(d.extent, next));
      else
        f(vector, device::natural_next<true>(d.extent, next));
    };
    const device::NaturalBox box{int(x.lo), int(y.lo), int(x.hi - x.lo), int(y.hi - y.lo)};
    const device::Around around_x = device::around(x, 1), around_y = device::around(y, 1);
    if (!v.r)
      with_next(device::dense_vector<ReadOnly>(d));
    else if (v.v_r || v.v_z)
      with_next(device::NaturalVector<true>{v.r, v.v_r, v.z, v.v_z, box, around_x, around_y});
    else
      with_next(device::NaturalVector<false>{v.r, nullptr, v.z, nullptr, box, around_x, around_y});
  }

  Tail<T> tail_;
};

} // namespace petscrrb::rrb
