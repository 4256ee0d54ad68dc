"""Makes grids of all that OpenVDB's Python module reaches, and writes them as OpenVDB does.

    python3 make.py FILE
"""
import math
import sys

import numpy
import pyopenvdb as vdb

HUGE = 2**31 - 1


def named(grid, name, **attributes):
    grid.name = name
    for key, value in attributes.items():
        setattr(grid, key, value)
    return grid


def voxels(grid, values, active=True):
    accessor = grid.getAccessor()
    for place, value in values.items():
        (accessor.setValueOn if active else accessor.setValueOff)(place, value)
    return grid


def noise(shape, seed):
    return numpy.random.default_rng(seed).random(shape, dtype=numpy.float32)


def fog(seed, corner=(8, 3, 16)):
    grid = vdb.FloatGrid()
    cloud = numpy.maximum(noise((20, 17, 30), seed) - 0.3, 0)
    grid.copyFromArray(cloud, ijk=corner, tolerance=0.0)
    return grid


def tiles(kind, values):
    """Tiles of every level, active and not, with a hole in each."""
    grid = kind()
    grid.fill((0, 0, 0), (4095, 4095, 4095), values[0])
    grid.fill((-4096, 0, 0), (-1, 4095, 4095), values[1], False)
    grid.fill((-256, -128, 128), (-129, -1, 255), values[1])
    grid.fill((-128, -128, 128), (-1, -1, 255), values[2], False)
    grid.fill((-16, -8, -8), (-1, -1, -1), values[2])
    grid.fill((-32, -8, -8), (-17, -1, -1), values[1], False)
    voxels(grid, {(5, 6, 7): values[3], (-200, -64, 200): values[3]})
    return grid


def inactive(*values):
    """Inactive voxels with some values other than the background."""
    grid = vdb.FloatGrid(2.5)
    places = [(x, y, z) for x in range(8) for y in range(8) for z in range(8)]
    for index, place in enumerate(places):
        grid.getAccessor().setValueOff(place, values[index % len(values)])
    voxels(grid, {place: 0.125 * index for index, place in enumerate(places) if index % 7 == 0})
    return grid


def linear(rows):
    return vdb.createLinearTransform([list(row) for row in rows])


def placed():
    turn = math.pi / 5
    cos, sin = math.cos(turn), math.sin(turn)
    uniform = vdb.createLinearTransform(0.125)
    moved = vdb.createLinearTransform(0.125)
    moved.translate((3.0, -0.5, 1000.0))
    scaled = linear([(0.5, 0, 0, 0), (0, 0.25, 0, 0), (0, 0, 2, 0), (0, 0, 0, 1)])
    scaled_moved = linear([(0.5, 0, 0, 0), (0, 0.25, 0, 0), (0, 0, 2, 0), (1, 2, 3, 1)])
    turned = linear([(cos, sin, 0, 0), (-sin, cos, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
    sheared = linear([(0.5, 0.25, 0, 0), (0, 0.5, 0, 0), (0, 0, 0.5, 0), (-1, 0, 4, 1)])
    mirrored = linear([(-0.5, 0, 0, 0), (0, 0.5, 0, 0), (0, 0, 0.5, 0), (0, 0, 0, 1)])
    transforms = [uniform, moved, scaled, scaled_moved, turned, sheared, mirrored]
    return [
        named(voxels(vdb.FloatGrid(), {(1, 2, 3): 4.0}), "placed %d" % index, transform=transform)
        for index, transform in enumerate(transforms)
    ]


def with_metadata():
    grid = named(voxels(vdb.FloatGrid(), {(0, 0, 0): 1.0}), "metadata", creator="make.py")
    grid["truth"] = True
    grid["whole"] = -(2**40)
    grid["real"] = math.pi
    grid["text"] = "Zürich"
    grid["empty text"] = ""
    for count in (2, 3, 4):
        grid["whole %d" % count] = tuple(range(-1, count - 1))
        grid["real %d" % count] = tuple(0.1 * index for index in range(count))
    return grid


def gallery():
    sphere = vdb.createLevelSetSphere(radius=4.0, center=(1, 2, -3), voxelSize=0.5, halfWidth=3.0)
    ball = vdb.createLevelSetSphere(radius=3.0, center=(9, 9, 9), voxelSize=0.25, halfWidth=3.0)
    staggered = vdb.Vec3SGrid((0.0, -1.0, 0.5))
    staggered.copyFromArray(noise((9, 10, 11, 3), 3), ijk=(4, 5, 100), tolerance=(0.0, 0.0, 0.0))
    on = vdb.BoolGrid()
    on.fill((-3, -3, -3), (12, 9, 9), True)
    voxels(on, {(-9, 0, 0): True, (-9, 0, 1): True}, active=False)
    voxels(on, {(-9, 1, 0): False, (-9, 1, 1): True})
    shared = named(fog(5), "shared")
    return [
        named(vdb.FloatGrid(0.5), "empty"),
        named(voxels(vdb.FloatGrid(), {(0, 0, 0): -1.5}), "one"),
        named(sphere, "level set"),
        named(ball, "half level set", saveFloatAsHalf=True),
        named(fog(1, corner=(-7, 3, -11)), "fog", gridClass="fog volume"),
        named(fog(2), "half fog", gridClass="fog volume", saveFloatAsHalf=True),
        named(staggered, "staggered", gridClass="staggered", vectorType="contravariant relative"),
        named(staggered.deepCopy(), "half staggered", saveFloatAsHalf=True),
        named(on, "bool"),
        named(tiles(vdb.FloatGrid, [1.0, -2.0, 0.5, 9.0]), "float tiles"),
        named(tiles(vdb.Vec3SGrid, [(1, 2, 3), (4, 5, 6), (7, 8, 9), (0.5, 0, 0)]), "vector tiles"),
        named(tiles(vdb.BoolGrid, [True, True, True, False]), "bool tiles"),
        named(inactive(-2.5), "inactive -background"),
        named(inactive(-2.5, 2.5), "inactive both"),
        named(inactive(7.0), "inactive one"),
        named(inactive(7.0, 2.5), "inactive one and background"),
        named(inactive(7.0, 8.0), "inactive two"),
        named(inactive(7.0, 8.0, 9.0), "inactive three"),
        named(
            voxels(vdb.FloatGrid(), {(HUGE, -HUGE - 1, 5): 1.0, (-HUGE - 1, HUGE, HUGE): 2.0}),
            "huge coordinates",
        ),
        named(
            voxels(vdb.FloatGrid(), {(0, 0, 0): math.inf, (0, 0, 1): -math.inf, (0, 0, 2): -0.0}),
            "not numbers",
        ),
        with_metadata(),
        *placed(),
        named(fog(3), "same"),
        named(fog(4), "same"),
        named(fog(6), ""),
        shared,
        named(shared.copy(), "sharing"),
    ]


if __name__ == "__main__":
    metadata = {"maker": "make.py", "frame": 7, "time": 0.25}
    vdb.write(sys.argv[1], grids=gallery(), metadata=metadata)
