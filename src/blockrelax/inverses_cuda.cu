// Finds the blocks that are alike, and inverts one of each kind.
#include "inverses_cuda.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace petscrrb::blockrelax {
namespace {

constexpr int threads = 128, wide = 256; // wide: of groups that work on large blocks

__host__ __device__ unsigned long long mixed(unsigned long long x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Of 128 bits: blocks that have the same are taken to be alike. Sums, so that couplings come in any order.
template <int size>
__global__ void __launch_bounds__(threads) hash_blocks(const DeviceBlock *blocks, int count, DeviceInverses all,
                                                       unsigned long long *hash, int *width, int *most) {
  const Group<size> g;
  const int t = int(blockIdx.x) * (threads / size) + g.number();
  if (t >= count) return;
  const DeviceBlock block = blocks[t];
  unsigned long long h[2] = {};
  int far = 0;
  within_block(block, all.near, all.values, all.links, all.most_cells, g.rank(), size, [&](int i, int j, double a) {
    const unsigned long long where = mixed((static_cast<unsigned long long>(i) << 32 | unsigned(j)) + 1);
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(a));
    h[0] += mixed(where ^ bits);
    h[1] += mixed(0x9e3779b97f4a7c15u * where + bits);
    if (a != 0) far = max(far, i > j ? i - j : j - i);
  });
  for (int k = size / 2; k; k /= 2) {
    h[0] += __shfl_xor_sync(g.mask(), h[0], k);
    h[1] += __shfl_xor_sync(g.mask(), h[1], k);
    far = max(far, __shfl_xor_sync(g.mask(), far, k));
  }
  if (g.rank()) return;
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 2; ++k) h[k] = mixed(h[k] + unsigned(2 * block.n[d] + k));
  hash[block.number] = h[0];
  hash[count + block.number] = h[1];
  width[block.number] = far;
  if (far > *const_cast<volatile int *>(most)) atomicMax(most, far);
}

struct Count {
  int *to;
  __device__ void operator()(int i) const { to[i] = i; }
};
struct FindFirsts { // in the order of hashes
  const unsigned long long *hash;
  const int *number;
  int blocks, *starts, *is_first;
  __device__ void operator()(int s) const {
    const int b = number[s], before = s ? number[s - 1] : 0;
    const bool first = s == 0 || hash[b] != hash[before] || hash[blocks + b] != hash[blocks + before];
    starts[s] = is_first[b] = first;
  }
};
struct NameFirsts {
  const int *number, *starts, *run;
  int *first_of_run;
  __device__ void operator()(int s) const {
    if (starts[s]) first_of_run[run[s] - 1] = number[s];
  }
};
// Kinds are numbered as their first blocks are.
struct MakeKinds {
  const DeviceBlock *blocks;
  const int *place, *number, *run, *first_of_run, *is_first, *kind_at, *width;
  int count;
  bool dense;
  int *kind_of;
  DeviceKind *kinds;
  index_t *size;
  MadeInverses *made;
  __device__ void operator()(int s) const {
    const int b = number[s], k = kind_at[b];
    kind_of[b] = kind_at[first_of_run[run[s] - 1]];
    if (b == count - 1) made->kinds = k + is_first[b];
    if (!is_first[b]) return;
    const DeviceBlock block = blocks[place[b]];
    const index_t cells = index_t(block.n[0]) * block.n[1] * block.n[2];
    kinds[k] = {-1, place[b], width[b], {}};
    size[k] = cells * (dense ? cells : width[b] + 1);
  }
};
struct PlaceKinds {
  DeviceKind *kinds;
  const index_t *size, *at;
  double memory;
  MadeInverses *made;
  __device__ void operator()(int k) const {
    if (k >= made->kinds) return;
    const index_t end = at[k] + size[k];
    const bool fits = memory <= 0 || double(end) * sizeof(double) <= memory;
    kinds[k].at = fits ? at[k] : -1;
    const bool next_fits = k + 1 < made->kinds && (memory <= 0 || double(end + size[k + 1]) * sizeof(double) <= memory);
    if (fits && !next_fits) made->size = end; // those that fit are the first ones
    if (!fits) atomicAdd(&made->without, 1);
  }
};

