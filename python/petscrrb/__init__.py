"""petscrrb for petsc4py: fast solvers and preconditioners on structured grids.

    import sys
    import petscrrb
    petscrrb.init(sys.argv)       # in place of petsc4py.init()
    from petsc4py import PETSc
    ...
    ksp.setType("rrb")

If something else initializes petsc4py, call petscrrb.load() at any time afterwards.
"""
from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

if TYPE_CHECKING:
    from petsc4py import PETSc

__all__ = ["LIBRARY", "PCType", "DeflationType", "Value", "init", "load", "set_pc", "set_deflation"]
__version__ = version("petscrrb")

LIBRARY = Path(__file__).parent / "libpetscrrb.so"
"""The plugin. Other programs can load it with -dll_append."""

PCType = Literal["rrb", "mic", "gridmg", "blockrelax", "neumann"]
DeflationType = Literal["none", "stripe", "block", "levelset", "user"]
Value = Union[bool, int, float, str, Sequence[int], Sequence[float]]


def init(args: str | Sequence[str] | None = None, arch: str | None = None, comm: Any = None) -> None:
    """Initializes petsc4py, with the arguments of petsc4py.init(), and loads the plugin."""
    import petsc4py

    petsc4py.init(args, arch, comm)
    load()


def load() -> None:
    """Registers the plugin's types with PETSc. Further calls do nothing.

    Initializes petsc4py without arguments if that has not been done; see init().

    Raises ImportError if the plugin was built with a PETSc other than that of petsc4py.
    """
    _check(_library().PetscRRBInitializePackage())


def set_pc(solver: PETSc.KSP | PETSc.PC, type: PCType, /, **options: Value) -> None:
    """Sets the type of a preconditioner, or of the preconditioner of a KSP, and options of that type.

        petscrrb.set_pc(ksp, "rrb", cycle="v", levels=8)

    is -pc_type rrb -pc_rrb_cycle v -pc_rrb_levels 8, for this preconditioner only. Options on the command line, or otherwise
    in the options database, take precedence.

    Raises TypeError for an option that the type does not have, and petsc4py.PETSc.Error for a value that it refuses.
    """
    load()
    pc = solver if solver.klass == "PC" else solver.getPC()
    pc.setType(type)
    _set(pc, f"pc_{type}_", options, lambda: pc.getType() == type)


def set_deflation(ksp: PETSc.KSP, type: DeflationType, /, **options: Value) -> None:
    """Wraps the preconditioner of a KSP in subdomain deflation, or unwraps it ("none").

        petscrrb.set_deflation(ksp, "block", blocks=(4, 4))

    is -ksp_deflation block -ksp_deflation_blocks 4,4, for this solver only. Otherwise like set_pc().
    """
    load()
    _set(ksp, "ksp_", {"deflation": type, **{f"deflation_{name}": value for name, value in options.items()}}, lambda: True)


def _set(
    solver: PETSc.KSP | PETSc.PC, prefix: str, options: Mapping[str, Value], has_type: Callable[[], bool]
) -> None:
    """has_type: whether the solver still has its type after the options database has been read."""
    whole = {f"{solver.getOptionsPrefix() or ''}{prefix}{name}": value for name, value in options.items()}
    with _in_database(whole) as added:
        solver.setFromOptions()
        unknown = [name for name in added if not _is_used(name)]
    if unknown and has_type():
        raise TypeError(f"no such option here: {', '.join('-' + name for name in unknown)}")


@contextlib.contextmanager
def _in_database(options: Mapping[str, Value]) -> Iterator[list[str]]:
    """Puts the options into PETSc's database meanwhile, except those that are there already. Yields the names of those added."""
    from petsc4py import PETSc

    database = PETSc.Options()
    added = [name for name in options if not database.hasName(name)]
    for name in added:
        database.setValue(name, _text(options[name]))
    try:
        yield added
    finally:
        for name in added:
            database.delValue(name)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(map(str, value))


def _library() -> ctypes.CDLL:
    from petsc4py import PETSc

    plugin = ctypes.CDLL(str(LIBRARY))
    # two libraries of PETSc can be in one process: the plugin would add its types to the wrong one
    if _address(plugin.PetscInitialize) != _address(ctypes.CDLL(PETSc.__file__).PetscInitialize):
        raise ImportError(
            f"petscrrb {__version__} was not built with the PETSc of petsc4py {'.'.join(map(str, PETSc.Sys.getVersion()))}: "
            f"set PETSC_DIR to that of petsc4py and reinstall petscrrb",
            name="petscrrb",
            path=str(LIBRARY),
        )
    return plugin


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


def _is_used(option: str) -> bool:
    used = ctypes.c_int(0)  # PetscBool has 4 bytes or, in newer PETSc, 1
    _check(_library().PetscOptionsUsed(None, option.encode(), ctypes.byref(used)))
    return bool(used.value)


def _check(code: int) -> None:
    if code:
        from petsc4py import PETSc

        raise PETSc.Error(code)
