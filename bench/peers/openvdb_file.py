"""OpenVDB: one grid from a file and to a file, with Debian's python3-openvdb.

    OPENVDB_DISABLE_DELAYED_LOAD=1 /usr/bin/python3 openvdb_file.py [--threads T] FILE

Reads the only grid of FILE, and writes it again beside it with OpenVDB's own settings (Blosc, active values); neither is synced.
Prints last `openvdb-file: key=value ...`, medians of five runs after one that does not count.
"""

import argparse
import os
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()

# Its thread pool has as many threads as the process may use cores when it starts.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])

import pyopenvdb as vdb

RUNS = 5


def median_seconds(work):
    times = []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        del result
    return statistics.median(times[1:])


(head,) = vdb.readAllGridMetadata(arguments.file)
read_seconds = median_seconds(lambda: vdb.read(arguments.file, head.name))

grid = vdb.read(arguments.file, head.name)
again = arguments.file + ".again"
write_seconds = median_seconds(lambda: vdb.write(again, grids=[grid]))
size = os.path.getsize(again)
os.remove(again)
print(
    f"openvdb-file: threads={arguments.threads} voxels={grid.activeVoxelCount()} "
    f"read_seconds={read_seconds:.4g} write_seconds={write_seconds:.4g} bytes={size}"
)
