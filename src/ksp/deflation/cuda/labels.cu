// Labels by boxes of the grid and by connected phases: union-find over the rows, in which the smallest row of a phase is
// its root in the end, whatever the order of the threads. And every coupling is held against the one across the diagonal.
#include "ksp/deflation/cuda/labels.hpp"

#include "exec/cuda/rows.cuh"
#include "exec/cuda/sort.hpp"
#include "grid/cuda/csr.hpp"
#include "ksp/deflation/core/az_row.hpp"

namespace petscrrb::deflation {

namespace {

// Whether a coupling keeps two rows together.
struct Together {
  const double *phi, *diagonal; // one of them
  double jump;
  BoxOf<int> box;

  __device__ bool operator()(int i, int j) const {
    if (box(i) != box(j)) return false;
    return phi ? same_phase(phi[i], phi[j]) : same_phase(diagonal[i], diagonal[j], jump);
  }
};

struct Mark {
  Csr A;
  BoxOf<int> box;
  int *label, *identity_rows;

  __device__ void operator()(int i) const {
    const bool identity = is_identity(A, i);
    label[i] = identity ? -1 : box(i);
    if (identity) atomicAdd(identity_rows, 1);
  }
};

struct Diagonal {
  Csr A;
  double *diagonal;

  __device__ void operator()(int i) const { diagonal[i] = fabs(entry(A, i, i)); }
};

// f(j) for each row j that row i is kept together with
template <class F>
__device__ void each_neighbour(const Csr &A, const int *label, const Together &together, int i, const F &f) {
  if (label[i] < 0) return;
  for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
    const int j = int(A.ja[e]);
    if (j != i && A.a[e] != 0.0 && label[j] >= 0 && together(i, j)) f(j);
  }
}

// Every row hangs on its smallest neighbour: most rows need no more.
struct Hang {
  Csr A;
  const int *label;
  Together together;
  int *parent;

  __device__ void operator()(int i) const {
    int least = i;
    each_neighbour(A, label, together, i, [&](int j) { least = min(least, j); });
    parent[i] = least;
  }
};

// A parent is never larger than its child, and only a root's changes in a way that matters: so races are harmless.
__device__ int now(const int *parent, int i) { return *const_cast<const volatile int *>(parent + i); }

// The root of i at some moment. The way there is halved.
__device__ int root_of(int *parent, int i) {
  int above = now(parent, i);
  while (above != i) {
    const int next = now(parent, above);
    if (next != above) *const_cast<volatile int *>(parent + i) = next;
    i = above, above = next;
  }
  return i;
}

struct Unite {
  Csr A;
  const int *label;
  Together together;
  int *parent;

  __device__ void operator()(int i) const {
    each_neighbour(A, label, together, i, [&](int j) {
      int a = i, b = j;
      for (;;) {
        a = root_of(parent, a), b = root_of(parent, b);
        if (a == b) return;
        const int high = max(a, b), low = min(a, b);
        if (atomicCAS(parent + high, high, low) == high) return;
      }
    });
  }
};

// Without shortening the ways of others: what one writes late would not be a root.
struct Compress {
  int *parent;

  __device__ void operator()(int i) const {
    int root = i, above;
    while ((above = now(parent, root)) != root) root = above;
    *const_cast<volatile int *>(parent + i) = root;
  }
};

struct MarkRoots {
  const int *label, *root;
  int *is_root, *roots;

  __device__ void operator()(int i) const {
    is_root[i] = label[i] >= 0 && root[i] == i;
    if (is_root[i]) atomicAdd(roots, 1);
  }
};

struct Number {
  const int *root, *rank;
  int *label;

  __device__ void operator()(int i) const {
    if (label[i] >= 0) label[i] = rank[root[i]];
  }
};

// With as many roots as there are labels, phases are the same if none has two labels.
struct Compare {
  Csr A;
  const int *label, *root; // root null: boxes alone
  Found *found;

  __device__ void operator()(int i) const {
    const bool in_none = label[i] < 0;
    if (is_identity(A, i) != in_none) found->other_labels = 1;
    if (!root || in_none) return;
    if (label[root[i]] != label[i]) found->other_labels = 1;
    if (root[i] == i) atomicAdd(&found->roots, 1);
  }
};

__global__ void __launch_bounds__(cuda::row_threads) check_rows(Csr A, const int *label, Found *found) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x), from_last = int(A.n) - i;
  double check = 0.0;
  bool asymmetric = false;
  if (i < A.n) {
    for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) check += A.a[e] * 0.0; // 0 as long as all are finite
    asymmetric = asymmetry_of_row(A, label, i) > symmetric;
  }
  cuda::raise(&found->not_finite, check != 0.0 ? from_last : 0);
  cuda::raise(&found->asymmetric, asymmetric ? from_last : 0);
}

BoxOf<int> box_of(const cuda::Buffer<int> *piece, const Space &s) {
  const int *count = s.boxes.count;
  return {{piece[0].data(), piece[1].data(), piece[2].data()},
          {int(s.grid.n[0]), int(s.grid.n[1])},
          {count[0], count[1]},
          s.boxes.none()};
}

