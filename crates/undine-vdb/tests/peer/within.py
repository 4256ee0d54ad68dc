"""Says which values a grid has in a box, as `describe.py` does.

    python3 within.py FILE GRID MIN_X MIN_Y MIN_Z MAX_X MAX_Y MAX_Z
"""
import itertools
import sys

import pyopenvdb as vdb
from describe import text

grid = vdb.read(sys.argv[1], sys.argv[2])
least, greatest = ([int(c) for c in sys.argv[at : at + 3]] for at in (3, 6))
values = grid.getConstAccessor()
for place in itertools.product(*(range(a, b + 1) for a, b in zip(least, greatest))):
    value, active = values.probeValue(place)
    if active or value != grid.background:
        print("value 3 %d %d %d %d %s" % (*place, active, text(value)))
