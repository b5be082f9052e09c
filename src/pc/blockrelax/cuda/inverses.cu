// Finds the blocks that are alike, and inverts one of each kind.
#include "exec/cuda/sort.hpp"
#include "pc/blockrelax/cuda/make_inverses.cuh"

namespace petscrrb::blockrelax {

using namespace inverse_kernels;

namespace {

template <class T> void copy(cuda::Buffer<T> &to, const std::vector<T> &from, cudaStream_t stream) {
  cuda::at_least(to, from.size());
  cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
}

int processors() { return cuda::attribute(cudaDevAttrMultiProcessorCount); }

// widest: of their bands
void make_chunks(const DeviceInverses &all, const Making &m, int widest, cudaStream_t stream) {
  static_assert(Chunks::widest <= 8 * Group<wide>::side, "the widest has a kernel");
  const int tile = (widest - 1) / Group<wide>::side + 1;
  const auto kernel = tile <= 2   ? factor_chunks<2>
                      : tile <= 4 ? factor_chunks<4>
                      : tile <= 6 ? factor_chunks<6>
                                  : factor_chunks<8>;
  kernel<<<unsigned(std::min(m.kinds, 1 << 20)), wide, 0, stream>>>(all, m);
  cuda::check_launch("factor_chunks");
}

} // namespace

BlockInverses::BlockInverses(const Layout &layout, const BlockOrder &order, const DeviceMatrix &matrix,
                             const Options &options)
    : l_(layout), A_(matrix), options_(options), shape_of_(static_cast<std::size_t>(layout.blocks())) {
  for (index_t t = 0; t < l_.blocks(); ++t)
    l_.at(order[t], [&](const Patch &p, const Block &block) {
      std::size_t s = 0;
      while (s < shapes_.size() && !std::equal(block.n, block.n + 3, shapes_[s].n)) ++s;
      if (s == shapes_.size())
        shapes_.push_back({{block.n[0], block.n[1], block.n[2]},
                           static_cast<int>(t),
                           row_at(p, block.first[0], block.first[1], block.first[2])});
      shape_of_[order[t]] = static_cast<int>(s);
    });
  shape_of_there_.assign(shape_of_);
}

void BlockInverses::reserve(index_t inverses, bool all_have_place) {
  const index_t factor = static_cast<index_t>(extent_.cells) * (extent_.width + 1);
  anew_ = all_have_place ? 0 : factor;
  cuda::at_least(inverse_, static_cast<std::size_t>(inverses));
  if (anew_ || method_ == Method::dense) cuda::at_least(scratch_, static_cast<std::size_t>(processors() * factor));
}

// Sine bases, and behind them the same in tiles of 8 x 4, filled up with zeros.
void BlockInverses::find_bases() {
  if (bases_.size() == 0) {
    for (const Shape &shape : shapes_)
      for (int n : shape.n) sine_.add(n);
    std::vector<double> values = sine_.values();
    for (const Shape &shape : shapes_)
      for (int n : shape.n) {
        if (!tiles_of_.insert({n, static_cast<index_t>(values.size())}).second || n > longest_tiled) continue;
        for (int j = 0; j < n; j += 8)
          for (int k = 0; k < n; k += 4)
            for (int lane = 0; lane < 32; ++lane) {
              const int row = j + lane / 4, column = k + lane % 4;
              values.push_back(row < n && column < n ? sine_[n][row * n + column] : 0);
            }
      }
    bases_.assign(values);
  }
  for (std::size_t k = 0; k < shapes_.size(); ++k)
    for (int d = 0; d < 3; ++d) {
      host_kinds_[k].basis[d] = static_cast<index_t>(sine_.at(shapes_[k].n[d]));
      host_kinds_[k].tiles[d] = tiles_of_.at(shapes_[k].n[d]);
    }
}

// Blocks of a shape are alike.
void BlockInverses::refresh_constant(cudaStream_t stream) {
  const Couplings &c = A_.common();
  const std::vector<DeviceKind> before = std::exchange(host_kinds_, {});
  extent_ = Extent();
  for (const Shape &shape : shapes_) {
    DeviceKind kind{-1, shape.first, 0, false, {}, {}};
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
  chunk_ = 0, banded_ = false;
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    DeviceKind &kind = host_kinds_[k];
    kind.chunked = method_ == Method::factored && Chunks::suit(kind.width);
    const index_t next = sum + kind.size(method_, shapes_[k].cells());
    const bool fits = options_.memory <= 0 || static_cast<double>(next) * sizeof(double) <= options_.memory;
    if (fits) kind.at = std::exchange(sum, next);
    all = all && fits;
    if (kind.chunked && fits)
      chunk_ = std::max(chunk_, kind.width);
    else
      banded_ = true;
  }
  if (method_ == Method::tensor) find_bases();
  reserve(sum, all);
  kinds_ = static_cast<index_t>(shapes_.size());
  if (!shapes_used_ || !(host_kinds_ == before)) copy(kinds_buffer_, host_kinds_, stream);
  shapes_used_ = true;
}

void BlockInverses::make_tensor(cudaStream_t stream) {
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    const int *n = shapes_[k].n;
    if (host_kinds_[k].at < 0) continue;
    cuda::for_rows("inverses in sine bases", shapes_[k].cells(),
                   TensorInverse{l_.neighbours,
                                 A_.common(),
                                 {n[0], n[1], n[2]},
                                 shapes_[k].row,
                                 inverse_.data() + host_kinds_[k].at,
                                 &made_.device()->bad},
                   stream);
  }
}

