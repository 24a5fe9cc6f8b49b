# SPDX-License-Identifier: MIT
"""terminal.py OUT ERR COMMAND...: runs the command with a terminal for its stderr, which goes to the file ERR as it is
written there; stdout goes to OUT. Exits as the command does."""
import os
import subprocess
import sys

out, err, *command = sys.argv[1:]
ours, theirs = os.openpty()
with open(out, "wb") as stdout, open(err, "wb") as stderr:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=theirs)
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux's way to say that nobody writes there any more
            break
        if not data:
            break
        stderr.write(data)
sys.exit(process.wait())
