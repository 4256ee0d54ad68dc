"""Says all that OpenVDB finds in a file, one fact per line, for a test to compare with what it knows.

    python3 describe.py FILE

Numbers are printed as the 16 digits of their double's bits, so that nothing is rounded on the way.
"""
import struct
import sys

import pyopenvdb as vdb


def bits(number):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", number))


def text(value):
    """A value of a grid or of metadata."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return bits(value)
    if isinstance(value, str):
        return value
    return ",".join(text(component) for component in value)


def matrix(transform):
    """The images of the three axes and of the origin: exact where the translation is no larger than the rest."""
    origin = transform.indexToWorld((0, 0, 0))
    axes = [transform.indexToWorld(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return [[a - o for a, o in zip(axis, origin)] for axis in axes] + [list(origin)]


def describe(grid):
    """The lines for a grid."""
    background = grid.background
    lines = [
        "grid " + grid.name,
        "type " + grid.valueTypeName,
        "class " + grid.gridClass,
        "half %d" % grid.saveFloatAsHalf,
        "background " + text(background),
        "transform " + " ".join(bits(number + 0.0) for row in matrix(grid.transform) for number in row),
        "leaves %d" % grid.leafCount(),
        "active %d" % grid.activeVoxelCount(),
    ]
    for name, value in sorted(grid.metadata.items()):
        if name not in ("name", "class", "is_saved_as_half_float") and not name.startswith("file_"):
            lines.append("meta %s %s" % (name, text(value)))
    # The root, which holds the largest tiles, is at depth 0; voxels are at depth 3.
    values = [
        (item.depth, tuple(item.min), item.active, item.value)
        for item in grid.citerAllValues()
        if item.active or item.value != background
    ]
    for depth, (x, y, z), active, value in sorted(values):
        lines.append("value %d %d %d %d %d %s" % (depth, x, y, z, active, text(value)))
    return lines


def main():
    grids, metadata = vdb.readAll(sys.argv[1])
    lines = ["file %s %s" % (name, text(value)) for name, value in sorted(metadata.items())]
    for grid in grids:
        lines += describe(grid)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
