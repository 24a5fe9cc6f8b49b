# SPDX-License-Identifier: MIT
"""A text in C, or an expression, in which an integer divided by 0 is 0, as in NumPy, and the smallest integer by -1 is itself: on a processor both would
end the interpreter.

Each `a / b` gets a condition around it. The text is read as tokens and brackets, without types, so the condition asks for them: of b = 0,
(b + 1 + (a - a)) / 2 is 0 only if both are integers. In a text, operands that change something or call a function are computed once, by a macro.
"""
from __future__ import annotations

import re
from typing import List, Optional, Set, Union

TOKEN = re.compile(r"""(?P<space>(?:\s|//[^\n]*|/\*.*?\*/|\\\n)+)|(?P<line>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'
|(?P<number>\.?\d(?:[eEpP][-+]|[\w.])*)|[A-Za-z_]\w*|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.""", re.VERBOSE | re.DOTALL | re.MULTILINE)
WORDS = {"return", "else", "do", "case", "goto", "if", "while", "for", "switch", "sizeof"}
CONTROLS = {"if", "while", "for", "switch"}
INTEGERS = re.compile(r"\b(int|long|short|char|unsigned|signed|bool|_Bool|size_t|u?int\d+_t)\b")
REAL = re.compile(r"(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fFlL]?(?!\w)|\((double|float)\)|(sqrt|cbrt|exp2?|log(2|10|1p)?|sin|cos|tan|pow|hypot|fabs)f?\s*\(")
NOT_0 = re.compile(r"0*[1-9]\d*[uUlL]*|0[xX]0*[1-9a-fA-F][\da-fA-F]*[uUlL]*")
CHANGES = re.compile(r"\+\+|--|[^=!<>]=[^=]|\w\s*\(")  # and calls
LONG = 60  # characters of operands that are written more than once
TYPES = {"int", "long", "short", "char", "signed", "unsigned", "float", "double", "bool", "_Bool", "const", "size_t"}
PREFIXES = {"+", "-", "!", "~", "*", "&", "++", "--"}
# Of operands that are not computed twice. A GPU's compilers have no such blocks, and there a division by 0 ends nothing.
MACROS = """#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define C_QUOTIENT(a, b) ((a) / (b))
#define C_REMAINDER(a, b) ((a) % (b))
#define C_ASSIGN(a, what, b) ((a) = what(a, b))
#else
#ifdef __cplusplus
#define C_AUTO auto
#else
#define C_AUTO __auto_type
#endif
#define C_QUOTIENT(a, b) __extension__({ const C_AUTO c_a = (a); const C_AUTO c_b = (b); QUOTIENT; })
#define C_REMAINDER(a, b) __extension__({ const C_AUTO c_a = (a); const C_AUTO c_b = (b); REMAINDER; })
#define C_ASSIGN(a, what, b) __extension__({ C_AUTO c_to = &(a); *c_to = what(*c_to, b); })
#endif
"""


class Group:
    """What stands within brackets."""

    def __init__(self, opening: str, parts: "List[Part]", closing: str):
        self.opening, self.parts, self.closing = opening, parts, closing


Part = Union[str, Group]


class Space(str):
    """Blanks, ends of lines and comments."""


def _text(parts: "List[Part]") -> str:
    return "".join(part if isinstance(part, str) else part.opening + _text(part.parts) + part.closing for part in parts)


