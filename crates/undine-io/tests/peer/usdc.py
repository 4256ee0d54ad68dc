"""Says what Pixar's USD makes of crates.

usage: usdc.py values CRATE         every attribute of a layer, with its values to the bit, a line each
       usdc.py same LAYER LAYER     nothing, if the two say the same
       usdc.py rewrite LAYER CRATE  nothing: writes the layer again, as Pixar's library does
       usdc.py stage LAYER          the paths of all prims, once each attribute was asked for at some times

Fails if anything is warned of.
"""

import difflib
import os
import struct
import sys
import tempfile

# Warnings go to standard error, from C++: catch them there. Old versions are read on purpose.
complaints = tempfile.TemporaryFile()
errors = os.dup(2)
os.dup2(complaints.fileno(), 2)
os.environ["PXR_USDC_EMIT_DEPRECATION_WARNINGS"] = "0"
os.environ["USD_WRITE_NEW_USDC_FILES_AS_VERSION"] = "0.10.0"

from pxr import Sdf, Usd  # noqa: E402


def flat(value):
    """The numbers and texts of a value, one after another."""
    if isinstance(value, Sdf.ValueBlock):
        return ["block"]
    if isinstance(value, bool):
        return [str(int(value))]
    if isinstance(value, int):
        return [str(value)]
    if isinstance(value, float):
        return [struct.pack(">d", value).hex()]
    if isinstance(value, str):
        return [value.encode().hex()]
    if isinstance(value, Sdf.AssetPath):
        return flat(value.path)
    if hasattr(value, "GetImaginary"):
        return flat(value.GetImaginary()) + flat(value.GetReal())
    if hasattr(value, "GetValue"):
        return flat(float(value.GetValue()))
    return [word for part in value for word in flat(part)]


def values(prim):
    for attribute in prim.attributes:
        uniform = attribute.variability == Sdf.VariabilityUniform
        words = [attribute.path, attribute.typeName, int(uniform), int(attribute.custom)]
        if attribute.default is not None:
            words += ["="] + flat(attribute.default)
        times = attribute.layer.ListTimeSamplesForPath(attribute.path)
        for time in times:
            sample = attribute.layer.QueryTimeSample(attribute.path, time)
            words += ["@"] + flat(float(time)) + flat(sample)
        print(*words)
    for child in prim.nameChildren:
        values(child)


def opened(path):
    layer = Sdf.Layer.FindOrOpen(path)
    assert layer, path
    return layer


def answer(what, *paths):
    if what == "values":
        layer = opened(paths[0])
        for prim in layer.rootPrims:
            values(prim)
    elif what == "same":
        texts = [opened(path).ExportToString().splitlines() for path in paths]
        differences = list(difflib.unified_diff(*texts, lineterm="", n=0))
        assert not differences, "\n".join(line[:200] for line in differences[:40])
    elif what == "rewrite":
        layer = Sdf.Layer.CreateNew(paths[1])
        layer.TransferContent(opened(paths[0]))
        layer.Save()
    elif what == "stage":
        stage = Usd.Stage.Open(paths[0])
        for prim in stage.TraverseAll():
            print(prim.GetPath())
            for attribute in prim.GetAttributes():
                attribute.Get()
                for time in [0, 1, 1.5, 100]:
                    attribute.Get(time)


try:
    answer(*sys.argv[1:])
finally:
    os.dup2(errors, 2)
complaints.seek(0)
said = complaints.read().decode()
if "Warning" in said or "Error" in said:
    sys.exit(said)
