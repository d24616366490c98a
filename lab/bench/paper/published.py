# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Numbers that the papers print, and the fabrics and patterns that they are about.

FORS: Stein et al., "FORS: Fault-adaptive Optimized Routing and Scheduling for DAQ Networks". Its figures 3 and 6 are pictures;
these are the values that its text gives, in Gbit/s per server.
MMF: Mollah, Yuan, Pakin, Lang, "Rapid Calculation of Max-Min Fair Rates for Multi-Commodity Flows in Fat-Tree Networks",
TPDS 2018 (doi 10.1109/TPDS.2017.2746078). Its figures 9 and 10 are pictures; the text gives the means. Intel i7-5820K, 3.3 GHz.
"""

FORS_HEALTHY = 141
FORS_LINK = 200  # Gbit/s of a cable
# (scenario, engine) -> Gbit/s per server
FORS_MEASURED = {
    ("0F", "ftree"): 141, ("1F SW0", "ftree"): 87, ("1F SW0", "fors, LMC 5"): 137, ("1F SW0,5,11", "fors, LMC 5"): 137,
}

# What the text says about figures 3 and 6, beside the values: (words, engine, left scenario, relation, right scenario)
FORS_SAYS = [
    ("two failures of one leaf cost what two spines cost", "ftree", "2F SW0", "=", "SW18,19 down"),
    ("nine failures at three leaves cost more than two spines", "ftree", "3F SW0,5,11", "<", "SW18,19 down"),
    ("FORS: one failure or three at different leaves are the same", "fors, LMC 5", "1F SW0", "=", "1F SW0,5,11"),
    ("FORS: two failures of one leaf, of three leaves ...", "fors, LMC 5", "2F SW0", "=", "2F SW0,5,11"),
    ("... and two spines are the same", "fors, LMC 5", "2F SW0", "=", "SW18,19 down"),
]

TREES = ["XGFT(2;12,24;1,12)", "XGFT(2;18,36;1,18)", "XGFT(3;12,12,24;1,12,12)", "XGFT(3;18,18,36;1,18,18)"]
# pattern -> problems that one measured time covers (MMF, section 4)
PROBLEMS = {"permutation": 20, "2DNN": 5, "RANDN(20)": 1}

# (tree, pattern) -> seconds; None: more than 30 hours. GEN is above 30 hours everywhere.
TABLE_1 = {
    (TREES[0], "permutation"): {"lp": 0.593, "pf": 0.150, "opt": 0.003, "dmk": 0.096},
    (TREES[0], "2DNN"): {"lp": 1.228, "pf": 0.145, "opt": 0.002, "dmk": 0.002},
    (TREES[0], "RANDN(20)"): {"lp": 127.618, "pf": 0.592, "opt": 0.033, "dmk": 0.093},
    (TREES[1], "permutation"): {"lp": 1.016, "pf": 0.348, "opt": 0.007, "dmk": 0.513},
    (TREES[1], "2DNN"): {"lp": 3.606, "pf": 0.324, "opt": 0.006, "dmk": 0.005},
    (TREES[1], "RANDN(20)"): {"lp": 323.986, "pf": 3.672, "opt": 0.007, "dmk": 0.532},
    (TREES[2], "permutation"): {"lp": 27.222, "pf": 4.172, "opt": 0.031, "dmk": 0.326},
    (TREES[2], "2DNN"): {"lp": 7.783, "pf": 2.278, "opt": 0.024, "dmk": 0.027},
    (TREES[2], "RANDN(20)"): {"lp": 30080.077, "pf": 3717.002, "opt": 10.189, "dmk": 29.63},
    (TREES[3], "permutation"): {"lp": 230.870, "pf": 26.151, "opt": 0.150, "dmk": 1.083},
    (TREES[3], "2DNN"): {"lp": 38.447, "pf": 13.532, "opt": 0.089, "dmk": 0.134},
    (TREES[3], "RANDN(20)"): {"lp": None, "pf": 96730.001, "opt": 310.650, "dmk": 782.923},
}
# One permutation on the smallest tree takes the generic program 1 h 49 min.
GEN_SMALLEST = 6540.0

# (tree, pattern) -> {threads: seconds}
TABLE_2 = {
    (TREES[2], "permutation"): {1: 0.031, 2: 0.032, 4: 0.038},
    (TREES[2], "2DNN"): {1: 0.024, 2: 0.025, 4: 0.024},
    (TREES[2], "RANDN(20)"): {1: 10.189, 2: 5.31, 4: 2.985},
    (TREES[3], "permutation"): {1: 0.150, 2: 0.137, 4: 0.115},
    (TREES[3], "2DNN"): {1: 0.089, 2: 0.092, 4: 0.085},
    (TREES[3], "RANDN(20)"): {1: 310.650, 2: 168.09, 4: 89.085},
}

# figure -> (tree, {map: mean of D-mod-K as a part of the optimum})
INDICES = {
    "figure9": ("XGFT(3;18,18,36;1,18,18)", {"direct": 0.89, "random": 0.77}),
    "figure10": ("XGFT(3;24,24,36;1,12,12)", {"direct": 0.89, "random": 0.81}),
}
# Table 4: seconds for one problem on the tree of figure 10, random map: pattern -> (DMK, OPT on four threads)
TABLE_4 = {
    "2DNN": (58.22, 1.25), "2DNNDIAG": (165.36, 7.75), "3DNN": (85.37, 2.87), "3DNNDIAG": (1149.33, 91.98),
    "permutation": (3.92, 0.04), "bisect": (0.52, 0.03), "shift": (3.86, 0.04), "RANDN(20)": (1168.79, 104.88),
    "RANDOM(20)": (1180.27, 119.64),
}
