# SPDX-License-Identifier: MIT
"""Usage: slowest.py ctest [ARGUMENT...]

Runs ctest in the current folder and prints, before ctest's totals, the ten slowest of the tests that ran, the sum of their
times and those above 20 s. A slow test is no failure, because machines are noisy. Ends with ctest's exit code.
"""
import os
import re
import subprocess
import sys

SHOWN, LONG_S, GOAL_S = 10, 20, 450


def describe(costs, is_check):
    """The lines to print; none without times. The goal is that of the set `check`, which leaves tests out."""
    slowest = sorted(costs, key=costs.get, reverse=True)
    above = [name for name in slowest if costs[name] > LONG_S]
    if not slowest:
        return []
    return [
        "",
        "The slowest tests: " + ", ".join(f"{name} {costs[name]:.0f} s" for name in slowest[:SHOWN]),
        f"All {len(costs)} tests: {sum(costs.values()):.0f} s of test time"
        + (f" (should stay below {GOAL_S} s without GPU toolchains)" if is_check else ""),
        f"Above {LONG_S} s: {len(above)}" + (": " + ", ".join(above) if above else ""),
    ]


def main():
    totals, costs = [], {}
    if "FLYNN_TEST_QUICK" in os.environ:
        print(f"FLYNN_TEST_QUICK={os.environ['FLYNN_TEST_QUICK']}: tests with many cases take some of them; the same number takes the same ones", flush=True)
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            if ran := re.search(r" Test +#\d+: (\S+) .* ([0-9.]+) sec", line):
                costs[ran[1]] = float(ran[2])
            if totals or "% tests passed, " in line:
                totals.append(line)
            else:
                print(line, end="", flush=True)
    print("\n".join(describe(costs, "--label-exclude" in sys.argv)))
    print("\n" + "".join(totals), end="", flush=True)
    sys.exit(ctest.returncode if ctest.returncode >= 0 else 128 - ctest.returncode)


if __name__ == "__main__":
    main()
