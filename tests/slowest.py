# SPDX-License-Identifier: MIT
"""Usage: slowest.py ctest [ARGUMENT...]

Runs ctest in the current folder and prints, before ctest's totals, the ten slowest of the tests that ran, the sum of their
times and those above 20 s. The times are means over all runs in this build folder, as ctest saves them. A slow test is no
failure, because machines are noisy. Ends with ctest's exit code.
"""
import re
import subprocess
import sys

COSTS = "Testing/Temporary/CTestCostData.txt"
SHOWN, LONG_S, GOAL_S = 10, 20, 450


def read_costs(lines, ran):
    """Reads the lines "name runs mean-seconds" up to "---", after which ctest names the tests that failed."""
    costs = {}
    for line in lines:
        if line.startswith("---"):
            break
        name, _, seconds = line.split()
        if name in ran:
            costs[name] = float(seconds)
    return costs


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
    totals, ran = [], set()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            ran.update(re.findall(r" Test +#\d+: (\S+) ", line))
            if totals or "% tests passed, " in line:
                totals.append(line)
            else:
                print(line, end="", flush=True)
    try:
        with open(COSTS, encoding="utf-8") as file:
            print("\n".join(describe(read_costs(file, ran), "--label-exclude" in sys.argv)))
    except (OSError, ValueError) as error:
        print(f"slowest.py: {COSTS}: {error}")
    print("\n" + "".join(totals), end="", flush=True)
    sys.exit(ctest.returncode if ctest.returncode >= 0 else 128 - ctest.returncode)


if __name__ == "__main__":
    main()
