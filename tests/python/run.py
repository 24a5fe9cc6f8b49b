# SPDX-License-Identifier: MIT
"""run.py FILE...: runs tests of the package flynn by pytest, for ctest; FLYNN_LIBRARY names libflynn. Exits with 77 where something is missing.

The same by hand, from the top of the tree: PYTHONPATH=python python3 -m pytest
"""
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent

try:
    import numpy  # noqa: F401
    import pytest
    import scipy  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} in {sys.executable}: apt-get install python3-pytest python3-scipy")
    sys.exit(77)

sys.path.insert(0, str(FOLDER.parents[1] / "python"))
os.environ["PYTHONPATH"] = f"{sys.path[0]}:{os.environ.get('PYTHONPATH', '')}"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "--durations=5", *(str(FOLDER / name) for name in sys.argv[1:])]))
