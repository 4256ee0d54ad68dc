"""OpenVDB: the level set of a mesh, `createLevelSetFromPolygons` of Debian's python3-openvdb (`meshToLevelSet`).

    /usr/bin/python3 openvdb_mesh.py [--size VOXELS_ACROSS] [--threads T]

The mesh is the torus of the benchmark `mesh-sdf`: 1000 by 500 quads, cut into triangles, 1 m across; the band is three voxels
wide on either side. Prints last `openvdb-mesh: key=value ...`, `rate` in triangles per second, the median of five runs.
"""

import argparse
import os
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=256, help="voxels across")
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()

# Its thread pool has as many threads as the process may use cores when it starts.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])

import numpy as np
import pyopenvdb as vdb

ALONG, AROUND = 1000, 500
RING, TUBE = 0.35, 0.15
RUNS = 5

s = 2 * np.pi * np.arange(ALONG)[:, None] / ALONG
t = 2 * np.pi * np.arange(AROUND)[None, :] / AROUND
across = RING + TUBE * np.cos(t)
points = np.stack([across * np.cos(s), across * np.sin(s), TUBE * np.sin(t) + 0 * s], axis=-1)
points = points.reshape(-1, 3).astype(np.float32)

i, j = np.arange(ALONG)[:, None], np.arange(AROUND)[None, :]
a, b, c, d = ((i + di) % ALONG * AROUND + (j + dj) % AROUND for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)))
triangles = np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])
triangles = triangles.astype(np.uint32)

transform = vdb.createLinearTransform(voxelSize=1 / arguments.size)


def seconds_per_mesh():
    start = time.perf_counter()
    grid = vdb.FloatGrid.createLevelSetFromPolygons(points, triangles=triangles, transform=transform, halfWidth=3.0)
    return time.perf_counter() - start, grid.activeVoxelCount()


seconds_per_mesh()
runs = [seconds_per_mesh() for _ in range(RUNS)]
seconds = statistics.median(seconds for seconds, _ in runs)
print(
    f"openvdb-mesh: size={arguments.size} threads={arguments.threads} voxels={runs[0][1]} "
    f"seconds={seconds:.4g} rate={len(triangles) / seconds:.4g}"
)
