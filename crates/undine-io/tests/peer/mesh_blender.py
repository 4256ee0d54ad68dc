"""Opens files of meshes and points in Blender, and says what it finds in each: counts, box and attributes."""

import json
import os
import sys

import bpy

OPEN = {
    "ply": lambda path: bpy.ops.wm.ply_import(filepath=path),
    "obj": lambda path: bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z"),
    "stl": lambda path: bpy.ops.wm.stl_import(filepath=path),
    "glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
}


def numbers(attribute):
    key = "vector" if attribute.data_type == "FLOAT_VECTOR" else "value"
    return [getattr(item, key) for item in attribute.data]


def found(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    OPEN[path.rsplit(".", 1)[1]](path)
    mesh_object = next(thing for thing in bpy.data.objects if thing.type == "MESH")
    mesh = mesh_object.data
    places = [mesh_object.matrix_world @ vertex.co for vertex in mesh.vertices]
    return {
        "vertices": len(mesh.vertices),
        "edges": len(mesh.edges),
        "faces": len(mesh.polygons),
        "min": [min(place[axis] for place in places) for axis in range(3)],
        "max": [max(place[axis] for place in places) for axis in range(3)],
        "attributes": {
            attribute.name: numbers(attribute)
            for attribute in mesh.attributes
            if attribute.domain == "POINT" and attribute.data_type == "FLOAT"
        },
    }


print("answer:" + json.dumps([found(path) for path in sys.argv[1:]]), flush=True)
# Blender as a module falls over its own end after its glTF importer has run.
os._exit(0)
