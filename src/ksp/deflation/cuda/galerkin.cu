// An entry of E is a sum over entries of A Z. Which ones is found once, by sorting.
#include "ksp/deflation/cuda/galerkin.hpp"

#include "dense/cuda/substructured.hpp"
#include "exec/cuda/rows.cuh"
#include "exec/cuda/sort.hpp"

#include <numeric>
#include <stdexcept>

namespace petscrrb::deflation {

namespace {

// The sum that each value of A Z goes to: entries, and after them the rows' sums.
struct Keys {
  AzView az;
  const int *label;
  int count;
  SumKey *key;
  int *item;

  __device__ void operator()(int b) const {
    const int s = label[az.row[b]];
    const auto put = [&](int at, int t) { key[at] = SumKey(s) * SumKey(count + 1) + SumKey(t), item[at] = at; };
    for (int e = az.first[b]; e < az.first[b + 1]; ++e) put(e, az.subdomain[e]);
    put(az.entries + b, count);
  }
};

struct Values {
  const double *value;
  const int *item;

  __device__ double first(int k) const { return value[item[k]]; }
  __device__ double second(int) const { return 0.0; }
};

// E, symmetric to the bit.
struct Entries {
  const int *ia, *ja, *from, *across, *excess_from, *empty;
  const double *sum;
  double *a, *excess;

  __device__ double sum_of(int place) const { return place < 0 ? 0.0 : sum[place]; }
  __device__ void operator()(int s) const {
    excess[s] = empty[s] ? 1.0 : sum_of(excess_from[s]);
    for (int p = ia[s]; p < ia[s + 1]; ++p)
      a[p] = ja[p] == s ? (empty[s] ? 1.0 : sum_of(from[p])) : 0.5 * (sum_of(from[p]) + sum_of(from[across[p]]));
  }
};

} // namespace

// item_; the key of each sum in order, and how many items it has.
std::vector<SumKey> DeviceGalerkin::sort_items(const AzView &az, const int *label, std::vector<int> &lengths,
                                               cuda::Scratch &scratch) {
  const cuda::Scratch::Frame frame(scratch);
  const cudaStream_t stream = scratch.stream();
  const int items = az.entries + az.rows;
  item_.resize(items);
  if (!items) return {};
  SumKey *const key = scratch.take<SumKey>(items), *const sorted = scratch.take<SumKey>(items);
  int *const unsorted = scratch.take<int>(items), *const length = scratch.take<int>(items),
             *const runs = scratch.take<int>(1);
  cuda::for_rows("entries of E", az.rows, Keys{az, label, n_, key, unsorted}, stream);
  cuda::sort(scratch, key, sorted, unsorted, item_.data(), items, key_of(n_, 0, n_));
  cuda::find_runs(scratch, sorted, key, length, runs, items);
  const int sums = cuda::to_host(runs, 1, stream)[0];
  lengths = cuda::to_host(length, sums, stream);
  return cuda::to_host(key, sums, stream);
}

CoarsePattern DeviceGalerkin::setup(const AzView &az, const int *label, const std::vector<int> &empty,
                                    const Ranks &ranks, cuda::Scratch &scratch) {
  n_ = int(empty.size()), ranks_ = &ranks;
  std::vector<SumKey> mine;
  std::vector<int> lengths;
  ranks.on_all([&] { mine = sort_items(az, label, lengths, scratch); });
  const std::vector<SumKey> keys = ranks.unite(mine);
  std::vector<int> start(1, 0);
  for (std::size_t k = 0, m = 0; k < keys.size(); ++k) { // a sum that only others have items of is empty here
    const bool here = m < mine.size() && mine[m] == keys[k];
    start.push_back(start.back() + (here ? lengths[m] : 0));
    m += here;
  }
  CoarsePattern pattern(n_, keys);
  ranks.on_all([&] {
    sums_.setup(Chunks(start, {}), int(keys.size()));
    over_ranks_.setup(ranks, keys.size());
    ia_.assign(pattern.ia), ja_.assign(pattern.ja);
    from_.assign(pattern.from), across_.assign(pattern.across), excess_from_.assign(pattern.excess_from);
    empty_.assign(empty);
    sum_.resize(keys.size());
    a_.resize(pattern.ja.size());
    excess_.resize(n_);
  });
  return pattern;
}

void DeviceGalerkin::refresh(const AzView &az, cudaStream_t stream) const {
  ranks_->on_all([&] {
    sums_.sum("entries of E", Values{az.value, item_.data()}, sum_.data(), stream);
    over_ranks_.read(sum_.data(), stream);
  });
  over_ranks_.sum();
  ranks_->on_all([&] {
    over_ranks_.write(sum_.data(), stream);
    cuda::for_rows("E", n_,
                   Entries{ia_.data(), ja_.data(), from_.data(), across_.data(), excess_from_.data(), empty_.data(),
                           sum_.data(), a_.data(), excess_.data()},
                   stream);
  });
}

// Null: it is not for this pattern. Unknowns that fit into one block may be coupled in any way.
static std::unique_ptr<dense::DeviceInverse> make_substructured(const CoarsePattern &e, const std::vector<int> &box,
                                                                const int count[3]) {
  BoxGrid grid;
  const int n = e.size();
  if (n > dense::largest_n) return nullptr;
  const bool boxes = !box.empty() && fits(e, box, count, grid);
  if (!boxes && n > dense::largest_interior) return nullptr;
  if (!boxes) {
    grid = BoxGrid{{n, 1}, {false, false}, std::vector<int>(n), std::vector<int>(n, 0)};
    std::iota(grid.x.begin(), grid.x.end(), 0);
  }
  const dense::GridShape shape{grid.n[0], grid.n[1], grid.periodic[0], grid.periodic[1], 1};
  try {
    return std::make_unique<dense::SubstructuredInverse>(dense::Substructure(e.ia, e.ja, grid.x, grid.y, shape));
  } catch (const std::invalid_argument &) { // rows too long for its kernels, or too many subdomains in a box
    return nullptr;
  }
}

std::unique_ptr<dense::DeviceInverse> make_inverse(const DeviceGalerkin &galerkin, const CoarsePattern &e,
                                                   const std::vector<int> &box, const int count[3], Inverse type,
                                                   std::shared_ptr<dense::DenseLibrary> &library, cudaStream_t stream) {
  if (type == Inverse::explicit_inverse)
    if (auto inverse = make_substructured(e, box, count)) return inverse;
  if (!library) library = std::make_shared<dense::DenseLibrary>();
  return std::make_unique<dense::DenseInverse>(galerkin.view(), type, library, stream);
}

} // namespace petscrrb::deflation
