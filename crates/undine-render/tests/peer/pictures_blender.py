"""Prints the pixels of pictures as Blender reads them, from the top row down."""

import sys

import bpy

for path in sys.argv[1:]:
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    width, height = image.size
    pixels = list(image.pixels)
    row = 4 * width
    rows = [pixels[n : n + row] for n in range(0, len(pixels), row)]
    flat = [repr(part) for row in reversed(rows) for part in row]
    print("answer:", width, height, *flat)
