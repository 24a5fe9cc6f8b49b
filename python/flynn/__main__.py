# SPDX-License-Identifier: MIT
"""python -m flynn is the command flynn."""
import os
import sys

from ._library import command


def main() -> None:
    path = command()
    try:
        os.execvp(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"python -m flynn: {path} cannot be started ({error.strerror}): build it (make), or let FLYNN name it")


main()
