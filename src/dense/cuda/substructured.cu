// Lays out the memory of the substructured inverse, and puts its kernels in order.
#include "dense/cuda/substructured.hpp"

#include <functional>

namespace petscrrb::dense {

namespace {

// Lists one behind the other in device memory, each at a multiple of 16 bytes, and the pointers to them.
class Image {
public:
  template <class T, class Pointer> void add(const std::vector<T> &list, Pointer &to) {
    const std::size_t at = words_.size(), words = list.size() * sizeof(T) / sizeof(int);
    const int *from = reinterpret_cast<const int *>(list.data());
    words_.insert(words_.end(), from, from + words);
    words_.resize((words_.size() + 3) / 4 * 4);
    set_.push_back([at, &to](int *memory) { to = reinterpret_cast<Pointer>(memory + at); });
  }
  void put(cuda::Buffer<int> &memory) const {
    memory.assign(words_);
    for (const auto &set : set_) set(memory.data());
  }

private:
  std::vector<int> words_;
  std::vector<std::function<void(int *)>> set_;
};

} // namespace

SubstructuredInverse::SubstructuredInverse(const Substructure &of, Launch launch) {
  const Plan &plan = of.plan;
  const Schedule &schedule = of.schedule;
  const int n = plan.unknowns();
  Image image;
  image.add(plan.ia, view_.ia);
  image.add(plan.ja, view_.ja);
  image.add(plan.blocks, view_.block);
  image.add(plan.nodes, view_.nodes);
  image.add(plan.entries, view_.entries);
  image.add(plan.separator, view_.separator);
  image.add(plan.row_start, view_.row_start);
  image.add(plan.row_entries, view_.row_entries);
  image.add(plan.touching_block, view_.touching_block);
  image.add(plan.touching_place, view_.touching_place);
  image.add(plan.block_of_condensed, view_.block_of_condensed);
  image.add(schedule.phase_start, view_.phase_start);
  image.add(schedule.tasks, view_.tasks);
  image.add(schedule.pairs, view_.pairs);
  image.add(std::vector<int>(n), view_.handled_by);
  image.put(integers_);
  view_.n = n, view_.blocks = int(plan.blocks.size());
  view_.pitch = plan.pitch(), view_.touching = plan.touching, view_.condensed_size = plan.condensed;
  phase_start_ = schedule.phase_start;

  const std::size_t pitch = plan.pitch(), tile = panel * panel;
  const auto even = [](std::size_t i) { return (i + 1) / 2 * 2; };
  const struct {
    double *&values;
    std::size_t size;
  } parts[] = {{view_.factors, even(plan.factors)},
               {view_.transposed, even(plan.transposed)},
               {view_.schurs, even(plan.schurs)},
               {view_.inverse, pitch * pitch},
               {view_.panels, 2 * schedule.slots * tile},
               {view_.pivots, 2 * schedule.pivots * tile},
               {view_.condensed, even(plan.condensed)},
               {view_.solution, pitch},
               {view_.shift, even(n)},
               {view_.right_hand_side, even(n)},
               {view_.u, even(n)},
               {view_.v, even(n)},
               {view_.scratch, even(n)},
               {view_.dots, 2 * std::size_t(n)}};
  std::size_t total = 0;
  for (const auto &part : parts) total += part.size;
  doubles_.resize(total);
  double *p = doubles_.data();
  for (const auto &part : parts) part.values = p, p += part.size;
  components_.resize(n);
  state_.resize(1);
  view_.component = components_.data();
  view_.state = state_.data();
  view_.overlap = may_overlap();
  const bool cooperative = launch == Launch::automatic && cuda::attribute(cudaDevAttrCooperativeLaunch);
  resident_ = cooperative ? resident_blocks() : 0;
}

void SubstructuredInverse::refresh(const double *a, const double *excess, double null_inverse, cudaStream_t stream) {
  find_components(view_, a, excess, null_inverse, stream);
  if (view_.n) {
    eliminate_blocks(view_, a, stream);
    invert_separators(view_, phase_start_, resident_, stream);
    find_null_directions(view_, stream);
  }
  cuda::bring(host_state_, state_.data(), 1, stream);
}

void SubstructuredInverse::apply(const double *r, double *z, cudaStream_t stream) const {
  if (view_.n) dense::apply(view_, r, z, stream);
}

} // namespace petscrrb::dense
