"""Solvers of sparse linear systems that have a Python package: AMGCL, PyAMG, MKL PARDISO, and SciPy's plain CG.

    python solvers.py --solver amgcl|pyamg|pardiso|scipy --system FOLDER [--threads T] [--tolerance R] [--indefinite]

Solves one symmetric system, as `linear_system.py` describes it, to the given residual. Prints last `NAME: key=value ...`
with the residual |b - A x| / |b| as computed here from the solution, and the memory taken beyond matrix and right-hand
side. The matrix is in the form that the solver takes before its clock starts.
"""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--solver", choices=("amgcl", "pyamg", "pardiso", "scipy"), required=True)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--indefinite", action="store_true", help="symmetric, but not positive definite")
arguments, _ = parser.parse_known_args()

# The libraries look at these when they are loaded. PyAMG and SciPy have one thread for all but dense blocks.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = str(arguments.threads)

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg

import linear_system
from linear_system import ExtraMemory, LinearSystem, clock

linear_system.add_arguments(parser)
arguments = parser.parse_args()
tolerance = arguments.tolerance
if arguments.indefinite and arguments.solver != "pardiso":
    raise SystemExit(f"{arguments.solver}: conjugate gradients want a positive definite matrix")

linear_system.forbid_more_memory_than_there_is()
system = LinearSystem(arguments.system)
A = sparse.csr_matrix((system.data, system.indices, system.indptr), shape=(system.rows, system.rows))
b = system.rhs


# Each of these gives a set-up, which returns what the solve needs, and a solve, which returns x and its iterations.


def amgcl():
    import pyamgcl

    def setup():
        hierarchy = pyamgcl.amg(A, {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0"})
        return pyamgcl.solver(hierarchy, {"type": "cg", "tol": tolerance, "maxiter": 500})

    def solve(solver):
        x = solver(b)
        return x, solver.iters

    return setup, solve


def pyamg():
    import pyamg

    def solve(hierarchy):
        residuals = []
        x = hierarchy.solve(b, tol=tolerance, accel="cg", maxiter=500, residuals=residuals)
        return x, len(residuals) - 1

    return lambda: pyamg.smoothed_aggregation_solver(A, max_coarse=500), solve


def pardiso():
    import pypardiso

    # Symmetric matrices are given by their upper triangle, diagonal included.
    upper = sparse.triu(A, format="csr")

    class Solver(pypardiso.PyPardisoSolver):
        def _check_A(self, A):
            """The original wants both triangles, and says that the other is missing."""

        def __del__(self):
            self.free_memory(everything=True)

    def setup():
        solver = Solver(mtype=-2 if arguments.indefinite else 2)
        solver.factorize(upper)
        return solver

    def solve(solver):
        solver.set_phase(33)
        return solver._call_pardiso(upper, b).ravel(), 1

    return setup, solve


def scipy():
    def solve(_):
        iterations = 0

        def count(_):
            nonlocal iterations
            iterations += 1

        x, _ = sparse.linalg.cg(A, b, rtol=tolerance, maxiter=20_000, callback=count)
        return x, iterations

    return lambda: None, solve


setup, solve = {"amgcl": amgcl, "pyamg": pyamg, "pardiso": pardiso, "scipy": scipy}[arguments.solver]()
extra_memory = ExtraMemory()
extra_bytes = None


def round_():
    global extra_bytes
    start = clock()
    solver = setup()
    ready = clock()
    x, iterations = solve(solver)
    end = clock()
    # Of the warm-up: later rounds find memory that earlier ones have left behind.
    extra_bytes = extra_bytes if extra_bytes is not None else extra_memory.bytes()
    return ready - start, end - ready, iterations, np.linalg.norm(b - A @ x) / np.linalg.norm(b)


(seconds, solve_seconds, iterations, residual), rounds = linear_system.timed_rounds(round_)
linear_system.print_last_line(
    arguments.solver, system.rows, arguments.threads, rounds, seconds, solve_seconds, iterations, residual, extra_bytes
)
