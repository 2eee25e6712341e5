# SPDX-License-Identifier: Apache-2.0
"""The package shoal_gym, installed as pip does for anybody, but without the network."""
import atexit
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@functools.lru_cache
def folder():
    """Installs the package on the first call. Returns the folder that it is in, which this process imports from."""
    temporary = tempfile.TemporaryDirectory()
    atexit.register(temporary.cleanup)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
                    "--no-deps", "--no-build-isolation", "--target", temporary.name, str(ROOT / "python/shoal_gym")],
                   check=True, env=os.environ | {"PIP_ROOT_USER_ACTION": "ignore"})
    sys.path.insert(0, temporary.name)
    return temporary.name
