# SPDX-License-Identifier: MIT
"""lives.py [--valgrind=VALGRIND] DEVICE...: arrays that are used after their device is closed, twice, and after a fork, freed in another thread, sorted by four
threads at once, shared with NumPy, and alive at the interpreter's end, in Python's development mode. By valgrind no access to memory may be wrong.
"""
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

# The loader reads 8 bytes at a time of texts that it keeps in fewer.
SUPPRESSIONS = """{
   strncmp within the loader
   Memcheck:Addr8
   fun:strncmp
   fun:is_dst
}
"""


def refused(call):
    import flynn
    try:
        call()
    except (flynn.DeviceError, flynn.UnavailableError):
        return True
    return False


def live(name):
    import flynn
    import numpy as np
    device, x = flynn.device(name), np.arange(1000.0)
    a = device.array(x)
    device.close()
    device.close()
    assert a.numpy()[3] == 3 and refused(lambda: flynn.increment(a))
    device = flynn.device(name)
    arrays = [device.array(x) for _ in range(20)]
    views = [b[1:3] for b in arrays]
    thread = threading.Thread(target=lambda: (arrays.clear(), gc.collect()))
    thread.start()
    thread.join()
    assert all(view.numpy()[0] == 1 for view in views)
    found = []
    threads = [threading.Thread(target=lambda: found.append(flynn.sort(device.array(x[::-1])).numpy()[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0.0] * 4
    shared = []
    if device.host_memory:
        b = flynn.asarray(x, device=device)
        shared = [b, b[2:5], np.asarray(b), np.from_dlpack(device.array(x)), b.__dlpack__(max_version=(1, 0)), b.__dlpack__()]
        flynn.increment(x, device=device)
    return [device.array(x), *views, *shared, device.stream(), a]


def main(names):
    import flynn
    kept = [one for name in names for one in live(name)]
    child = os.fork()
    if child == 0:
        fine = refused(lambda: flynn.sort(kept[0])) and refused(lambda: kept[0].numpy()) and refused(lambda: flynn.device("serial").array([1]))
        kept.clear()
        gc.collect()
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    cycle = [kept]
    cycle.append(cycle)


def by_valgrind(valgrind, names):
    with tempfile.TemporaryDirectory() as folder:
        known, log = pathlib.Path(folder, "known.supp"), pathlib.Path(folder, "log")
        known.write_text(SUPPRESSIONS, encoding="utf-8")
        done = subprocess.run([valgrind, f"--suppressions={known}", f"--log-file={log}", "--error-exitcode=9", "--leak-check=no", "--num-callers=30", sys.executable, "-X", "dev", "-B",
                               __file__, *names], env={**os.environ, "PYTHONMALLOC": "malloc"})
        if done.returncode:
            print(log.read_text(encoding="utf-8", errors="replace"), end="", file=sys.stderr)
        sys.exit(done.returncode)


if __name__ == "__main__":
    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python"
    sys.path.insert(0, str(FOLDER))
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if sys.argv[1].startswith("--valgrind="):
        by_valgrind(sys.argv[1][len("--valgrind="):], sys.argv[2:])
    main(sys.argv[1:])
