// Lays out the memory of the substructured inverse, and puts its kernels in order.
#include "dense/cuda/substructured.hpp"

namespace petscrrb::dense {

namespace {

// Lists of integers one behind the other, each at a multiple of 16 bytes.
class Image {
public:
  template <class T> std::size_t add(const std::vector<T> &list) {
    const std::size_t at = words_.size(), words = list.size() * sizeof(T) / sizeof(int);
    const int *from = reinterpret_cast<const int *>(list.data());
    words_.insert(words_.end(), from, from + words);
    words_.resize((words_.size() + 3) / 4 * 4);
    return at;
  }
  std::size_t reserve(std::size_t words) { return add(std::vector<int>(words, 0)); }
  const std::vector<int> &words() const { return words_; }

private:
  std::vector<int> words_;
};

} // namespace

SubstructuredInverse::SubstructuredInverse(int n, const int *ia, const int *ja, const int *x, const int *y,
                                           const GridShape &shape, Launch launch) {
  const Plan plan(n, ia, ja, x, y, shape);
  Schedule schedule(plan);
  Image image;
  const std::size_t at_ia = image.add(std::vector<int>(ia, ia + n + 1)),
                    at_ja = image.add(std::vector<int>(ja, ja + ia[n])), at_blocks = image.add(plan.blocks),
                    at_nodes = image.add(plan.nodes), at_entries = image.add(plan.entries),
                    at_separator = image.add(plan.separator), at_row_start = image.add(plan.row_start),
                    at_row_entries = image.add(plan.row_entries), at_touching_block = image.add(plan.touching_block),
                    at_touching_place = image.add(plan.touching_place),
                    at_block_of_condensed = image.add(plan.block_of_condensed),
                    at_phase_start = image.add(schedule.phase_start), at_tasks = image.add(schedule.tasks),
                    at_pairs = image.add(schedule.pairs), at_handled = image.reserve(n);
  integers_.assign(image.words());
  int *words = integers_.data();
  view_.n = n, view_.blocks = int(plan.blocks.size());
  view_.pitch = plan.pitch(), view_.touching = plan.touching, view_.condensed_size = plan.condensed;
  view_.ia = words + at_ia, view_.ja = words + at_ja, view_.nodes = words + at_nodes;
  view_.block = reinterpret_cast<const Block *>(words + at_blocks);
  view_.entries = reinterpret_cast<const Entry *>(words + at_entries);
  view_.separator = words + at_separator, view_.row_start = words + at_row_start;
  view_.row_entries = reinterpret_cast<const Entry *>(words + at_row_entries);
  view_.touching_block = words + at_touching_block, view_.touching_place = words + at_touching_place;
  view_.block_of_condensed = words + at_block_of_condensed, view_.handled_by = words + at_handled;
  view_.phase_start = words + at_phase_start;
  view_.tasks = reinterpret_cast<const Task *>(words + at_tasks);
  view_.pairs = reinterpret_cast<const Pair *>(words + at_pairs);
  phase_start_ = std::move(schedule.phase_start);

  const std::size_t pitch = plan.pitch(), tile = panel * panel;
  const auto even = [](std::size_t i) { return (i + 1) / 2 * 2; };
  const std::size_t sizes[] = {even(plan.factors),
                               even(plan.transposed),
                               even(plan.schurs),
                               pitch * pitch,
                               2 * schedule.slots * tile,
                               2 * schedule.pivots * tile,
                               even(plan.condensed),
                               pitch,
                               even(n),
                               even(n),
                               even(n),
                               even(n),
                               even(n),
                               2 * std::size_t(n)};
  double **const places[] = {&view_.factors, &view_.transposed, &view_.schurs,   &view_.inverse, &view_.panels,
                             &view_.pivots,  &view_.condensed,  &view_.solution, &view_.shift,   &view_.right_hand_side,
                             &view_.u,       &view_.v,          &view_.scratch,  &view_.dots};
  std::size_t total = 0;
  for (std::size_t size : sizes) total += size;
  doubles_.resize(total);
  double *p = doubles_.data();
  for (std::size_t i = 0; i < std::size(sizes); p += sizes[i++]) *places[i] = p;
  components_.resize(n);
  state_.resize(1);
  view_.component = components_.data();
  view_.state = state_.data();

  choose_launches(launch);
}

void SubstructuredInverse::choose_launches(Launch launch) {
  int device = 0, able = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, device), "cudaDeviceGetAttribute");
  resident_ = able && launch == Launch::automatic ? resident_blocks(device) : 0;
  view_.overlap = may_overlap();
}

void SubstructuredInverse::refresh(const double *a, const double *excess, cudaStream_t stream) {
  find_components(view_, a, excess, stream);
  if (view_.n) {
    eliminate_blocks(view_, a, stream);
    invert_separators(view_, phase_start_, resident_, stream);
    find_null_directions(view_, stream);
  }
  cuda::check(cudaMemcpyAsync(host_state_.data(), state_.data(), sizeof(State), cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
}

void SubstructuredInverse::apply(const double *r, double *z, cudaStream_t stream) const {
  if (view_.n) dense::apply(view_, r, z, stream);
}

} // namespace petscrrb::dense
