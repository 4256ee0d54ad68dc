"""Makes the crates beside this file from the texts beside it, with Pixar's USD: one of each version that differs.

Run with a Python that has `usd-core`. The environment says the version, so that each is made by a process of its own.
"""

import os
import subprocess
import sys

from pxr import Sdf, Tf

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = {
    "all": ["0.0.1", "0.1.0", "0.4.0", "0.5.0", "0.6.0", "0.8.0"],
    "new": ["0.12.0"],
}

if len(sys.argv) == 3:
    name, version = sys.argv[1:]
    layer = Sdf.Layer.FindOrOpen(f"{HERE}/{name}.usda")
    try:
        layer.Export(f"{HERE}/{name}-{version}.usdc")
    except Tf.ErrorException as error:
        # It still writes what it has stopped reading, and complains afterwards.
        assert "obsolete version" in str(error)
else:
    for name, versions in VERSIONS.items():
        for version in versions:
            environment = dict(os.environ, USD_WRITE_NEW_USDC_FILES_AS_VERSION=version)
            subprocess.run([sys.executable, __file__, name, version], env=environment, check=True)
