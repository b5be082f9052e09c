// RRB on the graph, on the host.
#include "exec/host/sums.hpp"
#include "pc/rrb/graph/graph_apply.hpp"
#include "pc/rrb/graph/halved_rrb.hpp"
#include "pc/rrb/graph/matrix_rows.hpp"
#include "pc/rrb/graph/rows_of_ranks.hpp"
#include "pc/rrb/host/coupling_sums.hpp"
#include "pc/rrb/host/graph_loops.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<Factorization> make_on_graph(const Host &, const Extent &, const Options &, bool,
                                                      const PreparedStencil &, Lumping);
template std::unique_ptr<Factorization> make_by_support(const Host &, const Extent &, const Options &, bool,
                                                        const PreparedStencil &, Lumping);
template std::unique_ptr<MatrixReader> make_matrix_reader(const Host &);
template std::unique_ptr<RowsOfRanks> make_rows_of_ranks(const Host &, std::unique_ptr<Ranks>,
                                                         const std::vector<index_t> &, const std::vector<index_t> &);

} // namespace petscrrb::rrb
