# SPDX-License-Identifier: MIT
"""A function of Python as a text in C for libflynn.

Of Python: numbers, arguments, outer constants; + - * / // % ** and signs; comparisons, and, or, not, `a if c else b`; assignments, if, while, for over
range (with else, break, continue), return; max, min, abs, int, float, bool, and functions of math and NumPy. The meaning is Python's: `/` divides truly,
`//` and `%` round down. Integers are computed in 64 bits; real numbers in float32 if all arguments are, else in float64, and a number in the text takes
that type. As in NumPy, not Python, an integer divided by 0 is 0, and what is no real number is NaN. What cannot be said exactly is a SourceError.
"""
from __future__ import annotations

import ast
import inspect
import math
import textwrap
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Sequence, Set, Tuple

import numpy as np

from ._errors import SourceError

TYPES = {"uint8": "unsigned char", "int32": "int", "int64": "long", "float32": "float", "float64": "double"}

# R is the real type. Integer division by 0 is 0; the smallest integer by -1 is itself, as in NumPy.
HELPERS = """static long py_floordiv_i(long a, long b) { if (b == 0) return 0; if (b == -1) return (long)(0ul - (unsigned long)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static long py_mod_i(long a, long b) { if (b == 0 || b == -1) return 0; const long m = a % b; return m != 0 && (m < 0) != (b < 0) ? m + b : m; }
static long py_pow_i(long a, long n) { unsigned long p = 1, b = (unsigned long)a; for (; n > 0; n >>= 1) { if (n & 1) p *= b; b *= b; } return (long)p; }
static long py_abs_i(long a) { return a < 0 ? (long)(0ul - (unsigned long)a) : a; }
static long py_max_i(long a, long b) { return b > a ? b : a; }
static long py_min_i(long a, long b) { return b < a ? b : a; }
static R py_max_r(R a, R b) { return b > a ? b : a; }
static R py_min_r(R a, R b) { return b < a ? b : a; }
static R py_nanmax(R a, R b) { return a != a ? a : b != b ? b : b > a ? b : a; }
static R py_nanmin(R a, R b) { return a != a ? a : b != b ? b : b < a ? b : a; }
static long py_int(R a) { return a > (R)-9223372036854775808.0 && a < (R)9223372036854775808.0 ? (long)a : (long)(1ul << 63); }
static R py_mod_r(R a, R b) { if (b == 0) return (a - a) / (b - b); R m = fmod(a, b); if (m != 0) { if ((b < 0) != (m < 0)) m += b; } else m = copysign((R)0, b);
    return m; }
static R py_floordiv_r(R a, R b) { if (b == 0) return a / b; R m = fmod(a, b), d = (a - m) / b; if (m != 0 && (b < 0) != (m < 0)) d -= 1;
    if (d == 0) return copysign((R)0, a / b); R f = floor(d); if (d - f > (R)0.5) f += 1; return f; }
"""

REAL, INTEGER, TRUTH = "r", "i", "b"  # the type of a value: a real number, an integer, True or False
REALS = {name: name for name in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
                                 "acosh", "atanh", "erf", "erfc", "fabs")}
OF_TWO = {name: name for name in ("atan2", "hypot", "pow", "fmod", "copysign")}
OF_NUMPY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}


def _functions() -> Dict[Any, Tuple[str, int, str]]:
    """Function of Python: (kind, number of arguments, name in C)."""
    found: Dict[Any, Tuple[str, int, str]] = {}
    for module, names in ((math, {**REALS, **OF_TWO}), (np, {**REALS, **OF_NUMPY, "hypot": "hypot", "arctan2": "atan2", "copysign": "copysign"})):
        for name, of_c in names.items():
            if hasattr(module, name):
                found[getattr(module, name)] = ("real", 2 if of_c in OF_TWO else 1, of_c)
    for name in ("floor", "ceil", "trunc"):
        found[getattr(math, name)], found[getattr(np, name)] = ("to integer", 1, name), ("real", 1, name)
    found.update({math.isnan: ("truth", 1, "(({0}) != ({0}))"), np.isnan: ("truth", 1, "(({0}) != ({0}))"), max: ("most", 2, "max"), min: ("most", 2, "min"),
                  np.maximum: ("of numpy", 2, "max"), np.minimum: ("of numpy", 2, "min"), abs: ("abs", 1, "abs"), np.abs: ("abs", 1, "abs"), int: ("int", 1, ""),
                  float: ("float", 1, ""), bool: ("bool", 1, "")})
    return found