// Unit vectors are solved for, one a thread.
template <class Group> __device__ void invert(const Group &g, const DeviceBand &band, const double *a, double *to) {
  const index_t n = band.n;
  for (int c = g.rank(); c < n; c += Group::size) {
    double *const x = to + c;
    for (int i = 0; i < n; ++i) x[i * n] = i == c;
    for (int j = c; j < n; ++j) {
      const double xj = x[j * n];
      for (int k = 1; k <= band.width && j + k < n; ++k) x[(j + k) * n] -= band.column(a, j)[k] * xj;
    }
    for (int j = band.n; j-- > 0;) {
      double sum = x[j * n] * band.column(a, j)[0];
      for (int k = 1; k <= band.width && j + k < n; ++k) sum -= band.column(a, j)[k] * x[(j + k) * n];
      x[j * n] = sum;
    }
  }
  g.sync();
  for (index_t i = g.rank(); i < n * n; i += Group::size) // symmetric to the last bit
    if (i / n < i % n) to[i] = to[i % n * n + i / n];
  g.sync();
}

struct Making {
  const DeviceBlock *blocks;
  int kinds;
  Method method;
  double *inverse, *scratch;
  index_t factor; // doubles of scratch for each group
  int window;     // doubles of shared memory for each group; or none
  unsigned long long *bad;
};

template <int size>
__global__ void __launch_bounds__(size > 32 ? size : threads) make_inverses(DeviceInverses all, Making m) {
  extern __shared__ double memory[];
  const Group<size> g;
  const int groups = int(blockDim.x) / size, me = int(blockIdx.x) * groups + g.number();
  for (int k = me; k < m.kinds; k += int(gridDim.x) * groups) {
    const DeviceKind kind = all.kinds[k];
    if (m.method == Method::tensor && kind.at >= 0) continue;
    const DeviceBlock block = m.blocks[kind.block];
    const bool here = m.method == Method::factored && kind.at >= 0;
    double *const to = here ? m.inverse + kind.at : m.scratch + me * m.factor;
    const int bad = factor_block(g, all, block, kind.width, to, m.window ? memory + g.number() * m.window : nullptr);
    if (bad >= 0) {
      const int i = bad % block.n[0], j = bad / block.n[0] % block.n[1], z = bad / block.n[0] / block.n[1];
      const index_t row = block.first + index_t(z) * block.plane + index_t(j) * block.line + i;
      if (g.rank() == 0) atomicMax(m.bad, ~0ull - static_cast<unsigned long long>(row));
    } else if (m.method == Method::dense && kind.at >= 0) {
      invert(g, DeviceBand{block.n[0] * block.n[1] * block.n[2], kind.width}, to, m.inverse + kind.at);
    }
    g.sync();
  }
}

template <class T> void at_least(cuda::Buffer<T> &b, std::size_t n) {
  if (b.size() < n) b.resize(n);
}
template <class T> void copy(cuda::Buffer<T> &to, const std::vector<T> &from, cudaStream_t stream) {
  at_least(to, from.size());
  cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
}
int attribute(cudaDeviceAttr which) {
  int device, value;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

} // namespace

BlockInverses::BlockInverses(const Layout &layout, const BlockOrder &order, const DeviceMatrix &matrix,
                             const Options &options)
    : l_(layout), A_(matrix), options_(options) {
  std::vector<int> shape_of(static_cast<std::size_t>(l_.blocks())), place(shape_of.size());
  for (index_t t = 0; t < l_.blocks(); ++t) place[order[t]] = static_cast<int>(t);
  for (index_t b = 0; b < l_.blocks(); ++b)
    l_.at(b, [&](const Patch &p, const Block &block) {
      std::size_t s = 0;
      while (s < shapes_.size() && !std::equal(block.n, block.n + 3, shapes_[s].n)) ++s;
      if (s == shapes_.size())
        shapes_.push_back({{block.n[0], block.n[1], block.n[2]},
                           place[b],
                           row_at(p, block.first[0], block.first[1], block.first[2])});
      shape_of[b] = static_cast<int>(s);
    });
  shape_of_.assign(shape_of);
  resident_ = attribute(cudaDevAttrMultiProcessorCount);
}

index_t BlockInverses::size(int cells, int width) const {
  return method_ == Method::tensor  ? cells
         : method_ == Method::dense ? index_t(cells) * cells
                                    : DeviceBand{cells, width}.size();
}

template <class Call> void BlockInverses::by_cub(const char *what, const Call &call) {
  std::size_t bytes = 0;
  cuda::check(call(nullptr, bytes), what);
  at_least(cub_, bytes);
  cuda::check(call(cub_.data(), bytes), what);
}

