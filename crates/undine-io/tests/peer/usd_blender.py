"""Imports a stage into Blender and prints, as JSON, what is there at each frame.

usage: usd_blender.py STAGE FRAME...
"""

import json
import sys

import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=sys.argv[1])
scene = bpy.context.scene
frames = {}
for text in sys.argv[2:]:
    scene.frame_set(int(text))
    graph = bpy.context.evaluated_depsgraph_get()
    objects = {}
    for item in bpy.data.objects:
        made = item.evaluated_get(graph)
        data = made.data
        told = {"type": item.type}
        if hasattr(data, "attributes"):
            for attribute in data.attributes:
                values = []
                for value in attribute.data:
                    field = "vector" if hasattr(value, "vector") else "value"
                    if hasattr(value, field):
                        got = getattr(value, field)
                        values.append(got if isinstance(got, (bool, int, float)) else list(got))
                told[attribute.name] = {
                    "domain": attribute.domain, "type": attribute.data_type, "values": values}
        if item.type == "MESH":
            told["polygons"] = [list(polygon.vertices) for polygon in data.polygons]
        if item.type == "VOLUME":
            # Its message of an error may still be about the frame before the first, which it looks for on import.
            data.grids.load()
            told["loaded"] = data.grids.is_loaded
            told["file"] = data.grids.frame_filepath
            told["grids"] = [grid.name for grid in data.grids]
            told["sequence"] = [data.is_sequence, data.frame_start, data.frame_duration]
        told["world"] = [list(row) for row in made.matrix_world]
        told["box"] = [list(corner) for corner in made.bound_box] if data else None
        objects[item.name] = told
    frames[text] = objects
print("answer:" + json.dumps({"fps": scene.render.fps, "range": [scene.frame_start, scene.frame_end], "frames": frames}))
