// Random options of the library's types.
#include "options.hpp"

#include <cstdio>

namespace longtest {

namespace {

std::string words_of(const int *sizes, int count) {
  std::string text;
  for (int d = 0; d < count; ++d) text += (d ? "," : "") + std::to_string(sizes[d]);
  return text;
}

// Collects options; each is drawn with a small probability, and then with a legal value mostly.
class Draw {
public:
  Draw(Random &random, const std::string &prefix) : random_(random), prefix_(prefix) {}
  Words words;

  void integer(const char *name, int low, int high, std::initializer_list<int> illegal) {
    if (!chosen()) return;
    if (wrong())
      add(name, std::to_string(random_.of(illegal)));
    else
      add(name, std::to_string(random_.integer(low, high)));
  }
  void real(const char *name, double low, double high, std::initializer_list<double> illegal) {
    if (!chosen()) return;
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", wrong() ? random_.of(illegal) : random_.between(low, high));
    add(name, text);
  }
  void one_of(const char *name, std::initializer_list<const char *> values) {
    if (!chosen()) return;
    add(name, wrong() ? "another" : random_.of(values));
  }
  void sizes(const char *name, const int *right, int count) { // a grid: the right one, or any
    if (!chosen()) return;
    const bool other = wrong();
    int any[3];
    for (int d = 0; other && d < count; ++d) any[d] = random_.integer(-1, 9);
    const std::string text = words_of(other ? any : right, count);
    add(name, other && random_.chance(0.2) ? "3" : text);
  }

  bool has(const char *name) const { return words.text.find(name) != std::string::npos; }
  void add(const char *name, const std::string &value) {
    words.legal = words.legal && !depends(name);
    words.text += " -" + prefix_ + name + " " + value;
  }

private:
  bool chosen() { return random_.chance(0.17); }
  // Those that go with some choices of others only.
  static bool depends(const std::string &name) {
    for (const char *word :
         {"storage_grids", "scale", "neumann_omega", "drop", "colours", "symmetric", "shift", "red_nodes"})
      if (name.find(word) != std::string::npos) return true;
    return false;
  }
  bool wrong() {
    const bool is = random_.chance(0.05);
    words.legal = words.legal && !is;
    return is;
  }
  Random &random_;
  std::string prefix_;
};

} // namespace

Words pc_options(Random &random, const Problem &p, const std::string &type, const std::string &prefix) {
  Draw draw(random, prefix);
  const int blocks[] = {random.integer(1, 9), random.integer(1, 9), random.integer(1, 4)};
  if (type == "rrb") {
    draw.integer("pc_rrb_levels", 1, 6, {0, -3, 1000});
    draw.integer("pc_rrb_levels", 1, 6, {0, -3, 1000});
    draw.real("pc_rrb_lumping", 0, 1, {-0.5, 1.5, NAN});
    draw.one_of("pc_rrb_lump_nodes", {"red", "both"});
    draw.sizes("pc_rrb_grid", p.n, 2);
    draw.one_of("pc_rrb_storage", {"r1r2b1b2", "naive"});
    draw.integer("pc_rrb_storage_grids", 0, 4, {-7, 1000000});
    draw.integer("pc_rrb_storage_grids", 1, 2, {-7, 1000000});
    draw.one_of("pc_rrb_compute_block", {"8", "16", "64"});
    draw.integer("pc_rrb_gather_size", 1, 300, {-5, 0});
    draw.one_of("pc_rrb_coarse", {"cholesky", "inverse", "ksp"});
    draw.one_of("pc_rrb_cycle", {"v", "amli"});
    draw.one_of("pc_rrb_red_nodes", {"auto", "plain", "support"});
    draw.one_of("pc_rrb_precision", {"double", "single"});
    draw.one_of("pc_rrb_transport", {"auto", "sf"});
  } else if (type == "mic") {
    draw.one_of("pc_mic_type", {"mic", "ssor"});
    draw.real("pc_mic_omega", 0.01, 1, {-0.5, 2.5, NAN});
    draw.one_of("pc_mic_precision", {"double", "single"});
    draw.real("pc_mic_shift", 0, 0.5, {-1, NAN});
    draw.integer("pc_mic_block_lines", 0, 5, {-3});
    draw.sizes("pc_mic_grid", p.n, p.dimensions);
  } else if (type == "gridmg") {
    draw.one_of("pc_gridmg_coarsening", {"auto", "full", "semi"});
    draw.one_of("pc_gridmg_smoother", {"auto", "points", "lines"});
    draw.one_of("pc_gridmg_precision", {"auto", "double", "single"});
    draw.integer("pc_gridmg_smooths", 1, 3, {0, -2});
    draw.integer("pc_gridmg_grids", 1, 6, {0, -1});
    draw.integer("pc_gridmg_coarse_size", 1, 100, {0, -7});
    draw.integer("pc_gridmg_gather_size", 0, 500, {-3});
    draw.sizes("pc_gridmg_grid", p.n, p.dimensions);
  } else if (type == "neumann") {
    draw.integer("pc_neumann_terms", 0, 9, {-1, -100});
    draw.real("pc_neumann_omega", 0.1, 1.9, {0, -1, 2, NAN});
    draw.one_of("pc_neumann_type", {"series", "poisson"});
    draw.one_of("pc_neumann_scale", {"true", "false"});
    draw.one_of("pc_neumann_drop", {"none", "pattern", "threshold"});
    draw.real("pc_neumann_drop_threshold", 0, 0.5, {-1, NAN});
    draw.sizes("pc_neumann_grid", p.n, p.dimensions);
  } else {
    draw.one_of("pc_blockrelax_type", {"jacobi", "chaotic", "coloured"});
    draw.real("pc_blockrelax_omega", 0.2, 1.6, {0, 2.5, NAN});
    draw.integer("pc_blockrelax_sweeps", 1, 4, {0, -2});
    draw.integer("pc_blockrelax_colours", 1, 12, {0, -5});
    draw.one_of("pc_blockrelax_symmetric", {"true", "false"});
    draw.one_of("pc_blockrelax_inverse", {"auto", "dense", "tensor"});
    draw.one_of("pc_blockrelax_parallel", {"auto", "patches", "blocks", "both"});
    draw.real("pc_blockrelax_memory", 0, 20000, {-1, NAN});
    draw.sizes("pc_blockrelax_block_size", blocks, p.dimensions);
    // large blocks that are factored anew in each sweep take minutes
    if (draw.has("blockrelax_memory") && !draw.has("block_size"))
      draw.add("pc_blockrelax_block_size", words_of(blocks, p.dimensions));
    draw.sizes("pc_blockrelax_grid", p.n, p.dimensions);
  }
  return draw.words;
}

Words deflation_options(Random &random, const Problem &p, const std::string &prefix) {
  Draw draw(random, prefix);
  const int blocks[] = {random.integer(1, 5), random.integer(1, 5), random.integer(1, 3)};
  draw.words.text = " -" + prefix + "ksp_deflation " + random.of({"stripe", "block", "block", "levelset"});
  draw.integer("ksp_deflation_stripe_lines", 1, 5, {0, -3});
  draw.integer("ksp_deflation_stripe_cuts", 1, 5, {0, -3});
  draw.sizes("ksp_deflation_blocks", blocks, p.dimensions);
  draw.real("ksp_deflation_jump", 1.5, 100, {0.5, -1, NAN});
  draw.sizes("ksp_deflation_grid", p.n, p.dimensions);
  draw.one_of("ksp_deflation_variant", {"adef2", "def1"});
  draw.one_of("ksp_deflation_inverse", {"explicit", "cholesky"});
  return draw.words;
}

} // namespace longtest
