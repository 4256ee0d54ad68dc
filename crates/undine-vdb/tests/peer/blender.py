"""Says what Blender finds in a sequence of volumes, one fact per line, for a test to compare with what it knows.

    python blender.py FIRST_FILE FRAMES VOXELS

VOXELS is a file with a line `grid type x y z` for each voxel whose value is asked for in every frame; `type` is Blender's word
for what it samples: FLOAT or VECTOR. Values are those that Blender's own geometry nodes see.
"""
import os
import struct
import sys

import bpy

FIELDS = {"FLOAT": "value", "VECTOR": "vector"}
ATTRIBUTES = {"FLOAT": "FLOAT", "VECTOR": "FLOAT_VECTOR"}


def bits(number):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", number))


def text(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return bits(value)
    return ",".join(text(component) for component in value)


def sampler(volume, grid, kind, voxels):
    """An object with a vertex at each voxel's coordinates, whose attribute `found` is the grid's value there."""
    mesh = bpy.data.meshes.new(grid)
    mesh.from_pydata(voxels, [], [])
    sampler = bpy.data.objects.new(grid, mesh)
    bpy.context.collection.objects.link(sampler)

    tree = bpy.data.node_groups.new(grid, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    source = tree.nodes.new("GeometryNodeObjectInfo")
    source.inputs["Object"].default_value = volume
    named = tree.nodes.new("GeometryNodeGetNamedGrid")
    named.data_type = kind
    named.inputs["Name"].default_value = grid
    sample = tree.nodes.new("GeometryNodeSampleGridIndex")
    sample.data_type = kind
    place = tree.nodes.new("GeometryNodeInputPosition")
    axes = tree.nodes.new("ShaderNodeSeparateXYZ")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type = ATTRIBUTES[kind]
    store.domain = "POINT"
    store.inputs["Name"].default_value = "found"

    enabled = lambda sockets, name: next(s for s in sockets if s.enabled and s.name == name)
    link = tree.links.new
    link(source.outputs["Geometry"], named.inputs["Volume"])
    link(enabled(named.outputs, "Grid"), enabled(sample.inputs, "Grid"))
    link(place.outputs["Position"], axes.inputs["Vector"])
    for axis in "XYZ":
        link(axes.outputs[axis], sample.inputs[axis])
    link(tree.nodes.new("NodeGroupInput").outputs["Geometry"], store.inputs["Geometry"])
    link(enabled(sample.outputs, "Value"), enabled(store.inputs, "Value"))
    link(store.outputs["Geometry"], tree.nodes.new("NodeGroupOutput").inputs["Geometry"])
    sampler.modifiers.new("sample", "NODES").node_group = tree
    return sampler


def main():
    first, frames, voxels = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Nodes that look into grids are new in this version, and must be asked for.
    bpy.context.preferences.view.show_developer_ui = True
    bpy.context.preferences.experimental.use_new_volume_nodes = True

    # As a person does it, who selects all files of a folder: Blender sees that they are a sequence.
    folder = os.path.dirname(first)
    files = sorted(name for name in os.listdir(folder) if name.endswith(".vdb"))
    bpy.ops.object.volume_import(
        filepath=first,
        directory=folder,
        files=[{"name": name} for name in files],
        use_sequence_detection=True,
        align="WORLD",
    )
    volume = bpy.context.object
    print("sequence", volume.data.is_sequence, volume.data.frame_duration)

    asked = {}
    for line in open(voxels):
        grid, kind, *place = line.rsplit(maxsplit=4)
        asked.setdefault((grid, kind), []).append(tuple(int(c) for c in place))
    samplers = {key: sampler(volume, *key, places) for key, places in asked.items()}

    # It is only looked at when time moves.
    scene = bpy.context.scene
    scene.frame_set(0)
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        evaluated = volume.evaluated_get(graph)
        grids = evaluated.data.grids
        loaded = grids.load()
        print("frame", frame, loaded, grids.error_message or os.path.basename(grids.frame_filepath))
        corners = [tuple(corner) for corner in evaluated.bound_box]
        least, greatest = ([function(c[a] for c in corners) for a in range(3)] for function in (min, max))
        print("box", text(least), text(greatest))
        for grid in sorted(grids, key=lambda grid: grid.name):
            print("grid", grid.name, grid.data_type, grid.load())
            # Blender's matrices have columns where OpenVDB's have rows.
            print("matrix", text([grid.matrix_object[row][column] for column in range(4) for row in range(3)]))
        for (grid, kind), places in sorted(asked.items()):
            found = samplers[grid, kind].evaluated_get(graph).data.attributes["found"].data
            for place, value in zip(places, found):
                print("value", grid, *place, text(getattr(value, FIELDS[kind])))


main()