class Reader:
    """Brackets as groups, and space as parts of its own, so that lines keep their numbers."""

    def __init__(self, text: str, reals: Set[str], macros: bool):
        self.tokens = [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(text)]
        self.at = 0
        self.reals = reals  # names of real numbers
        self.may_have_macros, self.has_macros = macros, False

    def parts(self, closing: str = "") -> "Optional[List[Part]]":
        found: List[Part] = []
        while self.at < len(self.tokens):
            kind, token = self.tokens[self.at]
            self.at += 1
            if kind == "line":
                define = re.match(r"[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?", token)
                found.append(token if not define else define[0] + self._of_macro(token[define.end():]))
            elif token in ("(", "[", "{"):
                end = {"(": ")", "[": "]", "{": "}"}[token]
                inner = self.parts(end)
                if inner is None:
                    return None
                found.append(Group(token, self.guarded(inner), end))
            elif token in (")", "]", "}"):
                return found if token == closing else None
            else:
                found.append(Space(token) if kind == "space" else token)
        return found if not closing else None

    def _of_macro(self, body: str) -> str:
        reader = Reader(body, self.reals, self.may_have_macros)
        parts = reader.parts()
        self.has_macros |= reader.has_macros
        return body if parts is None else _text(reader.guarded(parts)).replace("\\\n", "\n").replace("\n", "\\\n")

    # ------------------------------------------------------------------------------------------------ operands ----

    def guarded(self, parts: "List[Part]") -> "List[Part]":
        """The same with a condition around each division; groups have theirs already."""
        done: List[Part] = []
        at = 0
        while at < len(parts):
            part = parts[at]
            if part in ("/", "%"):
                end = self._right(parts, at + 1)
                start = self._left(done)
                right, left = _text(parts[at + 1:end]), _text(done[start:])
                del done[start:]
                done += self._lead(left)
                done.append(self._division(str(part), left, right))
                at = end
            elif part in ("/=", "%="):
                end = self._to_end(parts, at + 1)
                start = self._left(done, assigned=True)
                left, right = _text(done[start:]), _text(self.guarded(parts[at + 1:end]))
                del done[start:]
                done += [*self._lead(left), self._assignment(str(part)[0], left, f"({right})")]
                at = end
            else:
                done.append(part)
                at += 1
        return done

    @staticmethod
    def _lead(text: str) -> "List[Part]":
        return [text[:len(text) - len(text.lstrip())]]

    def _division(self, sign: str, left: str, right: str) -> str:
        lines = "\n" * (left.lstrip() + right).count("\n")
        a, b = (" ".join(re.sub(r"//[^\n]*|/\*.*?\*/|\\\n", " ", text, flags=re.DOTALL).split()) for text in (left, right))
        if NOT_0.fullmatch(b) or self._is_real(a) or self._is_real(b):
            return f"{a} {sign} {b}{lines}"
        if self.may_have_macros and (len(a) + len(b) > LONG or CHANGES.search(a) or CHANGES.search(b)):
            self.has_macros = True
            return f"C_{'QUOTIENT' if sign == '/' else 'REMAINDER'}({a}, {b}){lines}"
        return condition(sign, *(text if re.fullmatch(r"\w+", text) else f"({text})" for text in (a, b))) + lines

    def _assignment(self, sign: str, left: str, right: str) -> str:
        if not self.may_have_macros or not CHANGES.search(left):
            return f"{left.strip()} = " + self._division(sign, left, right)
        self.has_macros = True
        return f"C_ASSIGN({left.strip()}, C_{'QUOTIENT' if sign == '/' else 'REMAINDER'}, {right})"

    def _is_real(self, text: str) -> bool:
        """Whether a real number is a factor of it, as far as the text shows."""
        names = set(re.findall(r"[A-Za-z_]\w*", text))
        sum_of_reals = bool(names) and names <= self.reals and not re.search(r"[<>=!&|^~?:%,]", text)
        factors = [text] if "(" in text or "[" in text else re.split(r"[*/]", text)
        return sum_of_reals or any(REAL.match(factor.strip("-+ ")) or factor.strip("-+ ") in self.reals for factor in factors)

    @staticmethod
    def _right(parts: "List[Part]", at: int) -> int:
        """The end of the operand that starts there: signs and casts, a name, a number or a group, and what is appended to it."""
        while at < len(parts):
            part = parts[at]
            cast = isinstance(part, Group) and part.opening == "(" and set(re.findall(r"\w+", _text(part.parts))) <= TYPES and re.search(r"\w", _text(part.parts))
            if isinstance(part, Space) or part in PREFIXES or part == "sizeof" or cast:
                at += 1
                continue
            break
        at += 1
        while at < len(parts):
            part = parts[at]
            if isinstance(part, Group) and part.opening in "([" or part in ("++", "--") or isinstance(part, Space):
                at += 1
            elif part in (".", "->"):
                at += 1
                while at < len(parts) and isinstance(parts[at], Space):
                    at += 1
                at += 1
            else:
                break
        return min(at, len(parts))

    @staticmethod
    def _to_end(parts: "List[Part]", at: int) -> int:
        """The end of what is assigned."""
        questions = 0
        while at < len(parts) and parts[at] not in (",", ";"):
            questions += {"?": 1, ":": -1}.get(str(parts[at]), 0)
            if questions < 0:
                break
            at += 1
        return at

    @staticmethod
    def _left(parts: "List[Part]", assigned: bool = False) -> int:
        """The start of the product that ends there; of one operand where something is assigned to it."""
        at, start = len(parts) - 1, len(parts)

        def before(i: int) -> "Optional[Part]":
            return next((parts[k] for k in range(i - 1, -1, -1) if not isinstance(parts[k], Space)), None)

        def ends_an_operand(part: "Optional[Part]") -> bool:
            if isinstance(part, Group):
                return part.opening != "{"
            return part is not None and (part in ("++", "--") or re.match(r"[\w.'\"(]", part) is not None and part not in WORDS)
        while at >= 0:
            part = parts[at]
            if isinstance(part, Space):
                at -= 1
                continue
            previous = before(at)
            if isinstance(part, Group):
                if part.opening == "{" or part.opening == "(" and previous in CONTROLS:
                    break
            elif part in ("+", "-", "&"):
                if ends_an_operand(previous) or assigned:
                    break
            elif part in ("*", "/", "%"):
                if assigned and (ends_an_operand(previous) or part != "*"):
                    break
            elif part in WORDS and part != "sizeof" or part not in (".", "->", "!", "~", "++", "--", "sizeof") and not re.match(r"[\w.'\"(]", part):
                break
            start = at
            at -= 1
        return start


