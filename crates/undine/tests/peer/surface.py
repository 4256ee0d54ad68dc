"""Opens a stage and a PLY file with Blender, and prints, as JSON, what mesh each has: vertices, triangles, velocities.

usage: surface.py STAGE OBJECT FRAME PLY
"""

import json
import sys

import bpy


def told(thing):
    """The mesh of an object as it is shown, in the world."""
    made = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, matrix = made.data, made.matrix_world
    vectors = {
        name: [list(matrix.to_3x3() @ value.vector) for value in mesh.attributes[name].data]
        for name in ["velocity", "v"]
        if name in mesh.attributes and mesh.attributes[name].data_type == "FLOAT_VECTOR"
    }
    split = [mesh.attributes.get("v" + axis) for axis in "xyz"]
    if all(split):
        vectors["v"] = [list(value) for value in zip(*[[item.value for item in axis.data] for axis in split])]
    return {
        "vertices": [list(matrix @ vertex.co) for vertex in mesh.vertices],
        "triangles": [list(polygon.vertices) for polygon in mesh.polygons],
        "attributes": sorted(attribute.name for attribute in mesh.attributes),
        "vectors": vectors,
    }


stage, name, frame, ply = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=stage)
bpy.context.scene.frame_set(int(frame))
answer = {"usd": told(bpy.data.objects[name])}
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.ply_import(filepath=ply)
answer["ply"] = told(next(thing for thing in bpy.data.objects if thing.type == "MESH"))
print(json.dumps(answer))
