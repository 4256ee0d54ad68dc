"""What the peers that solve linear systems share: reading one, timing its solution, and the line that says how it went.

A system A x = b is a folder with `shape.txt` (rows and nonzeros, on one line) and the arrays of compressed sparse rows,
little-endian and nothing else in them: `indptr.i32`, `indices.i32`, `data.f64`, and the right-hand side `rhs.f64`.

Timed as Undine times itself: a warm-up, then the round whose total is the median of five. What takes long has fewer
rounds, so many that they take about a minute; if the warm-up alone took longer, it is what counts.
"""

import ctypes
import resource
import time
from pathlib import Path

import numpy as np

ROUNDS = (5, 3, 1)
SECONDS_FOR_ALL_ROUNDS = 60

LIBC = ctypes.CDLL(None)
clock = time.perf_counter


def add_arguments(parser):
    parser.add_argument("--system", type=Path, required=True, help="the folder of the system")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="residual at which to stop, relative to b")


class LinearSystem:
    """The arrays of a system as they stand in its folder."""

    def __init__(self, folder):
        self.rows, nonzeros = map(int, (folder / "shape.txt").read_text().split())
        self.indptr = np.fromfile(folder / "indptr.i32", "<i4")
        self.indices = np.fromfile(folder / "indices.i32", "<i4")
        self.data = np.fromfile(folder / "data.f64", "<f8")
        self.rhs = np.fromfile(folder / "rhs.f64", "<f8")
        lengths = (len(self.indptr) - 1, len(self.indices), len(self.data), len(self.rhs))
        if lengths != (self.rows, nonzeros, nonzeros, self.rows):
            raise SystemExit(f"{folder}: shape.txt says {self.rows} rows and {nonzeros} nonzeros, the files {lengths}")


def forbid_more_memory_than_there_is(processes=1):
    """Lets a solver that would need more fail with an error, instead of having the system kill a process of its choice."""
    share = memory_of("/proc/meminfo", "MemAvailable") // processes
    resource.setrlimit(resource.RLIMIT_DATA, (share, share))


class ExtraMemory:
    """Memory beyond what this process has when the object is made: the matrix in the peer's own form is not counted."""

    def __init__(self):
        # Memory that was freed but not given back would be used again, and nobody would see it.
        if hasattr(LIBC, "malloc_trim"):
            LIBC.malloc_trim(0)
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
        except OSError:
            pass  # then the peak is one since the process began, to the peer's disadvantage if at all
        self.before = memory_of("/proc/self/status", "VmRSS")

    def bytes(self):
        return max(0, memory_of("/proc/self/status", "VmHWM") - self.before)


def memory_of(file, name):
    line = next(line for line in Path(file).read_text().splitlines() if line.startswith(name + ":"))
    return 1024 * int(line.split()[1])


def rounds_after(warm_up_seconds):
    """How many rounds to time after a warm-up that took so long: 5, 3, 1, or none."""
    return next((rounds for rounds in ROUNDS if rounds * warm_up_seconds <= SECONDS_FOR_ALL_ROUNDS), 0)


def timed_rounds(round_, agree=lambda seconds: seconds):
    """Calls `round_` as often as the rule says. It returns (set-up seconds, solve seconds, ...); the first call is the warm-up.

    Gives the round that counts, and how many were timed. With several processes, `agree` makes one number of theirs.
    """
    warm_up = round_()
    rounds = [round_() for _ in range(rounds_after(agree(warm_up[0] + warm_up[1])))] or [warm_up]
    rounds.sort(key=lambda one: one[0] + one[1])
    return rounds[len(rounds) // 2], len(rounds)


def print_last_line(name, unknowns, threads, rounds, setup, solve, iterations, residual, extra_bytes):
    print(
        f"{name}: unknowns={unknowns} threads={threads} rounds={rounds} setup_seconds={setup:.5g} "
        f"solve_seconds={solve:.5g} iterations={iterations} residual={residual:.3e} extra_bytes={extra_bytes}"
    )