def condition(sign: str, a: str, b: str) -> str:
    """a / b or a % b, where both are written more than once."""
    wraps = f"{b} == -1 && {a} - {a} + {b} < 0"
    if sign == "%":
        return f"({b} == 0 ? 0 : {wraps} ? 0 : {a} % {b})"
    return f"({b} == 0 && ({b} + 1 + ({a} - {a})) / 2 == 0 ? 0 : {wraps} ? -{a} : {a} / {b})"


def of_expression(text: str, is_real: bool) -> str:
    """The expression with 0 for each integer that is divided by 0. is_real: x, y, z and w are real numbers."""
    reader = Reader(text, set("xyzw") if is_real else set(), False)
    parts = reader.parts()
    return text if parts is None else _text(reader.guarded(parts))


def of_text(text: str) -> str:
    """The text in C with 0 for each integer that is divided by 0. What is none stays as it is: the compiler says why."""
    if not INTEGERS.search(text):
        return text
    declared = {match[2]: "" for match in re.finditer(INTEGERS.pattern + r"\s+(\w+)", text)}
    reader = Reader(text, {name for name in re.findall(r"\b(?:float|double)\s+(\w+)", text) if name not in declared}, True)
    parts = reader.parts()
    if parts is None:
        return text
    found = _text(reader.guarded(parts))
    if not reader.has_macros:
        return found
    of = {"QUOTIENT": condition("/", "c_a", "c_b"), "REMAINDER": condition("%", "c_a", "c_b")}
    return re.sub(r"(QUOTIENT|REMAINDER)(?=; )", lambda match: of[match[1]], MACROS) + found
