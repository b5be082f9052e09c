/* KSPRRB's own iteration on arrays, where those of the preconditioner are. */
#pragma once

#include "comm/ranks.hpp"
#include "exec/host/host.hpp"
#include "ksp/rrb/ksprrb_solver.h"
#include "pc/vectors.h"
#include "petsc/box_vectors.h"
#if PETSCRRB_ON_DEVICES
  #include "petsc/stream_cuda.h"
#endif

#include <memory>
#include <type_traits>

/* What several ranks have; nothing on one. */
struct KSPRRBRanks {
  petscrrb::rrb::Ranks *ranks = nullptr;
  const PetscRRBBoxVectors *vectors = nullptr;
  std::size_t points = 0; /* of this rank's box */
};

/* f(on): of the stream's device, or of the host where there is none */
template <class F> auto KSPRRBAt([[maybe_unused]] PetscRRBStream *stream, const F &f) {
#if PETSCRRB_ON_DEVICES
  if (stream) return f(stream->cuda);
#endif
  return f(petscrrb::on_host);
}
/* f(), which may throw and makes arrays there */
template <class F> void KSPRRBDoAt([[maybe_unused]] PetscRRBStream *stream, const F &f) {
#if PETSCRRB_ON_DEVICES
  if (stream) return stream->Do(f);
#endif
  f();
}

/* An array there. */
class KSPRRBArray {
public:
  KSPRRBArray(PetscRRBStream *stream, std::size_t n) : n_(n) {
    KSPRRBAt(stream, [&](auto &on) {
      const auto made = std::make_shared<typename std::decay_t<decltype(on)>::template Array<double>>(n);
      data_ = {made, made->data()};
    });
  }
  double *data() const { return data_.get(); }
  std::size_t size() const { return n_; }

private:
  std::shared_ptr<double> data_;
  std::size_t n_;
};

class KSPRRBFused : public KSPRRBSolver {
public:
  using Iteration = petscrrb::rrbsolver::Iteration;

  PetscErrorCode Start(Vec r0, Norm norm, Numbers *numbers) override {
    const PetscScalar *r;

    PetscFunctionBegin;
    PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
    if (boxes_) PetscCall(boxes_->ToBoxes(r, r0_.data()));
    PetscCall(Compute([&] {
      const int error = iteration().start(boxes_ ? r0_.data() : r, norm, solve_);
      if (!error) *numbers = iteration().started(norm);
      return error;
    }));
    PetscCall(Check(*numbers));
    PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Steps(Norm norm, const Limits &limits, std::vector<Numbers> *steps) override {
    PetscFunctionBegin;
    PetscCall(Compute([&] { return iteration().run(norm, limits, captured_ != PETSC_FALSE, solve_, *steps); }));
    if (!steps->empty()) PetscCall(Check(steps->back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Resume() override {
    return Compute([&] { return iteration().resume(solve_); });
  }
  PetscErrorCode Settle() override {
    return Compute([&] { return iteration().settle(), 0; });
  }
  void DropStep() override { iteration().drop_step(); }
  PetscErrorCode Solution(Vec r0, Vec x, PetscBool add) override {
    return PetscRRBUseArrays(PETSC_TRUE, r0, x, add, [&](const PetscScalar *r, PetscScalar *to) -> PetscErrorCode {
      PetscFunctionBegin;
      if (boxes_ && add) PetscCall(boxes_->ToBoxes(to, x_.data()));
      PetscCall(Compute([&] {
        return iteration().solution(boxes_ ? r0_.data() : r, boxes_ ? x_.data() : to, add != PETSC_FALSE), 0;
      }));
      if (boxes_) PetscCall(boxes_->ToRows(x_.data(), to));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  Report report() const override {
    return {schur(), stream_ && captured_, iteration().eisenstat(), 0, iteration().by_kinds()};
  }
  double bytes() const override { return (double)iteration().bytes() + 8.0 * (double)(r0_.size() + x_.size()); }

protected:
  KSPRRBFused(const char type[], PetscRRBStream *stream, PetscBool captured, Iteration::Solve solve,
              const KSPRRBRanks &of)
      : say_(type, stream ? PETSC_ERR_GPU : PETSC_ERR_LIB), stream_(stream), captured_(captured),
        solve_(std::move(solve)), ranks_(of.ranks), boxes_(of.vectors && !of.vectors->as_rows() ? of.vectors : nullptr),
        r0_(stream, boxes_ ? of.points : 0), x_(stream, r0_.size()) {}

  virtual Iteration &iteration() const = 0;
  virtual const char *schur() const { return ""; } /* of Report */

  /* f(), which may throw and returns 0 or an error that PETSC has raised, where the arrays are. */
  template <class F> PetscErrorCode Compute(const F &f) {
    int error = 0;

    PetscFunctionBegin;
#if PETSCRRB_ON_DEVICES
    if (stream_) {
      PetscCall(PetscLogGpuTimeBegin());
      const PetscErrorCode thrown = stream_->Run([&] { error = f(); });
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(thrown);
      PetscCall((PetscErrorCode)error);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    PetscCall(PetscRRBTry(say_, [&] { error = f(); }));
    PetscCall((PetscErrorCode)error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const PetscRRBSay say_;
  PetscRRBStream *const stream_; /* the preconditioner's; NULL on the host */

private:
  /* Sums of all ranks are NaN where a message did not come to one of them: which has told the others before that. */
  PetscErrorCode Check(const Numbers &n) const {
    const bool finite = std::isfinite(n.rho) && std::isfinite(n.curvature) && std::isfinite(n.norm);

    PetscFunctionBegin;
    PetscCall(PetscRRBTry(say_, [&] {
      if (ranks_) ranks_->check(!finite);
      if (!finite) CheckNumbers();
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* of numbers that are not finite: throws where the preconditioner knows why */
  virtual void CheckNumbers() const {}

  const PetscBool captured_; /* solve_ only enqueues work, so that a graph can have it */
  const Iteration::Solve solve_;
  petscrrb::rrb::Ranks *const ranks_;     /* NULL: one */
  const PetscRRBBoxVectors *const boxes_; /* NULL: the rows are the box's */
  const KSPRRBArray r0_, x_;
};

struct PCRRBParts;
/* On all nodes, around PCRRB on a graph. May throw. */
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnGraph(const PCRRBParts &);
