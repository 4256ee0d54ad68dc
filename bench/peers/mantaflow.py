"""Blender's Mantaflow, as it comes, in a closed tank of 1 m, 24 frames a second, at most 4 substeps a frame.

`--kind liquid` breaks the dam of `flip-dam`: in a corner a column of 0.4 x 1 x 0.6 m (that is its height), a narrow band of
particles. `--kind gas` is the plume of `smoke`: a ball of 12 cm radius, 15 cm above the floor, out of which smoke comes.

  blender --background --threads 2 --python-exit-code 1 --python mantaflow.py -- --size 64

A frame's data are written as soon as it is simulated: frames after the warm-up are timed by when their files were last
written. Needs Blender itself (Debian's is 3.4); in the Python wheels called bpy Mantaflow does not work.
"""
import argparse
import glob
import os
import shutil
import sys
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument("--size", type=int, default=64, help="cells along the tank")
arguments.add_argument("--threads", type=int, default=2)
arguments.add_argument("--kind", choices=["liquid", "gas"], default="liquid")
arguments.add_argument("--warm-up", type=int, default=3, help="frames before those that are timed")
arguments.add_argument("--frames", type=int, default=12, help="the last frame")
arguments.add_argument("--band", type=float, default=3.0, help="cells with particles under the surface; 1000 is all")
options = arguments.parse_args(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else None)

# Mantaflow takes as many threads as it sees cores, whatever Blender was told.
if options.threads < os.cpu_count():
    os.sched_setaffinity(0, set(range(options.threads)))

import bpy  # noqa: E402  after the number of cores is settled


def fluid(thing, kind):
    """Makes an object part of the simulation."""
    modifier = thing.modifiers.new("Fluid", "FLUID")
    modifier.fluid_type = kind
    return modifier


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, options.frames
scene.render.fps = 24

bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 0.5))
tank = bpy.context.object
domain = fluid(tank, "DOMAIN").domain_settings
is_gas = options.kind == "gas"
domain.domain_type = "GAS" if is_gas else "LIQUID"
domain.resolution_max = options.size
for side in ["back", "front", "left", "right", "top", "bottom"]:
    setattr(domain, "use_collision_border_" + side, True)
domain.use_adaptive_timesteps = True
domain.cfl_condition = 2.0
domain.timesteps_min, domain.timesteps_max = 1, 4
if is_gas:
    domain.use_adaptive_domain = False
    domain.use_noise = False
else:
    domain.use_mesh = False
    domain.particle_band_width = options.band
cache = tempfile.mkdtemp(prefix="mantaflow-")
domain.cache_directory = cache
domain.cache_type = "MODULAR"
domain.cache_data_format = "UNI"
domain.cache_frame_start, domain.cache_frame_end = 1, options.frames

if is_gas:
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.12, location=(0, 0, 0.15))
    flow = fluid(bpy.context.object, "FLOW").flow_settings
    flow.flow_type = "SMOKE"
    flow.flow_behavior = "INFLOW"
else:
    bpy.ops.mesh.primitive_cube_add(size=1, location=(-0.3, 0, 0.3))
    column = bpy.context.object
    column.scale = (0.4, 1.0, 0.6)
    flow = fluid(column, "FLOW").flow_settings
    flow.flow_type = "LIQUID"
    flow.flow_behavior = "GEOMETRY"
try:
    bpy.context.view_layer.update()
except SystemError:
    pass  # Domains of gas raise it once in Blender 3.4, and bake all the same.
bpy.context.view_layer.objects.active = tank
tank.select_set(True)


def memory(key):
    """A figure of this process's memory [bytes]: VmRSS is what it has now, VmHWM the most that it had."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(key + ":"))


def written(frame):
    """When the last file of a frame was written [s]."""
    files = glob.glob(f"{cache}/data/*_{frame:04d}.*")
    if not files:
        sys.exit(f"frame {frame} is not in {cache}")
    return max(os.path.getmtime(file) for file in files)


# A process begins with the peak of the one that started it, which may be larger than all that follows.
with open("/proc/self/clear_refs", "w") as forget:
    forget.write("5")
before = memory("VmRSS")
try:
    with bpy.context.temp_override(object=tank, active_object=tank, selected_objects=[tank], scene=scene):
        bpy.ops.fluid.bake_data()
    seconds = (written(options.frames) - written(options.warm_up)) / (options.frames - options.warm_up)
finally:
    shutil.rmtree(cache, ignore_errors=True)
print(f"mantaflow: size={options.size} threads={options.threads} seconds_per_frame={seconds:.4f} "
      f"extra_bytes={memory('VmHWM') - before}", flush=True)
