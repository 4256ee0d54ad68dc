"""Taichi on the CPU: one MLS-MPM step (Hu et al. 2018), weakly compressible water, quadratic kernels, single precision.

    python taichi_mpm.py [--size PARTICLES] [--grid CELLS_ACROSS] [--threads T] [--sorted] [--steps S]

A step clears the grid, scatters momentum and mass from particles to grid (with atomics), updates the grid, and gathers
velocity and affine matrix back to the particles. The kernels follow `taichi/examples/simulation/mpm3d.py`, which ships
with Taichi. Prints last `taichi-mpm: key=value ...`, `rate` in particles per second, the median of five runs of S steps.
"""

import argparse
import statistics
import time

import numpy as np
import taichi as ti

# The liquid begins as a block that fills this part of the unit box.
CORNER, EXTENT = np.array([0.05, 0.05, 0.05]), np.array([0.4, 0.6, 0.5])
RUNS = 5

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=4_000_000, help="particles")
parser.add_argument("--grid", type=int, help="cells across the box (default: eight particles per cell)")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--sorted", action="store_true", help="particles in the order of their cells (default: at random)")
parser.add_argument("--steps", type=int, default=3, help="steps per timed run")
arguments = parser.parse_args()

count = arguments.size
# No fewer than 16 cells, or the block would touch the walls' layer.
cells = arguments.grid or max(16, round((count / (8 * EXTENT.prod())) ** (1 / 3)))

ti.init(arch=ti.cpu, cpu_max_num_threads=arguments.threads, offline_cache=False, log_level=ti.WARN)

dx = 1 / cells
dt = 3.2e-3 / cells  # a quarter of the shipped example's step, which is 4e-4 at 32 cells
volume = (dx / 2) ** 3
mass = volume * 1.0
stiffness, gravity, wall = 400.0, 9.8, 3

position = ti.Vector.field(3, ti.f32, count)
velocity = ti.Vector.field(3, ti.f32, count)
affine = ti.Matrix.field(3, 3, ti.f32, count)
expansion = ti.field(ti.f32, count)
grid_velocity = ti.Vector.field(3, ti.f32, (cells,) * 3)
grid_mass = ti.field(ti.f32, (cells,) * 3)


@ti.func
def kernel_at(x):
    """First cell, offset from it in cells, and the quadratic B-spline's three weights per axis."""
    base = int(x / dx - 0.5)
    f = x / dx - base
    return base, f, ti.Matrix.rows([0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2])


@ti.kernel
def step():
    for cell in ti.grouped(grid_mass):
        grid_velocity[cell] = ti.zero(grid_velocity[cell])
        grid_mass[cell] = 0

    # Particles to grid.
    ti.loop_config(block_dim=128)
    for p in position:
        base, f, w = kernel_at(position[p])
        pressure = -dt * 4 * stiffness * volume * (expansion[p] - 1) / dx**2
        momentum_gradient = pressure * ti.Matrix.identity(ti.f32, 3) + mass * affine[p]
        for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            weight = w[o[0], 0] * w[o[1], 1] * w[o[2], 2]
            away = (o - f) * dx
            grid_velocity[base + o] += weight * (mass * velocity[p] + momentum_gradient @ away)
            grid_mass[base + o] += weight * mass

    # Grid: momentum to velocity, gravity, walls that let nothing in or out.
    for cell in ti.grouped(grid_mass):
        if grid_mass[cell] > 0:
            grid_velocity[cell] /= grid_mass[cell]
        grid_velocity[cell][1] -= dt * gravity
        u = grid_velocity[cell]
        blocked = (cell < wall) & (u < 0) | (cell > cells - wall) & (u > 0)
        grid_velocity[cell] = ti.select(blocked, 0, u)

    # Grid to particles.
    ti.loop_config(block_dim=128)
    for p in position:
        base, f, w = kernel_at(position[p])
        u = ti.zero(velocity[p])
        c = ti.zero(affine[p])
        for o in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            weight = w[o[0], 0] * w[o[1], 1] * w[o[2], 2]
            away = (o - f) * dx
            grid_u = grid_velocity[base + o]
            u += weight * grid_u
            c += 4 * weight * grid_u.outer_product(away) / dx**2
        velocity[p] = u
        position[p] += dt * u
        expansion[p] *= 1 + dt * c.trace()
        affine[p] = c


def seconds_per_step():
    start = time.perf_counter()
    for _ in range(arguments.steps):
        step()
    ti.sync()
    return (time.perf_counter() - start) / arguments.steps


points = CORNER + EXTENT * np.random.default_rng(1).random((count, 3))
if arguments.sorted:
    i, j, k = (points * cells).astype(np.int64).T
    points = points[np.lexsort((k, j, i))]
position.from_numpy(points.astype(np.float32))
expansion.fill(1)

seconds_per_step()  # compiles
seconds = statistics.median(seconds_per_step() for _ in range(RUNS))

if not np.isfinite(position.to_numpy()).all():
    raise SystemExit("taichi-mpm: positions are not finite, the rate means nothing")
order = "sorted" if arguments.sorted else "random"
print(
    f"taichi-mpm: size={count} grid={cells} threads={arguments.threads} order={order} "
    f"seconds={seconds:.4g} rate={count / seconds:.4g}"
)
