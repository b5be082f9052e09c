"""What de Jong, van der Ploeg, Ditzel and Vuik (ETNA 2017) measured on a Xeon E5-1620 and a GeForce Titan X."""
from math import sqrt

# Table 5.1: the device solver at 2047 x 2047 unknowns, l = 12, g = 4: ms for 19 iterations, GB/s (2^30 bytes), GFlop/s
BREAKDOWN = {
    "memcpy": (38.7, 2.6, None),
    "axpy": (11.0, 246.1, 30.9),
    "dotp": (4.9, 246.3, 31.0),
    "matvec": (18.3, 325.0, 36.4),
    "solver": (29.8, 299.1, 24.5),
    "rest": (24.4, None, None),
}

# Table 5.2: its forward substitution, us a grid, the finest first; then all below, on the host
FORWARD = (258, 172, 38, 13, 211)

# Table 5.3, by unknowns a side: iterations, then seconds of set-up and solve; l = 12, against PARALUTION's AMG
RRB_SOLVER = {
    63: (13, 0.012, 0.007),
    127: (16, 0.028, 0.010),
    255: (19, 0.042, 0.010),
    511: (20, 0.073, 0.018),
    1023: (20, 0.145, 0.042),
    2047: (19, 0.426, 0.142),
}
AMG = {
    63: (7, 0.075, 0.085),
    127: (8, 0.105, 0.128),
    255: (9, 0.121, 0.162),
    511: (10, 0.317, 0.241),
    1023: (13, 1.157, 0.498),
    2047: (16, 4.511, 1.084),
}

# Figure 5.4, as its text says it: times faster than naive storage on one thread; l = 12, g = 3
SPEEDUP = {"S2": 2.1, "S3": 4.9, "S4": 35.1}


def kappa_bound(levels):
    """The bound of the condition number by Notay, as the introduction cites it."""
    return sqrt(5) * (sqrt(5) - 1) ** (levels - 1) / (1 + (-1) ** levels * ((3 - sqrt(5)) / 2) ** (levels - 1))
