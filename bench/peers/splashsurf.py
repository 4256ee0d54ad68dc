"""splashsurf: the surface of particles, by `pysplashsurf`.

    python splashsurf.py POSITIONS --radius METRES [--cube RADII] [--threads T]

POSITIONS is a file of 32-bit floats, three for each particle. Smoothing length 2 radii, threshold 0.6, grid of subdomains: its defaults.
Plain is the reconstruction alone; smoothed has mesh clean-up, weighted smoothing of 25 iterations and normals smoothed ten times.
Prints last `splashsurf: key=value ...`, the median of three runs.
"""

import argparse
import os
import resource
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("positions")
parser.add_argument("--radius", type=float, required=True)
parser.add_argument("--cube", type=float, default=0.75, help="in radii")
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()
os.environ["RAYON_NUM_THREADS"] = str(arguments.threads)

import numpy as np
import pysplashsurf

RUNS = 3
positions = np.fromfile(arguments.positions, dtype="<f4").reshape(-1, 3)
# Lengths of the pipeline are in radii.
common = dict(
    particle_radius=arguments.radius,
    rest_density=1000.0,
    smoothing_length=2.0,
    cube_size=arguments.cube,
    iso_surface_threshold=0.6,
)
plain = dict(mesh_smoothing_weights=False)
smoothed = dict(
    mesh_cleanup=True,
    mesh_smoothing_weights=True,
    mesh_smoothing_iters=25,
    compute_normals=True,
    normals_smoothing_iters=10,
)


def seconds(options):
    start = time.perf_counter()
    mesh = pysplashsurf.reconstruction_pipeline(positions, **common, **options)[0]
    mesh = getattr(mesh, "mesh", mesh)
    return time.perf_counter() - start, len(mesh.triangles)


found = {name: [seconds(options) for _ in range(RUNS)] for name, options in (("plain", plain), ("smoothed", smoothed))}
plain_seconds, smoothed_seconds = (statistics.median(run[0] for run in found[name]) for name in ("plain", "smoothed"))
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(
    f"splashsurf: particles={len(positions)} threads={arguments.threads} triangles={found['plain'][0][1]} "
    f"plain_seconds={plain_seconds:.4g} smoothed_seconds={smoothed_seconds:.4g} peak_bytes={peak}"
)
