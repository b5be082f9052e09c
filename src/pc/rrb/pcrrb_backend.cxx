/* The backend of PCRRB: one class for the host and for a device, on any number of ranks. */
#include "pc/rrb/graph/matrix_reader.hpp"
#include "pc/rrb/pcrrb_on_ranks.h"

#include <numeric>

using namespace petscrrb;

namespace {

template <class Where> class Backend final : public PCRRBBackend {
public:
  explicit Backend(PetscBool ranks) : stencil_(rrb::make_stencil_reader(where_.on())), last_block_(where_.Stream()) {
    if (ranks) on_ranks_ = std::make_unique<PCRRBOnRanks<Where>>(where_);
  }
  PetscErrorCode Start() { return where_.Start(); }

  PetscBool on_device() const override { return Where::device; }
  std::shared_ptr<const void> pool() override { return on_ranks_ ? nullptr : where_.Pool(); }
  PetscErrorCode FindGrid(PC, const PetscRRBMatrix &, Grid *) override;
  PetscErrorCode GatherRows(PC, Mat P, const std::vector<PetscInt> *places, Csr *) override;
  PetscErrorCode Read(PC, PetscBool anew, Vec near_null) override;
  rrb::PreparedStencil prepared() override { return graph_ ? graph_->prepared() : stencil_->prepared(); }

  void ExpectLevels(const rrb::Extent &all, int levels) override { last_block_.Expect(all, levels); }
  PetscErrorCode Build(PC pc, const rrb::Extent &all, const rrb::Options &o, rrb::Precision precision,
                       std::unique_ptr<Core> *core) override {
    return Make(pc, core, [&] {
      return on_ranks_ ? on_ranks_->Build(pc, all, o, precision)
                       : rrb::make_factorization(where_.on(), all, o, precision);
    });
  }
  PetscErrorCode BuildOnGraph(PC pc, const rrb::Extent &all, const rrb::Options &o, bool single, rrb::Lumping lumping,
                              std::unique_ptr<Core> *core) override {
    return Make(pc, core, [&] {
      const auto pool = where_.Pool();
      return on_ranks_ ? on_ranks_->BuildOnGraph(pc, all, o, single, prepared(), lumping)
                       : rrb::make_by_support(where_.on(), all, o, single, prepared(), lumping);
    });
  }
  PetscErrorCode Share(PC, Core &, const std::vector<index_t> &cuts, PetscInt gather_size, PetscBool *shared) override;

  void ExpectFactor(Core &core, const rrb::Lumping &lumping) override { expected_ = {&core, lumping}; }
  PetscErrorCode Factor(Core &, const rrb::Lumping &, PetscBool factored) override;
  PetscErrorCode SetUpLastBlock(PC pc, Core &core, PCRRBCoarse type, KSP ksp) override {
    return last_block_.SetUp(pc, core, type, ksp);
  }
  PetscErrorCode FactorLastBlock(Core &, double null_inverse, rrb::Outcome *, PetscBool *spd) override;
  PetscErrorCode EstimateForCycle(Core &) override;
  PetscInt null_directions() const override { return last_block_.null_directions(); }

  PetscErrorCode Apply(PC, Core &, Vec, Vec, rrb::Part) override;
  PCRRBParts parts(Core &core) override {
    PCRRBParts parts{&core, SolverOf(core)};
    parts.stream = where_.Stream();
    parts.captured = (PetscBool)may_be_graphs();
    if (on_ranks_) on_ranks_->Lend(&parts);
    return parts;
  }
  PetscErrorCode ViewRanks(PetscViewer viewer) override {
    PetscFunctionBegin;
    if (on_ranks_) PetscCall(on_ranks_->View(viewer));
    if (ranks()) PetscCall(where_.ViewTransport(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const override {
    return stencil_->bytes() + (graph_ ? (double)graph_->bytes() : 0.0) + (rows_ ? (double)rows_->bytes() : 0.0) +
           last_block_.bytes() + (on_ranks_ ? on_ranks_->bytes() : 0.0);
  }

private:
  /* Not the work itself: f() agrees with other ranks on what it throws. */
  template <class F> PetscErrorCode Together(const F &f) {
    PetscErrorCode code = PETSC_SUCCESS;

    PetscFunctionBegin;
    PetscCall(where_.Try([&] { code = PCRRBTogether(f); }));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* f() returns what PETSc does, and may work with other ranks. */
  template <class F> PetscErrorCode Compute(const F &f) {
    PetscErrorCode code = PETSC_SUCCESS;

    PetscFunctionBegin;
    PetscCall(where_.Compute([&] { code = where_.Guard(f); }));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class F> PetscErrorCode Make(PC pc, std::unique_ptr<Core> *core, const F &make) {
    PetscFunctionBegin;
    if constexpr (Where::device) graphs_.reset();
    PetscCall(last_block_.Reset());
    core->reset();
    comm_ = PetscObjectComm((PetscObject)pc);
    if (on_ranks_) PetscCall(where_.ChooseRanks(pc, &on_ranks_->ranks));
    PetscCall(PetscRRBTryTogether(comm_, where_.say, [&] {
      if (on_ranks_) where_.MakeRanks(comm_, &on_ranks_->ranks);
      where_.Do([&] { *core = make(); });
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode ConnectRows(Mat P, const RankRows &, const std::vector<PetscInt> &places, std::unique_ptr<rrb::Ranks>);
  void ReadGraph(const PCRRBState &, PetscBool anew, const PetscScalar *near_null, PCRRBValues *);
  PetscErrorCode ReadHere(PC, PetscBool anew, Vec near_null);
  PetscErrorCode AskWhetherBroken(PCRRBValues *) const;
  void BeginFactor();
  void Follow(Core &, const rrb::Lumping &);

  auto SolverOf(Core &core) {
    return [this, &core](rrb::Part part) { return last_block_.Solve(core, part); };
  }
  /* what the core does but for the last block is enqueued work alone, and that is, too */
  bool may_be_graphs() const { return last_block_.only_enqueues() && (!ranks() || ranks()->only_enqueue()); }
  /* with whom applications are shared */
  rrb::Ranks *ranks() const { return on_ranks_ ? on_ranks_->ranks.get() : ranks_.get(); }

  Where where_;
  MPI_Comm comm_ = MPI_COMM_NULL; /* the PC's */
  std::unique_ptr<rrb::StencilReader> stencil_;
  std::unique_ptr<rrb::MatrixReader> graph_;      /* instead, of a matrix on no grid */
  std::unique_ptr<PCRRBOnRanks<Where>> on_ranks_; /* NULL on one */
  std::unique_ptr<rrb::Ranks> ranks_;             /* of a graph that all of them have */
  std::unique_ptr<rrb::RowsOfRanks> rows_;        /* of its matrix */
  struct {
    Core *core; /* or NULL */
    rrb::Lumping lumping;
  } expected_ = {};               /* Factor(), after the next read */
  bool begun_ = false;            /* that, by the read before */
  typename Where::Graphs graphs_; /* they go before the ranks that they use */
  typename Where::LastBlock last_block_;
};

/* Where none is needed, also one in 3D, or none, of no points: the matrix is taken for a graph then. */
template <class Where> PetscErrorCode Backend<Where>::FindGrid(PC pc, const PetscRRBMatrix &P, Grid *grid) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  const auto find = [&](Widest widest, const PetscRRBRows &rows) {
    return PetscRRBFindGridOrNone(pc, pc->pmat, widest, rrb->grid, "-pc_rrb_grid", rows, PETSC_TRUE, grid);
  };

  PetscFunctionBegin;
  graph_ = nullptr;
  if (on_ranks_) {
    PetscCall(on_ranks_->FindGrid(pc, P.on_ranks, grid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscRRBRows rows = where_.Rows(P.csr);
  PetscCall(rrb->red_nodes == PC_RRB_RED_NODES_PLAIN
                ? PetscRRBFindGrid(pc, pc->pmat, Widest::flat, rrb->grid, "-pc_rrb_grid", rows, grid)
                : find(Widest::flat, rows));
  if (!grid->n[0]) PetscCall(find(Widest::star, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What brings the rows of all ranks to each, of ranks of its own. Collective; may throw. */
template <class Where>
PetscErrorCode Backend<Where>::ConnectRows(Mat P, const RankRows &mine, const std::vector<PetscInt> &places,
                                           std::unique_ptr<rrb::Ranks> ranks) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *ranges, *of_others;
  PetscMPIInt rank;
  PetscInt ghosts;
  MatInfo info[2];
  Mat parts[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGetOwnershipRanges(P, &ranges));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &parts[0], &parts[1], &of_others));
  PetscCall(MatGetSize(parts[1], nullptr, &ghosts));
  for (int b = 0; b < 2; ++b) PetscCall(MatGetInfo(parts[b], MAT_LOCAL, &info[b]));
  const auto own = (index_t)info[0].nz_used;
  const std::vector<index_t> nonzeros =
      PetscRRBAllGather(comm, MPIU_INT64, std::vector<index_t>{own + (index_t)info[1].nz_used});
  const index_t all = std::accumulate(nonzeros.begin(), nonzeros.end(), index_t(0));
  PetscCheck(all <= std::numeric_limits<rrb::node_t>::max(), comm, PETSC_ERR_SUP,
             "PCRRB on no 2D grid has all rows on each rank, and %lld nonzeros are too many", (long long)all);
  PetscCall(PetscRRBTryTogether(comm, where_.say, [&] {
    std::vector<index_t> n;
    for (std::size_t r = 0; r < nonzeros.size(); ++r) n.push_back(ranges[r + 1] - ranges[r]);
    where_.MakeRanks(comm, &ranks);
    rows_ = rrb::make_rows_of_ranks(where_.on(), std::move(ranks), n, nonzeros);
    rows_->pack(mine, own, ranges[rank], {of_others, of_others + ghosts}, places);
  }));
  rows_->gather();
  PetscCall(PetscRRBTryTogether(comm, where_.say, [&] { rows_->put_together(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode Backend<Where>::GatherRows(PC pc, Mat P, const std::vector<PetscInt> *places, Csr *csr) {
  std::unique_ptr<rrb::Ranks> ranks;
  RankRows mine;

  PetscFunctionBegin;
  if (places) {
    rows_ = nullptr; /* what it has goes first */
    PetscCall(where_.ChooseRanks(pc, &ranks));
  }
  PetscCall(PetscRRBRankRowsGet(P, Where::device, &mine));
  const PetscErrorCode code = Together([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if (places) PetscCall(ConnectRows(P, mine, *places, std::move(ranks)));
    *csr = rows_->gather_values(mine);
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  PetscCall(PetscRRBRankRowsRestore(P, Where::device, &mine));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values --- */

/* Of a graph with so many pairs of couplings: whether it is one for RRB. */
PetscErrorCode JudgeGraph(PC pc, index_t pairs, PCRRBValues &values) {
  constexpr double most_positive = 0.4; /* of the couplings */
  const RowFacts &f = values.facts;

  PetscFunctionBegin;
  if (values.result == ReadResult::refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBTry("PCRRB", [&] {
    if (values.not_positive())
      values.why = not_positive("row " + std::to_string(f.bad_pivot));
    else if ((double)f.positive > most_positive * (double)pairs) {
      values.result = ReadResult::refused;
      values.why = std::to_string(f.positive) + " of its " + std::to_string(pairs) +
                   " off-diagonal pairs of entries are positive, and RRB is for matrices where nearly all are "
                   "negative. Use another preconditioner, such as -pc_type gamg";
    }
  }));
  if (f.useless_row != no_row)
    PetscCall(PetscInfo(
        pc, "The near null space is 0 or not finite at some row: the constant vector is taken in its place\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a read of values enqueues before it knows what it has found. */
template <class Where> void Backend<Where>::BeginFactor() {
  if constexpr (Where::device) {
    begun_ = expected_.core && last_block_.only_enqueues() &&
             graphs_.begin_refresh(where_.on(), *expected_.core, prepared(), expected_.lumping);
    if (begun_) Follow(*expected_.core, expected_.lumping);
  }
}

/* What follows a refresh of the core. */
template <class Where> void Backend<Where>::Follow(Core &core, const rrb::Lumping &lumping) {
  if constexpr (Where::device) {
    last_block_.Enqueue(core, lumping);
    graphs_.begin_estimate(where_.on());
  }
}

template <class Where>
void Backend<Where>::ReadGraph(const PCRRBState &s, PetscBool anew, const PetscScalar *near_null, PCRRBValues *values) {
  if (!graph_) graph_ = rrb::make_matrix_reader(where_.on());
  if (anew) {
    stencil_ = rrb::make_stencil_reader(where_.on());
    graph_->set(s.rows.csr, s.grid);
  }
  RowFacts &f = values->facts;
  f = graph_->read(s.rows.csr, near_null, s.near_null.rounding, [this] { BeginFactor(); });
  f.weights[0] = f.norm * (double)s.rows.csr.n;
  values->result = f.result();
  if (values->result == ReadResult::refused)
    where_.OnHost(s.rows.csr, [&](const Csr &rows) { values->why = why_refused(rows); });
}

template <class Where> PetscErrorCode Backend<Where>::ReadHere(PC pc, PetscBool anew, Vec near_null) {
  PCRRBState &s = *((PC_RRB *)pc->data)->state;
  const PetscScalar *v = nullptr;

  PetscFunctionBegin;
  if (anew) expected_ = {}; /* that is of other nonzeros */
  begun_ = false;
  if (near_null) PetscCall(where_.Get(near_null, &v));
  const PetscErrorCode read = where_.Try([&] {
    if (s.on_graph)
      ReadGraph(s, anew, v, &s.values);
    else
      s.values.result = stencil_->read(s.rows.csr, s.grid, v, s.near_null.rounding, s.positive(), s.values.facts,
                                       &s.values.why, [this] { BeginFactor(); });
  });
  expected_ = {};
  if (near_null) PetscCall(where_.Restore(near_null, &v));
  PetscCall(read);
  s.values.scaled = (PetscBool)(prepared().v != nullptr);
  if (s.on_graph)
    PetscCall(JudgeGraph(pc, graph_->couplings() / 2, s.values));
  else if (const RowFacts &f = s.values.facts; f.useless_row != no_row)
    PetscCall(PetscInfo(pc, "The near null space is %g at row %lld: the constant vector is used instead\n",
                        f.useless_value, (long long)f.useless_row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> PetscErrorCode Backend<Where>::Read(PC pc, PetscBool anew, Vec near_null) {
  PCRRBState &s = *((PC_RRB *)pc->data)->state;

  PetscFunctionBegin;
  s.values = PCRRBValues();
  if (on_ranks_)
    PetscCall(on_ranks_->Read(pc, s.rows.on_ranks, near_null, stencil_.get()));
  else
    PetscCall(ReadHere(pc, anew, near_null));
  if (Where::device && (on_ranks_ || s.on_graph)) PetscCall(AskWhetherBroken(&s.values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Then what was read is for another transport, from the first message on. */
template <class Where> PetscErrorCode Backend<Where>::AskWhetherBroken(PCRRBValues *values) const {
  PetscFunctionBegin;
  if (!ranks() || values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  int broken = ranks()->broken();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &broken, 1, MPI_INT, MPI_MAX, comm_));
  if (broken) values->result = ReadResult::rebuild;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the factorization --- */

/* All ranks have room for what they need before they exchange it. */
template <class Where>
PetscErrorCode Backend<Where>::Share(PC pc, Core &core, const std::vector<index_t> &cuts, PetscInt gather_size,
                                     PetscBool *shared) {
  PetscFunctionBegin;
  PetscCall(where_.ChooseRanks(pc, &ranks_));
  PetscCall(Together([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(comm_, where_.say, [&] {
      where_.MakeRanks(comm_, &ranks_);
      *shared = (PetscBool)core.share(*ranks_, cuts, gather_size);
    }));
    if (*shared)
      core.prepare_exchanges();
    else
      ranks_ = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode Backend<Where>::Factor(Core &core, const rrb::Lumping &lumping, PetscBool factored) {
  if constexpr (Where::device)
    if (std::exchange(begun_, false) && graphs_.is_of(core, prepared(), lumping)) return PETSC_SUCCESS;
  return Compute([&] {
    bool refreshed = factored != PETSC_FALSE;
    if constexpr (Where::device)
      if (!refreshed && !on_ranks_) {
        graphs_.refresh(where_.on(), core, prepared(), lumping);
        refreshed = true;
      }
    if (!refreshed) core.refresh(prepared(), lumping);
    Follow(core, lumping);
    return PETSC_SUCCESS;
  });
}

template <class Where>
PetscErrorCode Backend<Where>::FactorLastBlock(Core &core, double null_inverse, rrb::Outcome *outcome, PetscBool *spd) {
  const auto factor = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    if constexpr (Where::device) /* waits, for the last block's status, too */
      PetscCall(where_.Try([&] { *outcome = core.outcome(); }));
    else
      *outcome = core.outcome();
    *spd = (PetscBool)outcome->ok;
    if (outcome->ok) PetscCall(last_block_.Refresh(core, null_inverse, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  return PCRRBTogether([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscRRBCallTogether(comm_, where_.say, factor));
    if (Where::device && ranks()) /* before what has come is used */
      PetscCall(PetscRRBTryTogether(comm_, where_.say, [&] { ranks()->check(true); }));
    PetscCall(PCRRBAgree(comm_, spd));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

template <class Where> PetscErrorCode Backend<Where>::EstimateForCycle(Core &core) {
  return Compute([&]() -> PetscErrorCode {
    if constexpr (Where::device)
      if (may_be_graphs()) return graphs_.estimate(where_.on(), core, SolverOf(core));
    return rrb::Cycle(core).estimate(SolverOf(core));
  });
}

template <class Where> PetscErrorCode Backend<Where>::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  PetscErrorCode applied = PETSC_SUCCESS;
  const auto apply = [&](const PetscScalar *r, PetscScalar *z) -> PetscErrorCode {
    if constexpr (Where::device)
      if (part == rrb::Part::whole && may_be_graphs()) return graphs_.apply(where_.on(), core, r, z, SolverOf(core));
    return rrb::Cycle(core).apply(r, z, part, SolverOf(core));
  };
  const auto apply_on_box = [&](const PetscScalar *r, PetscScalar *z) {
    applied = where_.Guard([&] { return on_ranks_ ? on_ranks_->OnBox(r, z, apply) : apply(r, z); });
  };

  PetscFunctionBegin;
  if (ranks()) PetscCall(PetscRRBTry(where_.say, [&] { ranks()->check(false); }));
  PetscCall(where_.Use(pc, x, y, apply_on_box, PETSC_FALSE, PETSC_TRUE));
  PetscCall(applied);
  PetscCall(where_.LogFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCRRBCreateBackend(PetscBool device, PetscBool ranks, std::unique_ptr<PCRRBBackend> *backend) {
  PetscFunctionBegin;
  if (!device)
    PetscCall(PetscRRBTry("PCRRB", [&] { *backend = std::make_unique<Backend<PCRRBHostWork>>(ranks); }));
  else
    PetscCall(PETSCRRB_ON_DEVICE(PetscRRBCreateOnDevice<Backend<PCRRBDeviceWork>>)("PCRRB", backend, ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
