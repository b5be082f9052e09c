"""Multigrid of others, which questions compare with."""
GAMG = "-pc_type gamg"
BOOMERAMG = "-pc_type hypre -pc_hypre_type boomeramg"
CHEBYSHEV = "-mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi"


def tuned(dim, backend="host"):
    """BoomerAMG as hypre advises for GPUs, and in 3D for hosts: coarsening, interpolation and relaxation without an order, few
    entries a row of an interpolation, and in 3D an aggressively coarsened finest grid."""
    options = {"coarsen_type": "PMIS", "interp_type": "ext+i", "P_max": 4, "strong_threshold": 0.5 if dim == 3 else 0.25,
               "relax_type_all": "l1scaled-Jacobi" if backend == "cuda" else "l1scaled-SOR/Jacobi", "agg_nl": 1 if dim == 3 else 0}
    return " ".join([BOOMERAMG, *(f"-pc_hypre_boomeramg_{name} {value}" for name, value in options.items())])


def pcmg(n, smoother=CHEBYSHEV):
    """PCMG down to 9 points a side or so, coarser matrices from the fine one, one sweep before and after each coarser grid. n is
    2^k + 1, so that grids are nested."""
    return f"-dmda -pc_type mg -pc_mg_levels {n.bit_length() - 3} -pc_mg_galerkin both -mg_levels_ksp_max_it 1 {smoother}"
