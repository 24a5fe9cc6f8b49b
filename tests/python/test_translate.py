# SPDX-License-Identifier: MIT
"""Functions of Python for vectorize: random ones give what Python gives; what has no exact meaning is a SourceError with file and line.

FLYNN_TEST_FUNCTIONS: how many random functions (default 24, each on one dtype; 300 are on two, of integers and of floats).
"""
import importlib.util
import math
import os
import random

import numpy as np
import pytest

import flynn

COUNT = int(os.environ.get("FLYNN_TEST_FUNCTIONS", "24"))
DTYPES = ("int32", "int64", "float32", "float64")
SCALE = 3
NAMES = ("serial", "simd", "omp")


class Single(float):
    """A number of float32: each operation rounds, as the translation's does."""


def _single(name):
    def operation(self, *others):
        result = getattr(float, name)(self, *(float(np.float32(other)) for other in others))
        return Single(np.float32(result))
    return operation


for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow neg abs".split():
    setattr(Single, f"__{_name}__", _single(f"__{_name}__"))


class SingleMath:
    """math, with results of float32."""
    def __getattr__(self, name):
        return lambda *x: (int if name == "floor" else lambda y: Single(np.float32(y)))(getattr(math, name)(*x))


class Writer:
    """Writes a random function whose integers stay small and whose loops end. exact: without functions that round otherwise in float32 than in
    float64, since a `//` after them may give another number."""

    def __init__(self, seed, exact):
        self.random, self.exact, self.variables, self.loops = random.Random(seed), exact, [], 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def value(self, depth):
        if depth == 0:
            return self.pick(*self.variables, *self.variables, str(self.random.randint(-9, 9)), self.pick("0.5", "2.25", "-1.5", "3.0"), "SCALE")
        a, b, c = (self.value(self.random.randint(0, depth - 1)) for _ in range(3))
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"(({a} * {b}) % 97)", f"({a} / {b})", f"({a} // {b})", f"({a} % {b})", f"abs({a})", f"max({a}, {b}, {c})",
                         f"min({a}, {b})", *([] if self.exact else [f"math.log(abs({a}) + 1)", f"math.exp(-abs({a}))", f"math.atan2({a}, 2.0)"]), f"({a} if {self.condition(depth - 1)} else {b})", f"math.sqrt(abs({a}))", f"-({a})", f"({a}) ** 2 % 89",
                         f"math.floor({a})", f"int({a})", f"float({a})", f"({a} and {b})", f"({a} or {b})")

    def condition(self, depth):
        a, b, c = (self.value(max(0, depth - 1)) for _ in range(3))
        simple = self.pick(f"{a} < {b}", f"{a} >= {b}", f"{a} < {b} <= {c}", f"not {a} > {b}", f"{a} != {b}", f"{a}")
        return simple if depth <= 0 else self.pick(simple, f"({simple} and {self.condition(0)})", f"({simple} or {self.condition(0)})")

    def block(self, depth, indent, in_loop=False):
        space, lines = "    " * indent, []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.randint(0, 6 if depth else 2)
            if kind <= 1:
                name = self.pick(*self.variables, f"t{len(self.variables)}")
                lines.append(f"{space}{name} = {self.value(2)}")
                if name not in self.variables and indent == 1:
                    self.variables.append(name)
            elif kind == 2:
                lines.append(f"{space}{self.pick(*self.variables)} {self.pick('+=', '-=', '%=')} {self.value(1)}")
            elif kind == 3:
                lines += [f"{space}if {self.condition(1)}:", *self.block(depth - 1, indent + 1, in_loop), f"{space}else:", *self.block(depth - 1, indent + 1, in_loop)]
            elif kind == 4:
                self.loops += 1
                lines += [f"{space}for i{self.loops} in range({self.pick('5', '3, -4, -2', '1, 9, 3')}):", f"{space}    {self.variables[0]} += i{self.loops}"]
                lines += self.block(depth - 1, indent + 1, True)
                if self.random.random() < 0.5:
                    lines += [f"{space}else:", *self.block(0, indent + 1)]
            elif kind == 5:
                self.loops += 1
                lines += [f"{space}n{self.loops} = 4", f"{space}while n{self.loops} > 0:", f"{space}    n{self.loops} -= 1", *self.block(depth - 1, indent + 1, True)]
            elif in_loop:
                lines += [f"{space}if {self.condition(1)}:", f"{space}    {self.pick('break', 'continue')}"]
            else:
                lines += [f"{space}if {self.condition(1)}:", f"{space}    return {self.value(1)}"]
        return lines

    def function(self, name):
        self.variables = list("xyz"[:self.random.randint(1, 3)])
        head = f"def {name}({', '.join(self.variables)}):"
        body = self.block(2, 1)
        return "\n".join([head, *body, f"    return {self.value(2)}", "", ""])


def module_of(text, path):
    path.write_text("import math\nimport numpy as np\nSCALE = 3\nTABLE = [1, 2]\n" + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_python(function, arguments):
    """Python's result for each element; None: Python raises an error, or an integer is too large for the dtype."""
    single = arguments[0].dtype == "float32"
    if single:
        function = type(function)(function.__code__, {**function.__globals__, "math": SingleMath(), "float": Single})
    for values in zip(*(x.tolist() for x in arguments)):
        try:
            result = function(*map(Single, values)) if single else function(*values)
        except (ZeroDivisionError, OverflowError, ValueError):
            yield None
            continue
        yield None if isinstance(result, int) and abs(result) >= 2 ** 31 else result


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_functions(seed, tmp_path):
    compared = 0
    for dtype in (DTYPES[seed % 2], DTYPES[2 + seed // 2 % 2]) if COUNT >= 300 else DTYPES[seed % 4:seed % 4 + 1]:
        text = Writer(seed, dtype == "float32").function("f")
        function = module_of(text, tmp_path / f"random_{seed}_{dtype}.py").f
        translated, numbers = flynn.vectorize(function), np.random.default_rng(seed)
        arguments = [(numbers.integers(-40, 40, 50) / (1 if dtype[0] == "i" else 4)).astype(dtype) for _ in range(function.__code__.co_argcount)]
        device = flynn.device(NAMES[seed % 3])
        try:
            found = translated(*[device.array(x) for x in arguments]).numpy().tolist()
        except flynn.SourceError as error:
            assert f"random_{seed}_{dtype}.py:" in str(error), error
            continue
        tolerance = 1e-4 if dtype == "float32" else 1e-9
        both = [(a, b, [x[i] for x in arguments]) for i, (a, b) in enumerate(zip(found, of_python(function, arguments))) if b is not None]
        wrong = [one for one in both if not math.isclose(*one[:2], rel_tol=tolerance, abs_tol=tolerance)]
        compared += len(both)
        assert not wrong, f"{dtype}: {wrong[:3]}\n{text}"
    COMPARED.append(compared)


COMPARED = []


def test_most_random_functions_were_compared():
    if not COMPARED:
        pytest.skip("the random functions ran in another process, or failed")
    assert sum(count > 0 for count in COMPARED) > 0.8 * len(COMPARED)
