# SPDX-License-Identifier: MIT
"""Makes mutants: small changes to a C or C++ source, each by one rule, of which a test must notice every one.

The rules are those of the literature (Jia and Harman, "An analysis and survey of the development of mutation testing", 2011), with those
of kernels added: barriers, rounding, infinities. They match on the text without comments, strings and directives; the sources are
formatted by clang-format, so that a binary operator has a space on either side and a template's bracket has not.
"""
import collections
import hashlib
import re

SWAPS = {
    "compare": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "},
    "logic": {" && ": " || ", " || ": " && "},
    "arithmetic": {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / "},
    "bits": {" & ": " | ", " | ": " & ", " ^ ": " | ", " << ": " >> ", " >> ": " << "},
    "step": {" += ": " -= ", " -= ": " += ", " *= ": " += ", " <<= ": " >>= ", " >>= ": " <<= ", " |= ": " &= ", " &= ": " |= "},
    "truth": {"true": "false", "false": "true"},
    "rounding": {"long double": "double", "(double)": "(float)", "(float)": "", "DBL_EPSILON": "FLT_EPSILON",
                 "FLT_EPSILON": "DBL_EPSILON", "ceil": "floor", "floor": "ceil"},
    "special": {"isnan": "isinf", "isinf": "isnan", "isfinite": "!isnan", "INFINITY": "0"},
    "extreme": {"min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin"},
}


def any_of(words):
    return "|".join((r"\b" if w[0].isalpha() else "") + re.escape(w) + (r"\b" if w[-1].isalpha() else "") for w in
                    sorted(words, key=len, reverse=True))


# Name, expression, what comes instead (from the match).
RULES = [(name, re.compile(any_of(words)), lambda m, words=words: words[m[0]]) for name, words in SWAPS.items()]
RULES += [
    ("negation", re.compile(r"!(?=[\w(])"), lambda m: ""),
    ("complement", re.compile(r"~(?=[\w(])"), lambda m: ""),
    ("constant", re.compile(r"(?<![\w.])\d+(?![\w.])"), lambda m: str(int(m[0]) + 1)),
    ("real constant", re.compile(r"(?<![\w.])(?:\d+\.\d*f?|0x1p[-+]?\d+f?)(?![\w.])"), lambda m: "(2 * " + m[0] + ")"),
    ("subscript", re.compile(r"(?<=[\w\])]\[)[^][;{}]+(?=\])"), lambda m: "(" + m[0] + ") + 1"),
    ("increment", re.compile(r"(\w+)\+\+(?=\))"), lambda m: m[1] + " += 2"),
    ("barrier", re.compile(r"__syncthreads\(\);|#pragma omp (?:barrier|critical|atomic)\b.*| reduction\([^)]*\)"), lambda m: ";" if
     m[0].endswith(";") else ""),
    ("rounding", re.compile(r"\bgpu_multiply\(([^(),]+), ([^(),]+)\)"), lambda m: f"(({m[1]}) * ({m[2]}))"),
    ("statement", re.compile(r"(?<=    )\*?[\w\]\[.>()+*-]+ (?:[-+*/|&^]|<<|>>)?= [^;{}\n]*;(?=\n)"), lambda m: ";"),
    ("statement", re.compile(r"(?<=    )(?!return\b|__syncthreads)\w+\([^;{}\n]*\);(?=\n)"), lambda m: ";"),
]

# What a line reports about a call, what only changes its time, and what does not run.
PASSED_OVER = re.compile(r"\bprefetch|__builtin_prefetch|\bcpu_team\b|free\(|\bflops\b|\bbytes_requested\b|->bytes\b|static_assert|_Static_assert|__attribute__|\.summary|\btypedef\b")
# `float tile[16]`, `case 3`: the size and the label are neither a subscript nor a constant of a computation.
DECLARED = re.compile(r"^\s*(?:(?:static|const|constexpr|extern|unsigned|struct|enum|__shared__|GPU_SHARED|alignas\(\w+\)) )*(?!return\b|else\b)\w+ [*]*\w+\[")

Mutant = collections.namedtuple("Mutant", "file rule nth text old new start line")


def key(mutant):
    return mutant.file, mutant.rule, mutant.text, mutant.nth


def code_only(source):
    """The source with comments, strings and directives blanked, each character in its place."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", blank, source, flags=re.S)
    # A macro's name and parameters are not code, its body is.
    text = re.sub(r"^#define \w+(?:\([^)]*\))?", blank, text, flags=re.M)
    return re.sub(r"^[ \t]*#(?!pragma omp)(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def mutants_of(file, source):
    """All mutants of a file, in order."""
    code = code_only(source)
    lines = code.split("\n")
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found, seen = [], collections.Counter()
    for number, line in enumerate(lines):
        if PASSED_OVER.search(line) or line.lstrip().startswith("case "):
            continue
        text = source[starts[number]:starts[number + 1] - 1].strip()
        for rule, expression, instead in RULES:
            if line.lstrip().startswith("#") and rule != "barrier":
                continue
            for match in expression.finditer(line + "\n"):
                if rule in ("subscript", "constant") and DECLARED.match(line) and "=" not in line[:match.start()]:
                    continue
                start, new = starts[number] + match.start(), instead(match)
                old = source[start:start + len(match[0])]
                if old != match[0] and new not in ("", ";"):
                    continue  # what comes instead would lose the text or comment within
                nth = seen[rule, text]
                seen[rule, text] += 1
                found.append(Mutant(file, rule, nth, text, old, new, start, number + 1))
    return found


def applied(mutant, source):
    end = mutant.start + len(mutant.old)
    assert source[mutant.start:end] == mutant.old
    return source[:mutant.start] + mutant.new + source[end:]


def rank(seed, *words):
    return hashlib.sha256("\0".join([str(seed), *map(str, words)]).encode()).digest()


def in_turn(mutants, seed):
    """The mutants of one file in the order in which they are taken: each rule in its turn. The order of two mutants depends on them and
    on the seed alone, so that a change elsewhere in the file leaves most of a sample as it was."""
    queues = collections.defaultdict(list)
    for mutant in sorted(mutants, key=lambda m: rank(seed, *key(m))):
        queues[mutant.rule].append(mutant)
    rules = sorted(queues, key=lambda rule: rank(seed, mutants[0].file, rule))
    while any(queues.values()):
        for rule in rules:
            if queues[rule]:
                yield queues[rule].pop(0)
