"""What papers measured: de Jong, van der Ploeg, Ditzel and Vuik (ETNA 2017) on a Xeon E5-1620 and a GeForce Titan X, and at
the end, as its comment says, that of the incomplete Cholesky factorization on a Tesla C2050."""
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


# The paper of MICPCGA, a Xeon at 2.66 GHz and a Tesla C2050. Table 1: forward and backward substitution on points along x, y
# and z, ms on the host and on the GPU
SWEEPS = {
    (800, 800, 30): (1020, 125),
    (480, 480, 80): (1058, 101),
    (480, 480, 320): (4784, 278),
    (128, 128, 480): (458, 39),
    (512, 512, 256): (3958, 256),
    (128, 128, 1440): (1463, 67),
    (1440, 1440, 80): (9560, 893),
}

# Tables 2 and 3: the heat equation until t = 0.1; the error at (1/2, 1/2, 1/2), then seconds on the host and on the GPU
HEAT = {
    "M21": {"mic": (1.4347e-5, 3.71, 0.40), "ssor, approximate inverse": (6.2876e-5, 3.92, 0.42)},
    "M22": {"mic": (1.3019e-5, 23.91, 2.43), "ssor, approximate inverse": (5.9918e-5, 25.40, 2.60)},
    "M23": {"mic": (1.1893e-5, 63.58, 5.21), "ssor, approximate inverse": (3.1967e-5, 65.19, 7.02)},
    "M24": {"mic": (1.2184e-5, 9.62, 0.93), "ssor, approximate inverse": (5.7633e-5, 10.13, 1.03)},
    "M25": {"mic": (1.1834e-5, 39.36, 3.51), "ssor, approximate inverse": (5.2304e-5, 41.80, 4.24)},
}
