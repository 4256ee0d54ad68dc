"""Prints the pixels of pictures as Blender reads them, from the top row down.

Of an EXR with several passes, Blender gives the pixels to its compositor only: that writes each pass to a file of its own.
"""

import os
import sys
import tempfile

import bpy


def answer(file, name, path):
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    width, height = image.size
    pixels = list(image.pixels)
    row = 4 * width
    rows = [pixels[n : n + row] for n in range(0, len(pixels), row)]
    flat = [repr(part) for row in reversed(rows) for part in row]
    print("answer:", file, name, width, height, *flat)


def passes(path, folder, size):
    scene = bpy.context.scene
    scene.use_nodes = True
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Raw"
    tree = scene.node_tree
    tree.nodes.clear()
    source = tree.nodes.new("CompositorNodeImage")
    source.image = bpy.data.images.load(path)
    tree.links.new(source.outputs[0], tree.nodes.new("CompositorNodeComposite").inputs[0])
    names = [output.name for output in source.outputs]
    sink = tree.nodes.new("CompositorNodeOutputFile")
    sink.base_path = folder
    sink.format.file_format = "OPEN_EXR"
    sink.format.color_depth = "32"
    sink.file_slots.clear()
    for name in names:
        sink.file_slots.new(name + "_")
        tree.links.new(source.outputs[name], sink.inputs[name + "_"])
    bpy.ops.render.render()
    for name in names:
        answer(os.path.basename(path), name, os.path.join(folder, f"{name}_{scene.frame_current:04}.exr"))


for path in sys.argv[1:]:
    if path.endswith(".exr"):
        with tempfile.TemporaryDirectory() as folder:
            passes(path, folder, (31, 17))
    else:
        answer(os.path.basename(path), "Combined", path)
