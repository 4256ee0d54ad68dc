"""Makes scenes with Pixar's USD and prints, as JSON, where it says that every point is.

usage: usd_make.py FOLDER TIME...

Writes FOLDER/made.usda, the same as FOLDER/made.usdc and FOLDER/made.usd, and FOLDER/part.usdc, which they refer to.
"""

import json
import os
import random
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, Vt

folder, times = sys.argv[1], [float(time) for time in sys.argv[2:]]
random.seed(7)


def vector(scale=5.0):
    return Gf.Vec3d(*(random.uniform(-scale, scale) for _ in range(3)))


def cloud(stage, path, animated):
    points = UsdGeom.Points.Define(stage, path)
    for time in ([0.0, 10.0, 20.0] if animated else [Usd.TimeCode.Default()]):
        points.GetPointsAttr().Set(Vt.Vec3fArray([Gf.Vec3f(vector()) for _ in range(4)]), time)
        points.GetVelocitiesAttr().Set(Vt.Vec3fArray([Gf.Vec3f(vector()) for _ in range(4)]), time)
    return points


# A file to be referred to, in other time codes, with a default prim.
part = Usd.Stage.CreateNew(os.path.join(folder, "part.usdc"))
part.SetTimeCodesPerSecond(12)
root = UsdGeom.Xform.Define(part, "/Part")
root.AddTranslateOp().Set(vector(), 0.0)
root.GetOrderedXformOps()[0].Set(vector(), 10.0)
part.SetDefaultPrim(root.GetPrim())
cloud(part, "/Part/Cloud", True)
part.Save()

stage = Usd.Stage.CreateNew(os.path.join(folder, "made.usda"))
UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
UsdGeom.SetStageMetersPerUnit(stage, 0.5)
stage.SetTimeCodesPerSecond(24)
world = UsdGeom.Xform.Define(stage, "/World")
world.AddScaleOp().Set(Gf.Vec3f(1, 2, 3))
stage.SetDefaultPrim(world.GetPrim())

turns = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
for number, order in enumerate(turns):
    points = cloud(stage, f"/World/Turn{order}", number % 2 == 0)
    turn = getattr(points, f"AddRotate{order}Op")()
    turn.Set(Gf.Vec3f(vector(180)), 0.0)
    turn.Set(Gf.Vec3f(vector(180)), 20.0)

points = cloud(stage, "/World/Everything", True)
points.AddTranslateOp(opSuffix="pivot").Set(vector())
points.AddOrientOp(UsdGeom.XformOp.PrecisionFloat).Set(Gf.Quatf(Gf.Rotation(vector(), 70).GetQuat()), 0.0)
points.GetOrderedXformOps()[1].Set(Gf.Quatf(Gf.Rotation(vector(), 170).GetQuat()), 20.0)
points.AddScaleOp().Set(Gf.Vec3f(2, -1, 0.5))
points.AddTransformOp().Set(Gf.Matrix4d(Gf.Rotation(vector(), 33), vector()))
points.AddRotateYOp().Set(12.0)
points.AddTranslateOp(opSuffix="pivot", isInverseOp=True)

alone = cloud(stage, "/World/Alone", False)
alone.SetResetXformStack(True)
alone.AddTranslateOp().Set(vector())

given = stage.DefinePrim("/World/Given")
given.GetReferences().AddReference("./part.usdc", Sdf.LayerOffset(3, 2))
stage.DefinePrim("/World/Again").GetReferences().AddInternalReference("/World/TurnXYZ")
stage.Save()
for ending in ["usdc", "usd"]:
    stage.GetRootLayer().Export(os.path.join(folder, f"made.{ending}"))

told = []
for time in times:
    positions, velocities = {}, {}
    for prim in stage.Traverse():
        if not prim.IsA(UsdGeom.Points):
            continue
        points = UsdGeom.Points(prim)
        matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(time)
        path = str(prim.GetPath())
        positions[path] = [list(matrix.Transform(Gf.Vec3d(p))) for p in points.GetPointsAttr().Get(time)]
        velocities[path] = [list(matrix.TransformDir(Gf.Vec3d(v))) for v in points.GetVelocitiesAttr().Get(time)]
    told.append({"positions": positions, "velocities": velocities})
print(json.dumps(told))
