// Reads a matrix row by row: to find out about it, and to store what is not the same everywhere.
#include "pc/blockrelax/cuda/matrix.cuh"

#include "exec/cuda/sort.hpp"
#include "pc/blockrelax/cuda/links.cuh"

namespace petscrrb::blockrelax {

DeviceMatrix::DeviceMatrix(const Layout &layout, const BlockOrder &order, const std::vector<index_t> &bounds)
    : l_(layout), bounds_(bounds), patch_(l_.patches), first_block_(l_.first_block),
      identity_(static_cast<std::size_t>(l_.rows)), varying_(static_cast<std::size_t>(l_.blocks())),
      linked_at_(bounds.size() + 1), count_(static_cast<std::size_t>(l_.rows)), bound_(bounds) {
  for (const Patch &p : l_.patches) slack_ = std::max(slack_, offset(p.n, Step{1, 1, l_.neighbours.halo[2]}));
  find_pairs();
  set_up_blocks(order);
}

// Of the middle of the largest patch, and in directions in which it has no neighbour of the first cell that has.
void DeviceMatrix::find_pairs() {
  std::vector<PetscInt> pair(2 * most_neighbours, -1);
  const auto add = [&](const Patch &p, const PetscInt(&at)[3], int m) {
    const Step s = l_.neighbours.step[m];
    if (pair[2 * m] >= 0 || at[0] >= p.n[0] || at[1] >= p.n[1] || !within(p, at, s)) return;
    pair[2 * m] = row_at(p, at[0], at[1], at[2]);
    pair[2 * m + 1] = pair[2 * m] + offset(p.n, s);
  };
  const auto cells = [](const Patch &p) { return p.n[0] * p.n[1] * p.n[2]; };
  const auto largest = std::max_element(l_.patches.begin(), l_.patches.end(),
                                        [&](const Patch &p, const Patch &q) { return cells(p) < cells(q); });
  if (largest != l_.patches.end()) {
    const PetscInt middle[3] = {largest->n[0] / 2, largest->n[1] / 2, largest->n[2] / 2};
    middle_ = row_at(*largest, middle[0], middle[1], middle[2]);
    for (int m = 0; m < l_.neighbours.count; ++m) add(*largest, middle, m);
  }
  for (const Patch &p : l_.patches)
    for (int m = 0; m < l_.neighbours.count; ++m) {
      const Step s = l_.neighbours.step[m];
      add(p, {s.x < 0 ? 1 : 0, s.y < 0 ? 1 : 0, 0}, m);
    }
  pair_.assign(pair);
}

void DeviceMatrix::set_up_blocks(const BlockOrder &order) {
  std::vector<DeviceBlock> blocks(static_cast<std::size_t>(l_.blocks()));
  std::vector<int> place(blocks.size());
  for (index_t t = 0; t < l_.blocks(); ++t) {
    const index_t b = order[t];
    place[b] = static_cast<int>(t);
    blocks[t] = device_block(l_, b);
  }
  blocks_.assign(blocks);
  place_.assign(place);
}

template <int steps> DeviceRows<steps> DeviceMatrix::rows_of(const Csr &A) const {
  return {{A, l_.neighbours, {l_.periodic[0], l_.periodic[1], l_.periodic[2]}, identity_.data()}, patches()};
}

template <int steps> void DeviceMatrix::survey(const Csr &A, bool store, cudaStream_t stream) {
  Survey<steps> f{
      rows_of<steps>(A), read_common_.device(), store ? diagonal_.data() : nullptr, {},
      varying_.data(),   count_.data(),         &totals_.device()->cells,           &totals_.device()->links};
  for (int m = 0; store && m < steps; ++m) f.ahead[m] = ahead_[m].data() + slack_;
  found_.clear(stream);
  totals_.clear(stream);
  cuda::check(cudaMemsetAsync(varying_.data(), 0, varying_.bytes(), stream), "cudaMemsetAsync");
  at_rows(l_.rows, f, found_, stream);
}
void DeviceMatrix::survey(const Csr &A, bool store, cudaStream_t stream) {
  switch (l_.points) {
  case 5: return survey<2>(A, store, stream);
  case 7: return survey<3>(A, store, stream);
  case 9: return survey<4>(A, store, stream);
  default: return survey<13>(A, store, stream);
  }
}

RowFacts DeviceMatrix::read(const Csr &A, cudaStream_t stream) {
  if (l_.rows == 0) return {};
  cuda::for_rows("identity rows", int(l_.rows), FindIdentity{A, identity_.data()}, stream);
  cuda::for_rows("common couplings", most_neighbours + 1, ReadCommon{A, middle_, pair_.data(), read_common_.device()},
                 stream);
  const bool room = diagonal_.size() > 0;
  survey(A, room, stream); // stores at once what was not constant before
  RowFacts all = petscrrb::read(found_, stream);
  constant_ = !all.varies;
  if (all.result() != ReadResult::ok) return all;
  common_ = read_common_.read(stream);
  if (!constant_ && !room) {
    diagonal_.resize(static_cast<std::size_t>(l_.rows));
    for (int m = 0; m < l_.neighbours.count; ++m) ahead_[m].resize(static_cast<std::size_t>(l_.rows + slack_));
    survey(A, true, stream);
  }
  const Totals t = totals_.read(stream);
  make_links(A, static_cast<int>(t.cells), static_cast<int>(t.links), stream);
  return all;
}

void DeviceMatrix::make_links(const Csr &A, int cells, int links, cudaStream_t stream) {
  const int blocks = static_cast<int>(l_.blocks()), bounds = static_cast<int>(bounds_.size());
  if (cells == 0 && linked_ > 0)
    cuda::for_rows("blocks with links", blocks, MarkBlocks{nullptr, nullptr, blocks_.data()}, stream);
  linked_ = cells, link_count_ = links;
  if (cells == 0) return;
  for (auto *b : {&row_unsorted_, &key_, &key_sorted_}) cuda::at_least(*b, std::size_t(cells));
  cuda::at_least(row_, std::size_t(cells));
  cuda::at_least(sum_at_, std::size_t(cells));
  for (auto *b : {&counts_, &first_}) cuda::at_least(*b, std::size_t(cells) + 1);
  for (auto *b : {&has_, &index_, &first_cell_}) cuda::at_least(*b, std::size_t(blocks) + 1);
  cuda::at_least(found_at_, std::size_t(bounds) + 1);
  cuda::at_least(link_, std::size_t(links));
  cuda::at_least(ghost_, std::size_t(links));

  const cuda::Room room(cub_, stream);
  int *const selected = found_at_.data(); // how many, known already
  cuda::find_places(room, count_.data(), row_unsorted_.data(), selected, int(l_.rows));
  cuda::for_rows("blocks of rows", cells, FindKeys{patches(), row_unsorted_.data(), place_.data(), key_.data()},
                 stream);
  cuda::sort(room, key_.data(), key_sorted_.data(), row_unsorted_.data(), row_.data(), cells,
             std::numeric_limits<int>::max());
  cuda::check(cudaMemsetAsync(has_.data(), 0, has_.bytes(), stream), "cudaMemsetAsync");
  cuda::for_rows("numbers of links", cells + 1,
                 CountLinks{row_.data(), count_.data(), key_sorted_.data(), counts_.data(), has_.data(), cells},
                 stream);
  cuda::find_offsets(room, counts_.data(), first_.data(), cells + 1);
  cuda::find_offsets(room, has_.data(), index_.data(), blocks + 1);
  cuda::for_rows("blocks with links", blocks, MarkBlocks{has_.data(), index_.data(), blocks_.data()}, stream);
  cuda::for_rows("cells with links", cells + 1,
                 FindCells{patches(), row_.data(), key_sorted_.data(), index_.data(), cells, int(l_.most_cells()),
                           sum_at_.data(), first_cell_.data()},
                 stream);
  cuda::for_rows("ranges of links", bounds + 1,
                 FindRanges{bound_.data(), bounds, cells, blocks, key_sorted_.data(), index_.data(), found_at_.data()},
                 stream);
  switch (l_.points) {
  case 5: fill_links<2>(A, stream); break;
  case 7: fill_links<3>(A, stream); break;
  case 9: fill_links<4>(A, stream); break;
  default: fill_links<13>(A, stream);
  }
  linked_at_ = cuda::to_host(found_at_.data(), std::size_t(bounds) + 1, stream);
  cuda::at_least(sum_, std::size_t(linked_at_.back()) * l_.most_cells());
  cuda::check(cudaMemsetAsync(sum_.data(), 0, sum_.bytes(), stream), "cudaMemsetAsync");
}

template <int steps> void DeviceMatrix::fill_links(const Csr &A, cudaStream_t stream) {
  cuda::for_rows("links", linked_, FillLinks<steps>{rows_of<steps>(A), row_.data(), first_.data(), link_.data()},
                 stream);
}

DeviceValues DeviceMatrix::values() const {
  DeviceValues v{};
  v.constant = constant_;
  v.diagonal = common_.diagonal;
  v.diagonals = diagonal_.data();
  for (int m = 0; m < l_.neighbours.count; ++m) {
    v.ahead[m] = common_.ahead[m];
    if (!constant_) v.aheads[m] = ahead_[m].data() + slack_;
  }
  return v;
}

DeviceValues DeviceMatrix::common_values() const {
  DeviceValues v = values();
  v.constant = true;
  return v;
}

void DeviceMatrix::keep_ghosts(const double *x, cudaStream_t stream) {
  if (l_.patches.size() == 1) return;
  cuda::for_rows("ghosts", link_count_, KeepGhosts{link_.data(), x, ghost_.data()}, stream);
}

void DeviceMatrix::sum_links(int range, const double *x, bool kept, cudaStream_t stream) {
  if (!linked_) return;
  const int first = linked_at_[range];
  cuda::for_rows("sums of links", linked_at_[range + 1] - first,
                 SumLinks{links(), first, x, kept ? ghost_.data() : nullptr, sum_.data()}, stream);
}

double DeviceMatrix::bytes() const {
  std::size_t sum = patch_.bytes() + first_block_.bytes() + blocks_.bytes() + place_.bytes() + identity_.bytes() +
                    varying_.bytes() + diagonal_.bytes() + count_.bytes() + row_.bytes() + bound_.bytes() +
                    sum_at_.bytes() + link_.bytes() + ghost_.bytes() + sum_.bytes() + cub_.bytes();
  for (const auto *b :
       {&row_unsorted_, &key_, &key_sorted_, &counts_, &first_, &has_, &index_, &first_cell_, &found_at_})
    sum += b->bytes();
  for (const auto &a : ahead_) sum += a.bytes();
  return static_cast<double>(sum);
}

} // namespace petscrrb::blockrelax
