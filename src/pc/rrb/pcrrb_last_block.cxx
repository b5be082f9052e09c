/* The last block of PCRRB on a device. */
#include "pc/rrb/pcrrb_last_block.h"

#if PETSCRRB_ON_DEVICES

  #include "dense/cuda/dense.hpp"
  #include "dense/cuda/substructured.hpp"
  #include "exec/cache.hpp"
  #include "pc/rrb/core/last_block.hpp"

  #include <system_error>

using namespace petscrrb;

static Cache<rrb::LastBlockShape, dense::Substructure> substructures;

static std::shared_ptr<const dense::Substructure> SubstructureOf(const rrb::LastBlockShape &shape) {
  const rrb::Side &x = shape.grid.x, &y = shape.grid.y;

  return substructures.get(shape, [&] {
    const auto to_int = [](const std::vector<PetscInt> &v) { return std::vector<int>(v.begin(), v.end()); };
    const auto p = rrb::LastBlockPattern::of(shape);
    return std::make_shared<const dense::Substructure>(
        to_int(p->ia), to_int(p->ja), to_int(p->x), to_int(p->y),
        dense::GridShape{int(x.n), int(y.n), x.periodic, y.periodic, shape.skew ? 2 : 1});
  });
}

/* The first one of a shape takes the host as long as all else that a small grid's set-up is. */
void PCRRBLastBlockOnDevice::Expect(const rrb::Extent &all, int levels) {
  const rrb::LastBlockShape shape{rrb::last_extent(all, levels), levels % 2 != 0};

  expected_ = {};
  if (shape.grid.nodes() / (shape.skew ? 2 : 1) > rrb::largest_device_inverse || substructures.has(shape)) return;
  try {
    expected_ = std::async(std::launch::async, [shape] { (void)SubstructureOf(shape); });
  } catch (const std::system_error &) { /* there is no thread: SetUp() makes it */
  }
}

PetscErrorCode PCRRBLastBlockOnDevice::Reset() {
  inverse_ = nullptr;
  return solver_.Reset();
}

PetscErrorCode PCRRBLastBlockOnDevice::SetUp(PC pc, Core &core, PCRRBCoarse type, KSP ksp) {
  rrb::LastBlock &b = core.last_block();

  PetscFunctionBegin;
  if (type != PC_RRB_COARSE_INVERSE) {
    PetscCall(PetscInfo(pc,
                        "The last block is solved on the host: its %" PetscInt_FMT
                        " unknowns are copied there and back in every application\n",
                        b.size()));
    PetscCall(PetscRRBTry(stream_.say, [&] { r_.resize(b.size()), z_.resize(b.size()); }));
    PetscCall(solver_.SetUp(pc, core, type, ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(b.size() <= rrb::largest_device_inverse, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The inverse of the last Schur complement, %" PetscInt_FMT " unknowns, is limited to %d on a device. Use "
             "more -pc_rrb_levels, or -pc_rrb_coarse cholesky",
             b.size(), rrb::largest_device_inverse);
  PetscCall(stream_.Run([&] {
    if (b.x.empty()) { /* it is on no grid */
      ia_.assign(std::vector<int>(b.ia.begin(), b.ia.end())), ja_.assign(std::vector<int>(b.ja.begin(), b.ja.end()));
      inverse_ = std::make_unique<dense::DenseInverse>(
          dense::SparseView{int(b.size()), ia_.data(), ja_.data(), core.last_values(), core.last_excess()},
          dense::Inverse::explicit_inverse, nullptr, stream_.cuda.stream);
      return;
    }
    inverse_ = std::make_unique<dense::SubstructuredInverse>(*SubstructureOf({b.grid, b.skew}));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCRRBLastBlockOnDevice::Enqueue(Core &core, const rrb::Lumping &lumping) {
  if (inverse_) inverse_->refresh(core.last_values(), core.last_excess(), lumping.null_inverse, stream_.cuda.stream);
}

PetscErrorCode PCRRBLastBlockOnDevice::Refresh(Core &core, double null_inverse, PetscBool *spd) {
  rrb::LastBlock &b = core.last_block();

  PetscFunctionBegin;
  if (inverse_) {
    *spd = (PetscBool)inverse_->status().definite;
    null_directions_ = inverse_->status().null_directions;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ToHost(b.a, core.last_values()));
  PetscCall(ToHost(b.excess, core.last_excess()));
  PetscCall(solver_.Refresh(core, null_inverse, spd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBLastBlockOnDevice::Solve(Core &core, rrb::Part part) {
  PetscFunctionBegin;
  if (inverse_) { /* on the stream that is in use, which may be a captured one */
    PetscCall(PetscRRBTry(stream_.say, [&] {
      const double *z = inverse_->solve(const_cast<double *>(core.coarse_r()), core.coarse_z(), stream_.cuda.stream);
      if (z != core.coarse_z()) stream_.cuda.copy(core.coarse_z(), z, core.last_block().at.size());
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ToHost(r_, core.coarse_r()));
  PetscCall(solver_.Solve(r_.data(), z_.data(), part));
  const size_t bytes = z_.size() * sizeof(double);
  PetscCall(stream_.Run([&] {
    cuda::check(cudaMemcpyAsync(core.coarse_z(), z_.data(), bytes, cudaMemcpyHostToDevice, stream_.cuda.stream),
                "cudaMemcpyAsync");
  }));
  PetscCall(PetscLogCpuToGpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBLastBlockOnDevice::ToHost(std::vector<double> &to, const double *from) {
  const size_t bytes = to.size() * sizeof(double);

  PetscFunctionBegin;
  PetscCall(stream_.Run([&] {
    cuda::check(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyDeviceToHost, stream_.cuda.stream),
                "cudaMemcpyAsync");
    cuda::wait_for(stream_.cuda.stream, "the last block's right-hand side");
  }));
  PetscCall(PetscLogGpuToCpu(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
