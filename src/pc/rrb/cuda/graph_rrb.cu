// RRB on the graph, on CUDA devices.
#include "exec/cuda/sums.cuh"
#include "pc/rrb/cuda/graph_loops.cuh"
#include "pc/rrb/graph/graph_apply.hpp"
#include "pc/rrb/graph/halved_rrb.hpp"
#include "pc/rrb/graph/matrix_rows.hpp"
#include "pc/rrb/graph/rows_of_ranks.hpp"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::rrb {

template std::unique_ptr<Factorization> make_on_graph(const Cuda &, const Extent &, const Options &, bool,
                                                      const PreparedStencil &, Lumping);
template std::unique_ptr<Factorization> make_by_support(const Cuda &, const Extent &, const Options &, bool,
                                                        const PreparedStencil &, Lumping);
template std::unique_ptr<MatrixReader> make_matrix_reader(const Cuda &);
template std::unique_ptr<RowsOfRanks> make_rows_of_ranks(const Cuda &, std::unique_ptr<Ranks>,
                                                         const std::vector<index_t> &, const std::vector<index_t> &);

} // namespace petscrrb::rrb