void BlockInverses::reserve(index_t inverses, bool all_have_place) {
  const index_t factor = static_cast<index_t>(extent_.cells) * (extent_.width + 1);
  anew_ = all_have_place ? 0 : factor;
  at_least(inverse_, static_cast<std::size_t>(inverses));
  if (anew_ || method_ == Method::dense) at_least(scratch_, static_cast<std::size_t>(resident_ * factor));
}

// Blocks of a shape are alike.
void BlockInverses::refresh_constant(cudaStream_t stream) {
  const Couplings &c = A_.common();
  extent_ = Extent();
  host_kinds_.clear();
  for (const Shape &shape : shapes_) {
    DeviceKind kind{-1, shape.first, 0, {}};
    for (int m = 0; m < l_.neighbours.count; ++m) {
      const Step s = l_.neighbours.step[m];
      const bool fits = (s.x == 0 || shape.n[0] > 1) && (s.y == 0 || shape.n[1] > 1) && (s.z == 0 || shape.n[2] > 1);
      if (fits && c.ahead[m] != 0) kind.width = std::max(kind.width, offset(shape.n, s));
    }
    extent_.add(shape.n, kind.width);
    host_kinds_.push_back(kind);
  }
  method_ = choose(options_.inverse, &c, l_.neighbours, extent_);
  index_t sum = 0;
  bool all = true;
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    const int *n = shapes_[k].n;
    const index_t next = sum + size(n[0] * n[1] * n[2], host_kinds_[k].width);
    const bool fits = options_.memory <= 0 || static_cast<double>(next) * sizeof(double) <= options_.memory;
    if (fits) host_kinds_[k].at = std::exchange(sum, next);
    all = all && fits;
    if (method_ != Method::tensor) continue;
    const std::size_t before = sine_.values().size();
    for (int d = 0; d < 3; ++d) sine_.add(n[d]);
    for (int d = 0; d < 3; ++d) host_kinds_[k].basis[d] = static_cast<index_t>(sine_.at(n[d]));
    if (before != sine_.values().size()) bases_.resize(0);
  }
  if (method_ == Method::tensor && !bases_.size()) bases_.assign(sine_.values());
  reserve(sum, all);
  kinds_ = static_cast<index_t>(shapes_.size());
  copy(kinds_buffer_, host_kinds_, stream);
  shapes_used_ = true;
}

// Returns the first row of a block that is not positive definite.
index_t BlockInverses::make_tensor(cudaStream_t stream) {
  index_t first = no_row;
  host_inverse_.resize(inverse_.size());
  for (std::size_t k = 0; k < shapes_.size(); ++k)
    if (host_kinds_[k].at >= 0 &&
        tensor_inverse(l_.neighbours, A_.common(), shapes_[k].n, host_inverse_.data() + host_kinds_[k].at) >= 0)
      first = std::min(first, shapes_[k].row);
  copy(inverse_, host_inverse_, stream);
  return first;
}

