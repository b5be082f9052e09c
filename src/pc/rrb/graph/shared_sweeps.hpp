// Sweeps on a graph that ranks share, each of which has the whole factor: which nodes a rank computes, and what it gets from others for
// them. Those of small levels are computed by all ranks (docs/design_ranks.md, "Red nodes by support").
#pragma once

#include "comm/ranks.hpp"
#include "exec/not_copied.hpp"
#include "pc/rrb/graph/lanes.hpp"

#include <map>
#include <vector>

namespace petscrrb::rrb {

struct NodeRange {
  node_t begin, end;

  node_t size() const { return end - begin; }
};

// Couplings of nodes that two ranks compute.
struct Crossings {
  std::vector<node_t> row, column;
};
// On the host; all ranks have the same.
struct SharedFactor {
  std::vector<node_t> first;     // node of each level with red nodes, of the last block, and the end
  std::vector<node_t> owner;     // rank that computes a node, ascending within a level
  Crossings upper;               // of red nodes before the level that all ranks compute, with nodes of later levels
  std::map<int, Crossings> amli; // by the level of a step: of its nodes, counted from its first one

  int levels() const { return int(first.size()) - 2; } // that have red nodes
};

// Where the factor is: which rank computes a node. cuts[r] ... cuts[r + 1]: the points of rank r.
struct OwnerOf {
  const node_t *point;
  const index_t *cuts;
  int ranks;
  node_t *owner;

  PETSCRRB_HD void operator()(node_t i) const {
    int low = 0, high = ranks; // cuts[low] <= point < cuts[high]
    while (high - low > 1) (cuts[(low + high) / 2] <= point[i] ? low : high) = (low + high) / 2;
    owner[i] = low;
  }
};
struct IsCrossing {
  const node_t *column, *owner;

  PETSCRRB_HD bool operator()(node_t i, node_t k) const { return owner[column[k]] != owner[i]; }
};
// Those of the first n rows.
template <class Backend> Crossings crossings(const Backend &on, const Rows &rows, node_t n, const node_t *owner) {
  using Loops = GraphLoops<Backend>;
  typename Backend::template Array<node_t> start, row, column;
  start.resize(std::size_t(n) + 1);
  const IsCrossing is_one{rows.column, owner};
  Loops::each(on, n, CountCouplings<IsCrossing>{rows, is_one, start.data()});
  const node_t all = ChoiceLoops<Backend>(on).offsets(start.data(), n, any_number);
  row.resize(all), column.resize(all);
  Loops::each(on, n, ListCouplings<IsCrossing>{rows, is_one, start.data(), row.data(), column.data(), nullptr});
  return {on.to_host(row.data(), all), on.to_host(column.data(), all)};
}

// x: on all nodes; a rank has values of those that it computes, and of those that it was brought. Levels l are before whole(). All
// exchanges are collective.
class SharedSweeps : NotCopied {
public:
  // whole: at least 1; from this level on all ranks compute all. Local.
  SharedSweeps(Ranks &ranks, int whole, const SharedFactor &);
  // what exchanges need before they are captured; collective
  void prepare() const;

  int whole() const { return whole_; }
  NodeRange own(int l) const { return own_[l]; } // also of the last block

  // Brings red nodes of level l, for sums of later nodes on the way down.
  void bring_down(int l, double *x) const { ranks_.exchange(down_[l], x); }
  // The same on the way up, for those of earlier levels.
  void bring_up(int l, double *x) const {
    if (l > 0) ranks_.exchange(up_[l], x);
  }
  // For a product with the matrix of a level with AMLI's step; of_level: x from its first node on.
  void bring_for_product(int l, double *of_level) const { ranks_.exchange(products_.at(l), of_level); }
  // What the first rank has: the processors of others may round otherwise.
  double number_of_first_rank(double mine) const { return ranks_.gather_numbers({mine}).front(); }
  // All of level `whole` and later ones, of which each rank has what it computed.
  void bring_rest(double *x) const { ranks_.exchange(rest_, x); }

private:
  Ranks &ranks_;
  int whole_;
  std::vector<NodeRange> own_;
  std::vector<Plan> down_, up_;
  std::map<int, Plan> products_;
  Plan rest_;
};

} // namespace petscrrb::rrb
