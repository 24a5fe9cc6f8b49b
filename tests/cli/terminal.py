# SPDX-License-Identifier: MIT
"""terminal.py OUT ERR COMMAND...: runs the command with a terminal for its stderr, which goes to the file ERR as it is
written there; stdout goes to OUT. Exits as the command does, with 128 + the number of a signal that ended it.

INTERRUPT_AT=TEXT: once the text is on the terminal, the command gets SIGINT: with all that it has started, as Ctrl-C
does, or with INTERRUPT_ALONE=1 by itself."""
import os
import signal
import subprocess
import sys

out, err, *command = sys.argv[1:]
at, alone = os.environ.pop("INTERRUPT_AT", "").encode(), os.environ.pop("INTERRUPT_ALONE", "")
seen = b""
ours, theirs = os.openpty()
with open(out, "wb") as stdout, open(err, "wb") as stderr:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=theirs, start_new_session=bool(at))
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux's way to say that nobody writes there any more
            break
        if not data:
            break
        stderr.write(data)
        seen += data
        if at and at in seen:
            (os.kill if alone else os.killpg)(process.pid, signal.SIGINT)
            at = b""
code = process.wait()
sys.exit(128 - code if code < 0 else code)