void BlockInverses::refresh_variable(cudaStream_t stream) {
  const int blocks = static_cast<int>(l_.blocks());
  const std::size_t n = static_cast<std::size_t>(blocks);
  if (kind_of_.size() != n) {
    for (auto *b : {&hash_, &hash_sorted_}) b->resize(2 * n);
    for (auto *b :
         {&number_, &number_sorted_, &width_, &flag_, &is_first_, &run_, &first_of_run_, &kind_at_, &kind_of_})
      b->resize(n);
    size_.resize(n);
    at_.resize(n);
  }
  at_least(kinds_buffer_, n);
  method_ = choose(options_.inverse, nullptr, l_.neighbours, Extent());
  made_.clear(stream);
  DeviceInverses all = view();
  const auto hash = [&](auto group, auto kernel) {
    constexpr int size = decltype(group)::size;
    kernel<<<unsigned(blocks - 1) / (threads / size) + 1, threads, 0, stream>>>(A_.blocks(), blocks, all, hash_.data(),
                                                                                width_.data(), &made_.device()->width);
    cuda::check_launch("hash_blocks");
  };
  if (l_.most_cells() <= 16)
    hash(Group<8>(), hash_blocks<8>);
  else
    hash(Group<32>(), hash_blocks<32>);
  cuda::for_rows("blocks", blocks, Count{number_.data()}, stream);
  by_cub("order of blocks", [&](void *p, std::size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(p, bytes, hash_.data(), hash_sorted_.data(), number_.data(),
                                           number_sorted_.data(), blocks, 0, 64, stream);
  });
  cuda::for_rows("first blocks", blocks,
                 FindFirsts{hash_.data(), number_sorted_.data(), blocks, flag_.data(), is_first_.data()}, stream);
  by_cub("runs", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(p, bytes, flag_.data(), run_.data(), blocks, stream);
  });
  cuda::for_rows("first blocks", blocks,
                 NameFirsts{number_sorted_.data(), flag_.data(), run_.data(), first_of_run_.data()}, stream);
  by_cub("kinds", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, is_first_.data(), kind_at_.data(), blocks, stream);
  });
  cuda::check(cudaMemsetAsync(size_.data(), 0, size_.bytes(), stream), "cudaMemsetAsync");
  cuda::for_rows("kinds", blocks,
                 MakeKinds{A_.blocks(), A_.place(), number_sorted_.data(), run_.data(), first_of_run_.data(),
                           is_first_.data(), kind_at_.data(), width_.data(), blocks, method_ == Method::dense,
                           kind_of_.data(), kinds_buffer_.data(), size_.data(), made_.device()},
                 stream);
  by_cub("places", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, size_.data(), at_.data(), blocks, stream);
  });
  cuda::for_rows("places", blocks,
                 PlaceKinds{kinds_buffer_.data(), size_.data(), at_.data(), options_.memory, made_.device()}, stream);
  const MadeInverses made = made_.read(stream);
  kinds_ = made.kinds;
  extent_ = Extent();
  for (const Shape &shape : shapes_) extent_.add(shape.n, made.width);
  reserve(made.size, made.without == 0);
  shapes_used_ = false;
}

void BlockInverses::make(cudaStream_t stream) {
  Making m{A_.blocks(), int(kinds_), method_, inverse_.data(), scratch_.data(), 0, 0, &made_.device()->bad};
  const DeviceInverses all = view();
  const bool in_scratch = anew_ || method_ == Method::dense;
  const bool large = in_scratch || extent_.width > 16;
  const int window = int(DeviceBand{0, extent_.width}.window());
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / int(sizeof(double));
  m.factor = static_cast<index_t>(extent_.cells) * (extent_.width + 1);
  const auto launch = [&](auto kernel, int groups, int size) {
    m.window = extent_.width < 1024 && groups * window <= most ? window : 0;
    const int shared = groups * m.window * int(sizeof(double));
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "cudaFuncSetAttribute");
    const int needed = int((kinds_ + groups - 1) / groups), limit = in_scratch ? resident_ : 1 << 20;
    kernel<<<unsigned(std::min(needed, limit)), unsigned(groups * size), unsigned(shared), stream>>>(all, m);
    cuda::check_launch("make_inverses");
  };
  if (large)
    launch(make_inverses<wide>, 1, wide);
  else
    launch(make_inverses<32>, 4, 32);
}

index_t BlockInverses::refresh(cudaStream_t stream) {
  if (l_.blocks() == 0) return no_row;
  if (A_.constant())
    refresh_constant(stream);
  else
    refresh_variable(stream);
  made_.clear(stream);
  index_t first = method_ == Method::tensor ? make_tensor(stream) : no_row;
  if (method_ == Method::tensor && !anew_) return first;
  make(stream);
  if (const unsigned long long bad = made_.read(stream).bad) first = std::min(first, static_cast<index_t>(~0ull - bad));
  return first;
}

DeviceInverses BlockInverses::view() const {
  return {kinds_buffer_.data(), shapes_used_ ? shape_of_.data() : kind_of_.data(),
          inverse_.data(),      bases_.data(),
          l_.neighbours,        A_.values(),
          A_.links(),           int(l_.most_cells())};
}

double BlockInverses::bytes() const {
  std::size_t sum = shape_of_.bytes() + bases_.bytes() + inverse_.bytes() + scratch_.bytes() + kinds_buffer_.bytes() +
                    hash_.bytes() + hash_sorted_.bytes() + size_.bytes() + at_.bytes() + cub_.bytes();
  for (const auto *b :
       {&number_, &number_sorted_, &width_, &flag_, &is_first_, &run_, &first_of_run_, &kind_at_, &kind_of_})
    sum += b->bytes();
  return static_cast<double>(sum);
}

} // namespace petscrrb::blockrelax
