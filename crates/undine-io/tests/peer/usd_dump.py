"""Opens a stage with Pixar's USD and prints, as JSON, all it has to say about it.

usage: usd_dump.py STAGE TIME...
"""

import json
import os
import sys
import tempfile

# Warnings go to standard error, from C++: catch them there.
complaints = tempfile.TemporaryFile()
os.dup2(complaints.fileno(), 2)

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdValidation, UsdVol  # noqa: E402, F401


def plain(value):
    """A value as numbers, strings and lists of them."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Sdf.AssetPath):
        return {"path": value.path, "found": os.path.isfile(value.resolvedPath)}
    if isinstance(value, (Gf.Quatf, Gf.Quatd, Gf.Quath)):
        return [value.GetReal(), *value.GetImaginary()]
    return [plain(item) for item in value]


stage = Usd.Stage.Open(sys.argv[1])
times = [float(time) for time in sys.argv[2:]]
prims = {}
for prim in stage.TraverseAll():
    attributes = {}
    for attribute in prim.GetAttributes():
        values = [plain(attribute.Get(time)) for time in times]
        if attribute.HasAuthoredValue() or any(value is not None for value in values):
            attributes[attribute.GetName()] = {
                "type": str(attribute.GetTypeName()),
                "interpolation": attribute.GetMetadata("interpolation"),
                "times": attribute.GetTimeSamples(),
                "values": values,
            }
    world = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform if prim.IsA(UsdGeom.Xformable) else None
    prims[str(prim.GetPath())] = {
        "type": prim.GetTypeName(),
        "attributes": attributes,
        "world": [plain(world(time)) for time in times] if world else None,
        "targets": {r.GetName(): [str(t) for t in r.GetTargets()] for r in prim.GetRelationships()},
    }

context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
faults = [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(stage)]

sys.stderr.flush()
complaints.seek(0)
print(json.dumps({
    "default": str(stage.GetDefaultPrim().GetPath()),
    "up": str(UsdGeom.GetStageUpAxis(stage)),
    "metres": UsdGeom.GetStageMetersPerUnit(stage),
    "fps": stage.GetTimeCodesPerSecond(),
    "range": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
    "prims": prims,
    "faults": faults,
    "complaints": complaints.read().decode(errors="replace"),
}))
