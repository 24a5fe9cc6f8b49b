# SPDX-License-Identifier: MIT
"""Flynn for Python: its C interface by ctypes so far."""
from ._library import VERSION as __version__