FUNCTIONS = _functions()
POSSIBLE = "numbers, arguments, + - * / // % **, comparisons, and, or, not, if, while, for over range, return, max, min, abs, int, float, bool, math and numpy"
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
Value = Tuple[str, str]  # text in C, type


class Translation:
    """One function for arguments of certain dtypes."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.name = function.__name__
        try:
            lines, first = inspect.getsourcelines(function)
            self.file = inspect.getsourcefile(function) or "?"
            if "/ipykernel_" in self.file or self.file.startswith("<ipython-input"):
                self.file = "cell"
        except (OSError, TypeError):
            raise SourceError(f"{self.name}: its text cannot be found; write it into a file or a cell, or give the text in C") from None
        self.text, self.first = textwrap.dedent("".join(lines)), first
        try:
            tree: Any = ast.parse(self.text).body[0]
        except SyntaxError:
            tree = None
        if not isinstance(tree, ast.FunctionDef):
            raise SourceError(f"{self.file}:{first}: expected a function by def, whose text stands alone; {self.name} is none")
        self.tree = tree
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults or arguments.posonlyargs:
            self.fail(tree, "arguments without stars and defaults are possible")
        self.parameters = [one.arg for one in arguments.args]
        variables = inspect.getclosurevars(function)
        self.outer = {**variables.builtins, **variables.globals, **variables.nonlocals}

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        shown = self.text.split("\n")[line - 1]
        raise SourceError(f"{self.file}:{self.first + line - 1}: {why}", f"{shown}\n{' ' * column}^")

    def c(self, dtypes: Sequence[np.dtype[Any]]) -> str:
        """The text in C for arguments of these dtypes."""
        if len(dtypes) != len(self.parameters):
            self.fail(self.tree, f"{self.name} takes {len(self.parameters)} arguments, and {len(dtypes)} are given")
        real = "float" if all(dtype == np.float32 for dtype in dtypes) else "double"
        self.suffix, self.cast = "f" if real == "float" else "", f"({real})"
        self.types: Dict[str, str] = {name: REAL if dtype.kind == "f" else INTEGER for name, dtype in zip(self.parameters, dtypes)}
        self.result = TRUTH
        for _ in range(20):  # until no variable becomes of a wider type
            before = dict(self.types), self.result
            self.labels, self.loops = 0, []  # type: ignore[var-annotated]
            body = list(self.block(self.tree.body, set(self.parameters), 1))
            if before == (dict(self.types), self.result):
                break
        if not self.ends(self.tree.body):
            self.fail(self.tree, f"{self.name} can end without a return")
        integers = "int" if all(dtype == np.int32 for dtype in dtypes) else "unsigned char" if all(dtype == np.uint8 for dtype in dtypes) else "long"
        of_result = {REAL: real, INTEGER: integers, TRUTH: "unsigned char"}[self.result]
        inputs = ", ".join(f"{TYPES[dtype.name]} in_{name}" for name, dtype in zip(self.parameters, dtypes))
        declared = [f"    {real if kind == REAL else 'long'} v_{name} = {f'in_{name}' if name in self.parameters else '0'};" for name, kind in self.types.items()]
        return "\n".join([HELPERS.replace("R ", real + " ").replace("(R)", f"({real})"), f"{of_result} py_{self.name}({inputs})", "{", *declared, *body, "    return 0;  /* never reached */", "}", ""])

    # --------------------------------------------------------------------------------------------- statements ----

    def ends(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether what follows them is never reached."""
        for one in statements:
            if isinstance(one, (ast.Return, ast.Break, ast.Continue)):
                return True
            if isinstance(one, ast.If) and one.orelse and self.ends(one.body) and self.ends(one.orelse):
                return True
            if isinstance(one, ast.While) and isinstance(one.test, ast.Constant) and one.test.value and not self.breaks(one.body):
                return True
            if isinstance(one, (ast.While, ast.For)) and one.orelse and self.ends(one.orelse) and not self.breaks(one.body):
                return True
        return False

    def breaks(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether a `break` of theirs, not of a loop within, ends the loop around them."""
        for one in statements:
            if isinstance(one, ast.Break) or (isinstance(one, ast.If) and (self.breaks(one.body) or self.breaks(one.orelse))):
                return True
            if isinstance(one, (ast.While, ast.For)) and self.breaks(one.orelse):
                return True
        return False

    def block(self, statements: Sequence[ast.stmt], known: Set[str], depth: int) -> Iterator[str]:
        """Lines of C; `known` are the variables that have a value, and grows."""
        indent = "    " * depth
        for one in statements:
            if isinstance(one, ast.Return):
                if one.value is None:
                    self.fail(one, "a return without a value")
                text, kind = self.value(one.value, known)
                self.result = self.wider(self.result, kind)
                yield f"{indent}return {text};"
            elif isinstance(one, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                yield indent + self.assign(one, known)
            elif isinstance(one, ast.If):
                yield f"{indent}if ({self.truth(one.test, known)}) {{"
                first, second = set(known), set(known)
                yield from self.block(one.body, first, depth + 1)
                yield f"{indent}}} else {{"
                yield from self.block(one.orelse, second, depth + 1)
                yield f"{indent}}}"
                known |= second if self.ends(one.body) else first if self.ends(one.orelse) else first & second
            elif isinstance(one, (ast.While, ast.For)):
                yield from self.loop(one, known, depth)
            elif isinstance(one, ast.Break):
                yield f"{indent}{{ {self.loops[-1]} = 1; break; }}"
            elif isinstance(one, ast.Continue):
                yield f"{indent}continue;"
            elif not isinstance(one, ast.Pass) and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                self.fail(one, f"not possible here: {type(one).__name__.lower()}; possible are {POSSIBLE}")

    def assign(self, one: Any, known: Set[str]) -> str:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        if len(targets) != 1 or not isinstance(targets[0], ast.Name) or one.value is None:
            self.fail(one, "an assignment has one variable on its left side")
        name = targets[0].id
        if isinstance(one, ast.AugAssign):
            text, kind = self.value(ast.copy_location(ast.BinOp(ast.copy_location(ast.Name(name, ast.Load()), targets[0]), one.op, one.value), one), known)
        else:
            text, kind = self.value(one.value, known)
        self.types[name] = self.wider(self.types.get(name, INTEGER), kind)
        known.add(name)
        return f"v_{name} = {text};"

    def loop(self, one: Any, known: Set[str], depth: int) -> Iterator[str]:
        self.labels += 1
        number, indent = self.labels, "    " * depth
        inside, broken = set(known), f"broken_{self.labels}"
        if isinstance(one, ast.While):
            head = [f"while ({self.truth(one.test, known)}) {{"]
        else:
            head = self.range(one, known, number)
            inside.add(one.target.id)
        yield f"{indent}{{ int {broken} = 0;"
        yield from (f"{indent}{line}" for line in head)
        self.loops.append(broken)
        yield from self.block(one.body, inside, depth + 1)
        self.loops.pop()
        yield f"{indent}}}"
        after = set(known)
        if one.orelse:
            yield f"{indent}if (!{broken}) {{"
            yield from self.block(one.orelse, after, depth + 1)
            yield f"{indent}}}"
            if not self.breaks(one.body):
                known |= after
        yield f"{indent}(void){broken}; }}"

    def range(self, one: ast.For, known: Set[str], number: int) -> List[str]:
        call = one.iter
        if not (isinstance(one.target, ast.Name) and isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and self.outer.get(call.func.id) is range
                and 1 <= len(call.args) <= 3 and not call.keywords):
            self.fail(one, "`for` goes over range(...) with one variable")
        bounds = [self.value(argument, known) for argument in call.args]
        for argument, (_, kind) in zip(call.args, bounds):
            if kind == REAL:
                self.fail(argument, "range takes integers")
        step = 1
        if len(bounds) == 3:
            step = self.constant(call.args[2])
            if not isinstance(step, int) or step == 0:
                self.fail(call.args[2], "the step of range is a number other than 0 in the text")
        first, last = ("0", bounds[0][0]) if len(bounds) == 1 else (bounds[0][0], bounds[1][0])
        name = one.target.id
        self.types[name] = self.wider(self.types.get(name, INTEGER), INTEGER)
        return [f"const long first_{number} = {first}, last_{number} = {last};",
                f"for (long at_{number} = first_{number}; at_{number} {'<' if step > 0 else '>'} last_{number}; at_{number} += {step}) {{ v_{name} = at_{number};"]

    def constant(self, node: ast.expr) -> Any:
        """A number in the text, with its sign; None: it is something else."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.constant(node.operand)
            return None if value is None else -value
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else None

    # ------------------------------------------------------------------------------------------------- values ----

    @staticmethod
    def wider(one: str, other: str) -> str:
        return REAL if REAL in (one, other) else INTEGER if INTEGER in (one, other) else TRUTH

    def number(self, node: ast.AST, value: Any) -> Value:
        if isinstance(value, (bool, np.bool_)):
            return str(int(value)), TRUTH
        if isinstance(value, (int, np.integer)):
            if not -2 ** 63 < int(value) < 2 ** 63:
                self.fail(node, f"{value} does not fit into 64 bits")
            return f"({int(value)}l)", INTEGER
        if isinstance(value, (float, np.floating)):
            number = float(value)
            if math.isnan(number) or math.isinf(number):
                return f"(({'-' if number < 0 else ''}1.0{self.suffix} / 0.0{self.suffix}){' * 0' if math.isnan(number) else ''})", REAL
            return f"({number!r}{'' if '.' in repr(number) or 'e' in repr(number) else '.0'}{self.suffix})", REAL
        self.fail(node, f"an outer variable of type {type(value).__name__}; numbers are possible")

    def real(self, value: Value) -> str:
        return value[0] if value[1] == REAL else f"({self.cast}({value[0]}))"

    def truth(self, node: ast.expr, known: Set[str]) -> str:
        text, kind = self.value(node, known)
        return text if kind == TRUTH else f"({text} != 0)"

    def value(self, node: ast.expr, known: Set[str]) -> Value:
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, (int, float)):
                self.fail(node, f"{node.value!r} is no number")
            return self.number(node, node.value)
        if isinstance(node, ast.Name):
            if node.id in self.types or node.id in self.assigned():
                if node.id not in known:
                    self.fail(node, f"{node.id} has no value yet on every way to this line")
                return f"v_{node.id}", self.types[node.id]
            return self.number(node, self.object(node))
        if isinstance(node, ast.Attribute):
            return self.number(node, self.object(node))
        if isinstance(node, ast.BinOp):
            return self.operation(node, known)
        if isinstance(node, ast.UnaryOp):
            text, kind = self.value(node.operand, known)
            if isinstance(node.op, ast.Not):
                return f"!{self.truth(node.operand, known)}", TRUTH
            if isinstance(node.op, ast.Invert):
                if kind == REAL:
                    self.fail(node, "~ takes integers")
                return f"(~(long){text})", INTEGER
            kind = INTEGER if kind == TRUTH else kind
            return f"({'-' if isinstance(node.op, ast.USub) else '+'}{text})", kind
        if isinstance(node, ast.Compare):
            values = [self.value(operand, known) for operand in (node.left, *node.comparators)]
            parts = []
            for one, other, operator in zip(values, values[1:], node.ops):
                if type(operator) not in COMPARISONS:
                    self.fail(node, "a comparison is one of < <= > >= == !=")
                left, right = self.both(one, other)
                parts.append(f"({left} {COMPARISONS[type(operator)]} {right})")
            return f"({' && '.join(parts)})", TRUTH
        if isinstance(node, ast.BoolOp):
            result = self.value(node.values[-1], known)
            for operand in reversed(node.values[:-1]):
                first, condition = self.value(operand, known), self.truth(operand, known)
                kind = self.wider(first[1], result[1])
                if kind == TRUTH:
                    result = f"({condition} {'&&' if isinstance(node.op, ast.And) else '||'} {result[0]})", TRUTH
                else:
                    left, right = self.both(first, result)
                    result = (f"({condition} ? {right} : {left})" if isinstance(node.op, ast.And) else f"({condition} ? {left} : {right})"), kind
            return result
        if isinstance(node, ast.IfExp):
            body, orelse = self.value(node.body, known), self.value(node.orelse, known)
            left, right = self.both(body, orelse)
            return f"({self.truth(node.test, known)} ? {left} : {right})", self.wider(body[1], orelse[1])
        if isinstance(node, ast.Call):
            return self.call(node, known)
        self.fail(node, f"not possible here: {type(node).__name__.lower()}; possible are {POSSIBLE}")

    def assigned(self) -> Set[str]:
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def both(self, one: Value, other: Value) -> Tuple[str, str]:
        """Two values in their common type."""
        return (self.real(one), self.real(other)) if REAL in (one[1], other[1]) else (f"(long){one[0]}", f"(long){other[0]}")

    def object(self, node: ast.expr) -> Any:
        """What an outer name or an attribute of it is."""
        if isinstance(node, ast.Name):
            if node.id not in self.outer:
                self.fail(node, f"{node.id} is not defined")
            return self.outer[node.id]
        if isinstance(node, ast.Attribute):
            owner = self.object(node.value)
            if inspect.ismodule(owner) and hasattr(owner, node.attr):
                return getattr(owner, node.attr)
        self.fail(node, f"not possible here: {ast.unparse(node)}; possible are {POSSIBLE}")

    def operation(self, node: ast.BinOp, known: Set[str]) -> Value:
        left, right = self.value(node.left, known), self.value(node.right, known)
        kind = self.wider(self.wider(left[1], right[1]), INTEGER)
        a, b = self.both(left, right)
        operator = type(node.op)
        if operator in (ast.Add, ast.Sub, ast.Mult):
            plain: Dict[Any, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
            sign = plain[operator]
            return f"({a} {sign} {b})", kind
        if operator is ast.Div:
            return f"({self.real(left)} / {self.real(right)})", REAL
        if operator in (ast.FloorDiv, ast.Mod):
            return f"py_{'floordiv' if operator is ast.FloorDiv else 'mod'}_{kind}({a}, {b})", kind
        if operator is ast.Pow:
            exponent = self.constant(node.right)
            if kind == INTEGER and isinstance(exponent, int) and exponent >= 0:
                return f"py_pow_i({a}, {b})", INTEGER
            if kind == INTEGER and exponent is None:
                self.fail(node, "an integer to the power of a variable is an integer or not, by its sign; float(x) ** y is a real number")
            return f"{self.cast}pow({self.real(left)}, {self.real(right)})", REAL
        signs: Dict[Any, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
        if operator in signs and kind == INTEGER:
            return f"({a} {signs[operator]} {b})", TRUTH if left[1] == right[1] == TRUTH else INTEGER
        shift = self.constant(node.right)
        if operator in (ast.LShift, ast.RShift) and kind == INTEGER and isinstance(shift, int) and 0 <= shift < 64:
            return (f"((long)((unsigned long){a} << {shift}))" if operator is ast.LShift else f"({a} >> {shift})"), INTEGER
        self.fail(node, f"not possible between these: {operator.__name__.lower()}; shifts are by a number in the text, and & | ^ take integers")

    def call(self, node: ast.Call, known: Set[str]) -> Value:
        function = self.object(node.func)
        if function is self.function or getattr(function, "__wrapped__", None) is self.function or (isinstance(node.func, ast.Name) and node.func.id == self.name):
            self.fail(node, f"{self.name} calls itself; a loop can do the same")
        try:
            kind, count, name = FUNCTIONS[function]
        except (KeyError, TypeError):
            self.fail(node, f"not possible here: {ast.unparse(node.func)}(); possible are {POSSIBLE}")
        values = [self.value(argument, known) for argument in node.args]
        if node.keywords or (len(values) < 2 if kind == "most" else len(values) != count):
            self.fail(node, f"{ast.unparse(node.func)} takes {count} argument{'s' if count > 1 else ''}")
        if kind in ("most", "of numpy"):
            result = values[0]
            for other in values[1:]:
                a, b = self.both(result, other)
                wide = self.wider(self.wider(result[1], other[1]), INTEGER)
                result = f"{f'py_nan{name}' if kind == 'of numpy' and wide == REAL else f'py_{name}_{wide}'}({a}, {b})", wide
            return result
        text, of = values[0]
        if kind == "abs":
            return (f"{self.cast}fabs({text})", REAL) if of == REAL else (f"py_abs_i({text})", INTEGER)
        if kind == "int":
            return (f"py_int({text})", INTEGER) if of == REAL else (f"(long){text}", INTEGER)
        if kind == "float":
            return f"({self.real(values[0])})", REAL
        if kind == "bool":
            return f"({text} != 0)", TRUTH
        if kind == "to integer":
            return (f"py_int({name}({text}))", INTEGER) if of == REAL else (f"(long){text}", INTEGER)
        if kind == "truth":
            return name.format(self.real(values[0])), TRUTH
        return f"{self.cast}{name}({', '.join(self.real(one) for one in values)})", REAL
