"""Algebraic multigrid through Debian's PETSc: hypre's BoomerAMG, and PETSc's own GAMG.

    mpirun -n RANKS /usr/bin/python3 petsc_solve.py --pc hypre|gamg --system FOLDER [--tolerance R]

Solves one symmetric positive definite system, as `linear_system.py` describes it, by preconditioned CG to the given
residual, each rank with its share of the rows. Prints last `NAME: key=value ...` with the residual |b - A x| / |b| as
computed here from the solution, and the memory of all ranks beyond matrix and right-hand side.
"""

import argparse
import glob
import os
import sys

# Ranks take the place of threads.
os.environ["OMP_NUM_THREADS"] = "1"
# Debian keeps petsc4py beside PETSc, where Python does not look.
sys.path[:0] = sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages"))

import petsc4py

petsc4py.init([])

from petsc4py import PETSc

import linear_system
from linear_system import ExtraMemory, LinearSystem, clock

# Chosen by hand for 7-point Poisson matrices in three dimensions: less work per iteration than by hypre's defaults, and less
# memory, for more iterations.
BOOMERAMG = {
    "strong_threshold": 0.5,
    "coarsen_type": "HMIS",
    "interp_type": "ext+i",
    "agg_nl": 1,
    "P_max": 4,
    "relax_type_all": "symmetric-SOR/Jacobi",
}

parser = argparse.ArgumentParser()
parser.add_argument("--pc", choices=("hypre", "gamg"), required=True)
linear_system.add_arguments(parser)
arguments = parser.parse_args()

comm = PETSc.COMM_WORLD
ranks, rank = comm.getSize(), comm.getRank()


def over_ranks(value):
    """The values of all ranks, as a vector."""
    vector = PETSc.Vec().createMPI((1, ranks), comm=comm)
    vector.setArray([value])
    return vector


def barrier_and_clock():
    comm.Barrier()
    return clock()


linear_system.forbid_more_memory_than_there_is(ranks)
system = LinearSystem(arguments.system)
rows = system.rows
first, end = rows * rank // ranks, rows * (rank + 1) // ranks
begin, stop = system.indptr[first], system.indptr[end]
mine = (system.indptr[first : end + 1] - begin, system.indices[begin:stop], system.data[begin:stop])
A = PETSc.Mat().createAIJ(size=((end - first, rows), (end - first, rows)), csr=mine, comm=comm)
A.assemble()
A.setOption(PETSc.Mat.Option.SPD, True)
x, b = A.createVecs()
b.setArray(system.rhs[first:end])
del system, mine

options = PETSc.Options()
if arguments.pc == "hypre":
    options["pc_hypre_type"] = "boomeramg"
    for key, value in BOOMERAMG.items():
        options["pc_hypre_boomeramg_" + key] = value

extra_memory = ExtraMemory()
extra_bytes = None


def round_():
    global extra_bytes
    x.set(0)
    start = barrier_and_clock()
    ksp = PETSc.KSP().create(comm)
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=arguments.tolerance, max_it=500)
    ksp.getPC().setType(arguments.pc)
    ksp.setFromOptions()
    ksp.setUp()
    ready = barrier_and_clock()
    ksp.solve(b, x)
    end = barrier_and_clock()

    # Of the warm-up: later rounds find memory that earlier ones have left behind.
    extra_bytes = extra_bytes if extra_bytes is not None else int(over_ranks(extra_memory.bytes()).sum())
    iterations = ksp.getIterationNumber()
    ksp.destroy()
    residual = b.duplicate()
    A.mult(x, residual)
    residual.axpy(-1, b)
    return ready - start, end - ready, iterations, residual.norm() / b.norm()


def slowest(seconds):
    return over_ranks(seconds).max()[1]


(setup, solve, iterations, residual), rounds = linear_system.timed_rounds(round_, agree=slowest)
if rank == 0:
    linear_system.print_last_line(
        arguments.pc, rows, ranks, rounds, setup, solve, iterations, residual, extra_bytes
    )
