# SPDX-License-Identifier: MIT
"""Usage: run_ctest.py ctest [ARGUMENT...]

Runs ctest in the current folder and prints, before ctest's totals, the ten slowest of the tests that ran, the sum of their
times and those above 20 s. A slow test is no failure, because machines are noisy. Ends with ctest's exit code.
With FLYNN_TEST_QUICK=NUMBER it runs one of ten of the tests with the label `some`; the same number takes the same ones.
"""
import json
import os
import random
import re
import subprocess
import sys

SHOWN, LONG_S, GOAL_S = 10, 20, 300
ONE_OF = 10  # of the tests with the label `some`


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


def left_out(ctest, number):
    """The tests with the label `some` that are left out for this number, by their names."""
    shown = subprocess.run([ctest, "--show-only=json-v1"], stdout=subprocess.PIPE, text=True, check=True).stdout
    some = sorted(test["name"] for test in json.loads(shown)["tests"] for of in test.get("properties", [])
                  if of["name"] == "LABELS" and "some" in of["value"] and "all" not in of["value"])
    return sorted(set(some) - set(random.Random(number).sample(some, -(-len(some) // ONE_OF))))


def main():
    totals, costs = [], {}
    command = sys.argv[1:]
    if number := os.environ.get("FLYNN_TEST_QUICK"):
        names = left_out(command[0], number)
        command += ["--exclude-regex", f"^({'|'.join(names)})$"] if names else []
        print(f"FLYNN_TEST_QUICK={number}: tests with many cases take some of them, and {len(names)} tests that take long are left out; "
              "the same number takes the same ones", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
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
