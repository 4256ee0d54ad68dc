"""Says what OpenVDB makes of a file of volumes, one fact per line.

    python3 volume.py FILE

For each grid its class, type and where voxel (1, 2, 3) is; of `surface` how many voxels of a cube are inside and the farthest of
its polygons' corners from the sphere; of `vel` the value of a voxel.
"""
import sys

import numpy
import pyopenvdb as vdb

grids = vdb.readAllGridMetadata(sys.argv[1])
for head in grids:
    grid = vdb.read(sys.argv[1], head.name)
    x, y, z = grid.transform.indexToWorld((1, 2, 3))
    print("grid", grid.name, grid.gridClass.replace(" ", "-") or "unknown", grid.valueTypeName, x, y, z)
    print("unit", grid.name, grid.metadata.get("unit", "-"))
    if grid.name == "surface":
        values = numpy.zeros((96, 96, 96), numpy.float32)
        grid.copyToArray(values, ijk=(-48, -48, -48))
        print("inside", (values < 0).sum())
        print("band", float(numpy.abs(values).max()), grid.background)
        corners, _, _ = grid.convertToPolygons(0, 0)
        away = numpy.abs(numpy.linalg.norm(corners - numpy.array([7.0, 0.0, 0.0]), axis=1) - 1.5).max()
        print("corners", len(corners), away)
    if grid.name == "vel":
        print("value", *grid.getConstAccessor().getValue((1, 2, 3)))
        print("vector", grid.metadata.get("vector_type", "-").replace(" ", "-"))
