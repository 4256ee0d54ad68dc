"""Opens a stage with OpenUSD and with Blender, and prints, as JSON, where the corners of its meshes are at each frame.

usage: shapes.py STAGE FRAME...

Of each prim, by the path in the scene that it says: the corners in the world that OpenUSD finds, and those of the object of its name in
Blender, whose z axis points up.
"""

import json
import sys

import bpy
from pxr import Usd, UsdGeom

stage = Usd.Stage.Open(sys.argv[1])
told = {"up": UsdGeom.GetStageUpAxis(stage), "frames": {}}
names = {}
for text in sys.argv[2:]:
    frame = float(text)
    found = told["frames"].setdefault(text, {})
    for prim in stage.Traverse():
        path = prim.GetAttribute("undine:path")
        if not path:
            continue
        names[path.Get()] = prim.GetName()
        matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(frame)
        points = UsdGeom.Mesh(prim).GetPointsAttr().Get(frame)
        found[path.Get()] = {
            "kind": prim.GetAttribute("undine:kind").Get(),
            "infinite": bool(prim.GetAttribute("undine:infinite").Get()),
            "usd": [list(matrix.Transform(point)) for point in points],
        }

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=sys.argv[1])
for text in sys.argv[2:]:
    bpy.context.scene.frame_set(int(text))
    graph = bpy.context.evaluated_depsgraph_get()
    for path, name in names.items():
        made = bpy.data.objects[name].evaluated_get(graph)
        corners = [list(made.matrix_world @ vertex.co) for vertex in made.data.vertices]
        told["frames"][text][path]["blender"] = corners
print(json.dumps(told))