void BlockInverses::refresh_variable(cudaStream_t stream) {
  const int blocks = static_cast<int>(l_.blocks());
  const std::size_t n = static_cast<std::size_t>(blocks), apart = (n + 31) / 32 * 32; // arrays begin at whole lines
  cuda::at_least(hash_room_, 2 * n + n);
  cuda::at_least(int_room_, 9 * apart);
  cuda::at_least(index_room_, 2 * n);
  cuda::at_least(kind_of_, n);
  cuda::at_least(kinds_buffer_, n);
  std::uint64_t *const hash = hash_room_.data(), *const hash_sorted = hash + 2 * n; // the first halves in front
  index_t *const size = index_room_.data(), *const at = size + n;
  int *free = int_room_.data();
  const auto array = [&] { return std::exchange(free, free + apart); };
  int *const unsorted = array(), *const number = array(), *const width = array(), *const linked = array();
  int *const starts = array(), *const is_first = array(), *const kind_at = array();
  int *const run = array(), *const first_of_run = array();

  method_ = choose(options_.inverse, nullptr, l_.neighbours, Extent());
  made_.clear(stream);
  const DeviceInverses all = view();
  const auto find_hashes = [&](auto group, auto kernel) {
    constexpr int lanes = decltype(group)::size;
    kernel<<<unsigned(blocks - 1) / (threads / lanes) + 1, threads, 0, stream>>>(A_.blocks(), blocks, all, hash, width,
                                                                                 linked, &made_.device()->width);
    cuda::check_launch("hash_blocks");
  };
  if (l_.most_cells() <= 16)
    find_hashes(Group<8>(), hash_blocks<8>);
  else
    find_hashes(Group<32>(), hash_blocks<32>);
  cuda::for_rows("blocks", blocks, Count{unsorted}, stream);
  const cuda::Room room(cub_, stream);
  cuda::sort(room, hash, hash_sorted, unsorted, number, blocks, ~std::uint64_t(0));
  cuda::for_rows("first blocks", blocks, FindFirsts{hash, number, blocks, starts, is_first}, stream);
  cuda::add_up(room, starts, run, blocks);
  cuda::for_rows("first blocks", blocks, NameFirsts{number, starts, run, first_of_run}, stream);
  cuda::find_offsets(room, is_first, kind_at, blocks);
  cuda::check(cudaMemsetAsync(size, 0, n * sizeof(index_t), stream), "cudaMemsetAsync");
  cuda::for_rows("kinds", blocks,
                 MakeKinds{A_.blocks(), A_.place(), number, run, first_of_run, is_first, kind_at, width, linked, blocks,
                           method_, kind_of_.data(), kinds_buffer_.data(), size, made_.device()},
                 stream);
  cuda::find_offsets(room, size, at, blocks);
  cuda::for_rows("places", blocks, PlaceKinds{kinds_buffer_.data(), size, at, options_.memory, made_.device()}, stream);
  const MadeInverses made = made_.read(stream);
  kinds_ = made.kinds;
  chunk_ = made.chunk, banded_ = made.banded;
  extent_ = Extent();
  for (const Shape &shape : shapes_) extent_.add(shape.n, made.width);
  reserve(made.size, made.without == 0);
  shapes_used_ = false;
}

void BlockInverses::make(cudaStream_t stream) {
  Making m{A_.blocks(), int(kinds_), method_, inverse_.data(), scratch_.data(), 0, 0, &made_.device()->bad};
  const DeviceInverses all = view();
  if (chunk_) make_chunks(all, m, chunk_, stream);
  if (!banded_) return;
  const bool in_scratch = anew_ || method_ == Method::dense;
  const bool large = in_scratch || extent_.width > 16;
  const index_t window = DeviceBand{0, extent_.width}.window();
  const int most = cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / int(sizeof(double));
  m.factor = static_cast<index_t>(extent_.cells) * (extent_.width + 1);
  const auto launch = [&](auto kernel, int groups, int size) {
    m.window = groups * window <= most ? int(window) : 0;
    const int shared = groups * m.window * int(sizeof(double));
    cuda::allow_shared(kernel, shared);
    const int needed = int((kinds_ + groups - 1) / groups), limit = in_scratch ? processors() : 1 << 20;
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
  if (method_ == Method::tensor) make_tensor(stream);
  if (method_ != Method::tensor || anew_) make(stream);
  const unsigned long long bad = made_.read(stream).bad;
  return bad ? static_cast<index_t>(~0ull - bad) : no_row;
}

DeviceInverses BlockInverses::view() const {
  return {kinds_buffer_.data(), shapes_used_ ? shape_of_there_.data() : kind_of_.data(),
          inverse_.data(),      bases_.data(),
          l_.neighbours,        A_.values(),
          A_.links(),           int(l_.most_cells())};
}

double BlockInverses::bytes() const {
  return static_cast<double>(shape_of_there_.bytes() + bases_.bytes() + inverse_.bytes() + scratch_.bytes() +
                             kinds_buffer_.bytes() + kind_of_.bytes() + hash_room_.bytes() + int_room_.bytes() +
                             index_room_.bytes() + cub_.bytes());
}

} // namespace petscrrb::blockrelax
