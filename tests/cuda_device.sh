#!/bin/bash
# Runs every test that needs a GPU, on what is built: tests/cuda_device.sh BUILD [step ...]; the last line counts steps.
# Steps: core petsc small ranks memcheck racecheck initcheck synccheck clients. Nothing is compiled, so that BUILD may be carried here.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:?tests/cuda_device.sh BUILD [step ...]}") || exit 1
shift
steps=("$@")
[ $# -gt 0 ] || steps=(core petsc small ranks memcheck racecheck initcheck synccheck clients)

export PETSCRRB_BUILD=$build OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# BUILD's own folder is in the programs, but it may be at another place now
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
core=$build/tests/cuda petsc=$build/tests/petsc cases=$build/tests/long/cases
mpiexec=$(sed -n 's/^MPIEXEC = //p' "$build/config.mk")
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
python=$build/venv/bin/python
"$python" -c 'import pytest' 2> /dev/null || python=python3

# Small problems, each kind of kernel once: a sanitizer makes them some hundred times slower.
small='Device.IsWhatTheViewNames:Device.SetsUpFromTheDevice:Halves.*:OneLevel.*:DMDAMatrix.OnRings:Fallback.*'
small+=':NullSpace.*:Pivots/Failure.*:Problem/Every.ConvergesAsKnown/one_line'
small_solver='RRBSolverView.*:RRBSolver/Singular.IsSolvedInEachNorm/*:RRBSolver/KnownRows.*:RRBSolver/Solution.IsTrue/*'
small_core=${SMALL_CORE:-*Small*}
# What has kernels that march through a grid. On a device that seems to have one multiprocessor they take many steps, as on large grids.
marching='Device*:Apply*:Amli*:*RRBSolver*:*Eisenstat*:*Neumann*:*Mic*:*GridMG*:*Graphs*:*BlockRelax*:*Deflation*:FusedCG*:-*Ranks*'
small_ranks='RrbRanks.AreTheSameAsOne:RrbRanksSolver.*:GridMGRanksSolver.MayBeWatched'

# How values travel between ranks: with one GPU, which they share, not by kernels that wait for each other.
if [ "$(nvidia-smi -L 2> /dev/null | wc -l)" -gt 1 ]; then
  transports=(sf stores nccl) not_here=(petscrrb::nccl::find_parts) # where CUDA's handles reach memory, nobody asks NCCL for it
else
  transports=(sf) not_here=(petscrrb::rrb::{store_number,pack_values,unpack_values} petscrrb::nccl::find_parts)
fi

# All cases of tests/long/common/cases.cxx once, beside the tests; what is launched is noted, and memcheck must see every kernel.
sanitize() {
  local status=0 tool=$1 filter=$small filter_core=$small_core without=() kernels
  kernels=$(mktemp)
  # neither follows barriers of some warps of a block; and they are slow: comparisons of many grids are left to the cases
  case $tool in racecheck | synccheck)
    filter_core+="-Mic*:BlockRelax*:Neumann*:*EverySmall*" without+=(-without "-pc_type mic")
    ;;
  esac
  # racecheck cannot follow graphs with conditional nodes, nor errors that are thrown while they are made; and one test takes longer there
  # than all others
  if [ "$tool" = racecheck ]; then
    without+=(-without "-ksp_type rrb") filter_core+=":SolverLoop.SmallFailure*:Coarse.Cut*"
  else
    filter+=:$small_solver
  fi
  # racecheck warns of races within cuSPARSE's product
  set -- "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 5 --kernel-name-exclude kernel_substring=csrmv
  [ -x "$sanitizer" ] || { echo "no compute-sanitizer: it is in the CUDA toolkit"; return 1; }
  export LD_PRELOAD=$build/tests/libkernels.so PETSCRRB_KERNELS=$kernels
  "$@" "$petsc" -backend cuda --gtest_brief=1 --gtest_filter="$filter" || status=1
  [ ! -x "$core" ] || "$@" "$core" --gtest_brief=1 --gtest_filter="$filter_core" || status=1
  "$@" "$cases" -backend cuda -size 1 "${without[@]}" || status=1
  # what ranks do: memory that another process has filled is unknown to the other tools
  if [ "$tool" = memcheck ]; then
    "$@" "$cases" -backend cuda -size 40 -case rrb || status=1 # more sums of blocks than the next kernel adds up
    [ -z "$mpiexec" ] || $mpiexec -n 2 "$@" "$cases" -backend cuda -size 1 || status=1
    for transport in ${mpiexec:+"${transports[@]}"}; do
      # NCCL asks for kernels that were not compiled for this device, and goes on without them
      [ "$transport" != nccl ] || set -- "$@" --report-api-errors no
      $mpiexec -n 2 "$@" "$petsc" -backend cuda -pc_rrb_transport "$transport" --gtest_brief=1 --gtest_filter="$small_ranks" || status=1
    done
  fi
  unset LD_PRELOAD PETSCRRB_KERNELS
  "$python" tests/sanitizer/kernels.py "$kernels" "${not_here[@]}" || [ "$tool" != memcheck ] || status=1
  rm -f "$kernels"
  return $status
}

# On two ranks: what depends on how values travel, in each way that there is here, and the rest.
run_ranks() {
  local status=0
  [ -n "$mpiexec" ] || { echo "this PETSc names no mpiexec"; return 0; }
  for transport in "${transports[@]}"; do
    $mpiexec -n 2 "$petsc" -backend cuda -pc_rrb_transport "$transport" --gtest_brief=1 --gtest_filter='RrbRanks*:GridMGRanks*' || status=1
  done
  $mpiexec -n 2 "$petsc" -backend cuda --gtest_brief=1 --gtest_filter='*Ranks*.*:RrbMemory.*:-RrbRanks*:GridMGRanks*' || status=1
  return $status
}

run_step() {
  case $1 in
  core) [ ! -x "$core" ] || "$core" --gtest_brief=1 ;;
  petsc) "$petsc" -backend cuda --gtest_brief=1 ;;
  small) "$petsc" -backend cuda -multiprocessors 1 --gtest_brief=1 --gtest_filter="$marching" ;;
  ranks) run_ranks ;;
  memcheck | racecheck | initcheck | synccheck) sanitize "$1" ;;
  clients) "$python" -m pytest -c tests/pytest.ini --rootdir=. -q tests/clients/test_device.py ;;
  *) echo "no step $1"; return 1 ;;
  esac
}

good=0 bad=()
for step in "${steps[@]}"; do
  echo "== $step"
  start=$SECONDS
  if run_step "$step"; then good=$((good + 1)); else bad+=("$step"); fi
  echo "== $step took $((SECONDS - start)) s"
done
echo "$good steps passed, ${#bad[@]} failed${bad:+: ${bad[*]}}"
[ ${#bad[@]} -eq 0 ]