// On the host, in a copy of the rows.
std::string find_on_host(Labels &labels, const Csr &A, const Space &space, const double *phi, cudaStream_t stream) {
  Csr all = A; // with ghosts
  all.n += space.ranks->ghosts();
  std::unique_ptr<cuda::HostCopy> copy;
  std::vector<double> values;
  space.ranks->on_all([&] {
    copy = std::make_unique<cuda::HostCopy>(all, stream);
    if (phi) values = cuda::to_host(phi, std::size_t(A.n), stream);
  });
  Csr own = copy->csr();
  own.n = A.n;
  return labels.find(own, space, !phi || values.empty() ? phi : values.data()); // without rows, not read
}

} // namespace

void DeviceLabels::find_phases(const Csr &A, const double *phi, cudaStream_t stream) const {
  const int n = int(A.n), *label = of_row_.data();
  int *parent = root_.data();
  const Together together{phi, diagonal_.data(), space_.jump, box_of(piece_, space_)};
  if (!phi) cuda::for_rows("diagonals", n, Diagonal{A, diagonal_.data()}, stream);
  cuda::for_rows("phases", n, Hang{A, label, together, parent}, stream);
  cuda::for_rows("phases", n, Unite{A, label, together, parent}, stream);
  cuda::for_rows("phases", n, Compress{parent}, stream);
}

std::string DeviceLabels::setup(const Csr &A, const Space &space, Found *found, cuda::Scratch &scratch) {
  space_ = space;
  space_.phi = nullptr;
  on_host_ = nullptr;
  if (!space.ranks->alone()) return setup_on_host(A, space, scratch.stream());
  setup_here(A, space, found, scratch);
  return "";
}

void DeviceLabels::setup_here(const Csr &A, const Space &space, Found *found, cuda::Scratch &scratch) {
  const cuda::Scratch::Frame frame(scratch);
  const cudaStream_t stream = scratch.stream();
  const int n = int(A.n);
  phases_ = space.phases;
  for (int x = 0; x < 3; ++x) piece_[x].assign(space.boxes.piece[x]);
  of_row_.resize(n);
  cuda::for_rows("labels", n, Mark{A, box_of(piece_, space), of_row_.data(), &found->identity_rows}, stream);
  root_.resize(phases_ ? n : 0);
  diagonal_.resize(phases_ && !space.phi ? n : 0);
  count_ = space.boxes.none() ? 1 : space.boxes.size();
  if (!phases_ || !n) return;
  int *const is_root = scratch.take<int>(n), *const rank = scratch.take<int>(n);
  find_phases(A, space.phi, stream);
  cuda::for_rows("roots", n, MarkRoots{of_row_.data(), root_.data(), is_root, &found->roots}, stream);
  cuda::find_offsets(scratch, is_root, rank, n);
  cuda::for_rows("labels", n, Number{root_.data(), rank, of_row_.data()}, stream);
}

std::string DeviceLabels::setup_on_host(const Csr &A, const Space &space, cudaStream_t stream) {
  space.ranks->on_all([&] { on_host_ = std::make_unique<Labels>(); });
  const std::string why = find_on_host(*on_host_, A, space, space.phi, stream);
  phases_ = false;
  space.ranks->on_all([&] {
    if (why.empty()) of_row_.assign(on_host_->of_row());
  });
  count_ = on_host_->count(), identity_rows_ = on_host_->identity_rows();
  if (!space.phases) on_host_ = nullptr;
  return why;
}

std::string DeviceLabels::find_again(const Csr &A, const double *phi, bool *others, cudaStream_t stream) {
  *others = false;
  if (!on_host_) return "";
  const std::string why = find_on_host(again_, A, space_, phi, stream);
  *others = why.empty() && space_.ranks->any(!again_.same_as(*on_host_));
  return why;
}

void DeviceLabels::check(const Csr &A, const double *phi, Found *found, cudaStream_t stream) const {
  if (phases_) find_phases(A, diagonal_.size() ? nullptr : phi, stream);
  cuda::for_rows("labels", int(A.n), Compare{A, of_row_.data(), phases_ ? root_.data() : nullptr, found}, stream);
}

void check_values(const Csr &A, const int *label, Found *found, cudaStream_t stream) {
  if (A.n == 0) return;
  check_rows<<<unsigned(A.n - 1) / cuda::row_threads + 1, cuda::row_threads, 0, stream>>>(A, label, found);
  cuda::check_launch("values of the matrix");
}

std::string why_refused(PetscInt rows, const Found &found, const Ranks &ranks) {
  const bool finite = !ranks.any(found.not_finite);
  std::string why;
  if (found.not_finite)
    why = "row " + std::to_string(ranks.number(rows - found.not_finite)) + " holds an entry that is not finite";
  else if (finite && found.asymmetric)
    why = not_symmetric(ranks.number(rows - found.asymmetric));
  return ranks.first(why);
}

} // namespace petscrrb::deflation
