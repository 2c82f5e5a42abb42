#!/usr/bin/env python3
"""Measure bombs: inputs that are designed to be slow. 'martlet' must process each bomb within one second of CPU time,
and with at most 256 MiB of memory.

    Benchmarks/bombs.py MARTLET [--only WORD,...] [--size BYTES] [--commands lint,format,...] [--doubling]

MARTLET is the executable of a release build. Each bomb is a schema folder, and each command runs in a separate process.
The fastest of at most three runs counts, because other work of the machine can only make a run slower. --doubling also
measures each bomb at a quarter and at half of its size. If a bomb of twice the size takes much more than twice the
time, the time grows faster than the size.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEBIBYTE = 1 << 20
SECONDS = 1.0
REJECTED_SECONDS = 0.05
MEGABYTES = 256

HEAD = "objects:\n  Dog:\n    properties:\n"

# The schema files are written to this file system in memory. A disk would be slow with thousands of files, and the
# speed of the disk is not measured.
MEMORY = Path("/dev/shm")


def fill(unit, size, head="", tail=""):
    """Return the head, as many copies of the unit as fit into the size, and the tail."""
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


def count_up(pattern, size, head="", tail="", separator=""):
    """Return the head, as many numbered copies of the pattern as fit into the size, and the tail."""
    parts, length, number = [], len(head) + len(tail), 0
    while True:
        part = pattern.format(n=number, next=number + 1)
        length += len(part) + len(separator)
        if length > size:
            return head + separator.join(parts) + tail
        parts.append(part)
        number += 1


def ring(pattern, size, head):
    """Return numbered copies of the pattern. Each copy refers to the next one, and the last copy to the first one."""
    count = (size - len(head)) // (len(pattern.format(n=10_000, next=10_000)) + 2)
    return head + "".join(pattern.format(n=number, next=(number + 1) % count) for number in range(count))


def indentation(size):
    lines, length = [], 0
    while length + len(lines) + 3 <= size:
        lines.append(" " * len(lines) + "a:\n")
        length += len(lines[-1])
    return "".join(lines)


def alias_bomb():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for previous, name in zip("abcdefgh", "bcdefghi"):
        lines.append(f"{name}: &{name} [" + ", ".join([f"*{previous}"] * 9) + "]")
    return "\n".join(lines) + "\n"


# Bombs that 'martlet' must reject with one finding each, within 50 ms.
REJECTED = {
    "rejected: 200 KB of [": "[" * 200_000,
    "rejected: 200 KB of {": "{" * 200_000,
    "rejected: 200 KB of {a: ": "{a: " * 50_000,
    "rejected: 200 KB of - ": "- " * 100_000,
    "rejected: alias bomb": alias_bomb(),
    "rejected: 10,000 duplicate keys": HEAD + "      name: String\n" * 10_000,
    "rejected: key of 2,000 letters": HEAD + "      name: String\n" + "k" * 2_000 + ": 1\n",
}

# Characters and words of YAML. A file that repeats one of them is a bomb.
UNITS = [
    "\n", "- ", "? ", "\t", ":", ": ", "\"", "'", "#", "# ", "## a\n", "&a ", "*a ", "!a ", "|\n", ">\n", "%", "@", "`",
    "\\", "\r", ",", "[", "{", "]", "}", "[]", "{}", "[a,", "{a,", "---\n", "...\n", "<<: 1\n", "<<<<<<< \n", ">>>>>>> \n",
    "a\n", "a:\n", "a: b\n", "a:b\n", "a: b: c\n", "a b\n", "a: [\n", "a: {b\n", "a: 'x\n", "a: \"x\n", "a: @\n",
    "a: \"\\q\"\n", "\ta: b\n", "  a: [\n", "- a\n  - b\n", "\x00", "\x07", "\u202e", "\u00e9", "\ufeff", "x",
]

# Sequences of bytes that are not valid UTF-8. A file that repeats one of them is a bomb.
BYTES = [b"\xff", b"a\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f"]


def structured(size):
    """Return bombs that consist of one schema file, with a great number of one construct."""
    prop = "      p{n}: Int\n"
    bombs = {
        "50,000 properties": lambda: count_up(prop, size, HEAD),
        "properties, all of an unknown type": lambda: count_up("      p{n}: Strng\n", size, HEAD),
        "properties without a space after the colon": lambda: count_up("      p{n}:Int\n", size, HEAD),
        "properties, all with a bad default": lambda: count_up("      p{n}: Int = x\n", size, HEAD),
        "lists with names in the singular": lambda: count_up("      item{n}: List<Int>\n", size, HEAD),
        "properties with a type of another language": lambda: count_up("      p{n}: string\n", size, HEAD),
        "properties in upper case": lambda: count_up("      P{n}: Int\n", size, HEAD),
        "properties with deprecations": lambda: count_up("      p{n}: {{type: Int, deprecated: true}}\n", size, HEAD),
        "properties with unknown keys": lambda: count_up("      p{n}: {{typ: Int}}\n", size, HEAD),
        "properties that differ by case": lambda: count_up("      a{n}: Int\n      A{n}: Int\n", size, HEAD),
        "properties on one line": lambda: count_up("p{n}: Int", size, "objects: {Dog: {properties: {", "}}}\n", ", "),
        "one line with an error at the end": lambda: count_up(
            "p{n}: Int", size, "objects: {Dog: {properties: {", ", z: Strng}}}\n", ", "),
        "one line of errors": lambda: count_up("p{n}: Strng", size, "objects: {Dog: {properties: {", "}}}\n", ", "),
        "one line of warnings": lambda: count_up("P{n}: Int", size, "objects: {Dog: {properties: {", "}}}\n", ", "),
        "one line with a syntax error at the end": lambda: count_up(
            "p{n}: Int", size, "objects: {Dog: {properties: {", ", z: [}}}\n", ", "),
        "indentation": lambda: indentation(size),
        "30,000 types alike, one wrong": lambda: count_up(
            "  Type{n}: {{properties: {{a: Int}}}}\n", size, "objects:\n  A: {properties: {a: Typo1}}\n"),
        "types that use different unknown types": lambda: count_up(
            "  Type{n}: {{properties: {{a: Typo{n}}}}}\n", size, "objects:\n"),
        "types of one name": lambda: fill("  Dog: {properties: {a: Int}}\n", size, "objects:\n"),
        "types that differ by case": lambda: count_up(
            "  A{n}: {{properties: {{a: Int}}}}\n  a{n}: {{properties: {{a: Int}}}}\n", size, "objects:\n"),
        "types without properties": lambda: count_up("  A{n}:\n", size, "objects:\n"),
        "links in a ring": lambda: ring("  A{n}: {{properties: {{a: A{next}?}}}}\n", size, "objects:\n"),
        "a chain of links to an undeclared type": lambda: count_up(
            "  A{n}: {{properties: {{a: A{next}?}}}}\n", size, "objects:\n"),
        "cascades in a ring": lambda: ring(
            "  A{n}: {{properties: {{a: {{type: A{next}?, onDelete: cascade}}}}}}\n", size, "objects:\n"),
        "embedded in a ring": lambda: ring("  A{n}: {{properties: {{a: A{next}?}}}}\n", size, "embedded:\n"),
        "embedded in a ring, not optional": lambda: ring(
            "  A{n}: {{properties: {{a: A{next}, b: A0}}}}\n", size, "embedded:\n"),
        "linking objects of a property that is no link": lambda: count_up(
            "      p{n}: LinkingObjects<Dog.q>\n", size, HEAD + "      q: Int\n"),
        "enum of 100,000 cases": lambda: count_up("a{n}", size, "enums: {E: [", "]}\n", ", "),
        "enum of cases below each other": lambda: count_up("      a{n}: {n}\n", size, "enums:\n  E:\n    raw: Int\n    cases:\n"),
        "enum of equal cases": lambda: fill("a,", size, "enums: {E: [", "a]}\n"),
        "enum of numbers": lambda: fill("1,", size, "enums: {E: [", "1]}\n"),
        "enum of empty cases": lambda: fill("'',", size, "enums: {E: [", "a]}\n"),
        "enum and a wrong default": lambda: count_up(
            "a{n}", size, "objects: {Dog: {properties: {a: E = b1}}}\nenums: {E: [", "]}\n", ", "),
        "enum and wrong defaults": lambda: count_up(
            "      p{n}: E = b{n}\n", size,
            "enums:\n  E: [" + ", ".join(f"a{n}" for n in range(size // 20)) + "]\n" + HEAD),
        "names in an index": lambda: count_up("a{n}", size, "objects: {Dog: {properties: {a: Int}, index: [", "]}}\n", ", "),
        "one name in an index": lambda: fill("a,", size, "objects: {Dog: {properties: {a: Int}, index: [", "a]}}\n"),
        "one name in a unique list": lambda: fill("a,", size, "objects: {Dog: {properties: {a: Int}, unique: [[", "a]]}}\n"),
        "unique lists": lambda: fill("[a],", size, "objects: {Dog: {properties: {a: Int}, unique: [", "[a]]}}\n"),
        "one key path": lambda: fill(".a", size, HEAD + "      a: Dog?\n    keypaths:\n      k: a", "\n"),
        "key paths of 60 KB": lambda: fill(
            "      k: a" + ".a" * 30_000 + "\n", size, HEAD + "      a: Dog?\n    keypaths:\n").replace(
                "      k:", "      kk:", 1),
        "key paths of 200 steps": lambda: count_up(
            "      k{n}: a" + ".a" * 200 + "\n", size, HEAD + "      a: Dog?\n    keypaths:\n"),
        "key paths that lead nowhere": lambda: count_up("      k{n}: a.b{n}\n", size, HEAD + "      a: Dog?\n    keypaths:\n"),
        "a projection of long paths": lambda: count_up(
            "      k{n}: a" + ".a" * 200 + "\n", size,
            HEAD + "      a: Dog?\nprojections:\n  P:\n    of: Dog\n    properties:\n"),
        "one plain scalar": lambda: fill("x", size, "a: ", "\n"),
        "one quoted scalar": lambda: fill("x", size, "a: \"", "\"\n"),
        "one quoted scalar of escapes": lambda: fill("\\u00e9", size, "a: \"", "\"\n"),
        "one default": lambda: fill("x", size, HEAD + "      a: String = \"", "\"\n"),
        "one type of ?": lambda: fill("?", size, HEAD + "      a: String", "\n"),
        "one type of <": lambda: fill("List<", size, HEAD + "      a: ", "\n"),
        "types of <": lambda: count_up("      p{n}: " + "List<" * 100 + "\n", size, HEAD),
        "one block scalar": lambda: fill("      x\n", size, "objects:\n  Dog:\n    doc: |\n"),
        "one folded scalar": lambda: fill("x ", size, "objects:\n  Dog:\n    doc: >\n      ", "\n"),
        "one scalar of many lines": lambda: fill("x\n  ", size, "a:\n  "),
        "documentation": lambda: fill("  ## x\n", size, "objects:\n", "  Dog: {properties: {a: Int}}\n"),
        "documentation of everything": lambda: count_up("      ## x\n      p{n}: Int\n", size, HEAD),
        "comments in a list": lambda: fill("# c\n  ", size, "objects: {Dog: {properties: {a: Int}, index: [a ", "]}}\n"),
        "comments between items": lambda: fill("a, # c\n  ", size, "objects: {Dog: {properties: {a: Int}, index: [", "a]}}\n"),
        "ignores of everything": lambda: fill("# martlet:ignore MRT0501\n", size, "objects:\n", "  Dog: {properties: {a: Int}}\n"),
        "ignores above the file": lambda: fill("# martlet:ignore MRT0501\n", size, "", "objects: {Dog: {properties: {a: Int}}}\n"),
        "ignores of unknown codes": lambda: fill("# martlet:ignore MRT9999\n", size, "objects:\n", "  Dog: {properties: {a: Int}}\n"),
        "one ignore of many codes": lambda: fill("MRT0501,", size, "objects:\n  # martlet:ignore ", "\n  Dog: {properties: {a: Int}}\n"),
        "ignores at the ends of lines": lambda: count_up("      p{n}: Int # martlet:ignore MRT0501\n", size, HEAD),
        "anchors without a blank": lambda: fill("&a,", size, "a: [", "a]\n"),
        "tags without a blank": lambda: fill("!a,", size, "a: [", "a]\n"),
        "aliases without a blank": lambda: fill("*a ,", size, "a: [&a a,", "a]\n"),
        "nulls": lambda: fill("a: ~\n", size),
        "duplicate keys, each twice": lambda: count_up("      p{n}: Int\n      p{n}: Int\n", size, HEAD),
        "mappings as keys": lambda: fill("? {a: b}\n: c\n", size),
        "merge keys in mappings": lambda: fill("{<<: a},", size, "a: [", "a]\n"),
        "renames of everything": lambda: count_up("      p{n}: {{type: Int, renamedFrom: p{next}}}\n", size, HEAD),
        "dates": lambda: count_up("      p{n}: Date = 2024-05-31T12:00:00Z\n", size, HEAD),
        "defaults of escapes": lambda: count_up("      p{n}: 'String = \"" + "\\\\" * 100 + "\"'\n", size, HEAD),
        "data": lambda: fill("AAAA", 60_000, HEAD + "      a: Data = \"", "\"\n"),
        "tabs that indent": lambda: count_up("\t\t\tp{n}: Int\n", size, "objects:\n\tDog:\n\t\tproperties:\n"),
        "lines of tabs": lambda: count_up("\t" * 1000 + "p{n}: Int\n", size, "objects:\n\tDog:\n\t\tproperties:\n"),
        "unclosed quotes": lambda: count_up("      p{n}: \"Int\n", size, HEAD),
        "unclosed brackets": lambda: count_up("      p{n}: [Int\n", size, HEAD),
        "brackets as types": lambda: count_up("      p{n}: [Int]?\n", size, HEAD),
        "odd indentation": lambda: "".join(HEAD + " " * (6 + n % 3) + f"p{n}: Int\n" if n == 0 else " " * (6 + n % 3) + f"p{n}: Int\n" for n in range(size // 19)),
        "conflicts": lambda: fill("<<<<<<< a\n  A: {properties: {a: Int}}\n=======\n  B: {}\n>>>>>>> b\n", size, "objects:\n"),
        "wide letters": lambda: fill("\u00e9", size // 2, HEAD + "      a: String # ", "\n"),
        "wide letters and errors": lambda: count_up("      \u00e9{n}: Int\n", size * 9 // 10, HEAD),
    }
    return {name: lambda make=make: {"A.yaml": make()} for name, make in bombs.items()}


def folders(size):
    """Return bombs that consist of several schema files, or of a schema file and a configuration file."""
    good = "objects: {Dog: {properties: {a: Int}}}\n"
    deep = "/".join(["a"] * 40)
    return {
        "many small files": lambda: {f"{n // 100}/A{n}.yaml": count_up(f"  A{n}x{{n}}: {{{{properties: {{{{a: Int}}}}}}}}\n", size // 2000, "objects:\n") for n in range(2000)},
        "many empty files": lambda: {f"{n // 1000}/A{n}.yaml": "" for n in range(2000)},
        "many files of errors": lambda: {f"A{n}.yaml": count_up("  A{n}: {{properties: {{a: Strng}}}}\n", size // 50, "objects:\n") for n in range(50)},
        "configuration: overrides": lambda: {"A.yaml": good, "martlet.yaml": count_up(
            "    - paths: [b{n}/**]\n      rules: {{MRT0501: off}}\n", size, "lint:\n  overrides:\n")},
        "configuration: paths": lambda: {"A.yaml": good, "martlet.yaml": count_up(
            "b{n}", size, "lint:\n  overrides:\n    - rules: {MRT0501: off}\n      paths: [", "]\n", ", ")},
        "configuration: stars": lambda: {f"{deep}/A.yaml": good, "martlet.yaml":
            "lint:\n  overrides:\n    - rules: {MRT0501: off}\n      paths: [" + "/".join(["**", "a"] * 16) + "/**/b]\n"},
        "configuration: unknown keys": lambda: {"A.yaml": good, "martlet.yaml": count_up("k{n}: 1\n", size)},
        "configuration: brackets": lambda: {"A.yaml": good, "martlet.yaml": "[" * size},
    }


def all_bombs(size):
    bombs = {name: lambda text=text: {"A.yaml": text} for name, text in REJECTED.items()}
    for unit in UNITS:
        letters = size * len(unit) // len(unit.encode())
        bombs[f"1 MiB of {unit!r}"] = lambda unit=unit, letters=letters: {"A.yaml": fill(unit, letters)}
        bombs[f"a schema, then {unit!r}"] = lambda unit=unit, letters=letters: {
            "A.yaml": fill(unit, letters, HEAD + "      a: Int\n")}
    for unit in BYTES:
        bombs[f"1 MiB of bytes {unit!r}"] = lambda unit=unit: {"A.yaml": unit * (size // len(unit))}
    return bombs | structured(size) | folders(size)


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


FORMATS = ["brief", "json", "sarif", "github", "junit", "gitlab", "checkstyle"]


def arguments_of(command, folder):
    if command.startswith("lint:"):
        return ["lint", "--preset", "strict", "--format", command[5:], folder]
    return {
        "lint": ["lint", "--preset", "strict", folder],
        "fix": ["lint", "--fix", folder],
        "generate": ["generate", folder, "--output", folder.parent / "out"],
        "format": ["format", "--check", folder],
        "breaking": ["breaking", "--against", folder, folder],
    }[command]


class Outcome:
    def __init__(self, seconds, megabytes, status, size):
        self.seconds, self.megabytes, self.status, self.size = seconds, megabytes, status, size


def run_once(martlet, command, files, limit):
    with tempfile.TemporaryDirectory(prefix="martlet-bomb-", dir=MEMORY if MEMORY.is_dir() else None) as scratch:
        folder = Path(scratch) / "schema"
        folder.mkdir()
        write(folder, files)
        with open(Path(scratch) / "output", "w+") as output:
            begin = time.monotonic()
            process = subprocess.Popen([martlet, *arguments_of(command, folder)], stdout=output, stderr=output)
            is_killed = False
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - begin > limit:
                    process.kill()
                    is_killed, (_, status, usage) = True, os.wait4(process.pid, 0)
                    break
                time.sleep(0.001)
            process.returncode = 0
            # The CPU time of the process, because it depends less on the load of the machine than the wall-clock time.
            seconds = usage.ru_utime + usage.ru_stime
            code = "hangs" if is_killed else os.waitstatus_to_exitcode(status)
            return Outcome(seconds, usage.ru_maxrss / 1024, code, os.fstat(output.fileno()).st_size)


def measure(martlet, command, files, allowed, rounds=3):
    best = None
    for _ in range(rounds):
        outcome = run_once(martlet, command, files, limit=30)
        if best is None or outcome.seconds < best.seconds:
            best = outcome
        if best.seconds < allowed / 2:
            break
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", type=Path)
    parser.add_argument("--only", help="bombs whose name contains one of these words, separated by commas")
    parser.add_argument("--size", type=int, default=MEBIBYTE)
    parser.add_argument("--commands", default="lint,format,generate")
    parser.add_argument("--doubling", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--least", type=float, default=0, help="show only runs that take at least this many seconds")
    arguments = parser.parse_args()
    words = arguments.only.split(",") if arguments.only else [""]
    failures = 0
    for command in arguments.commands.split(","):
        for name, files in all_bombs(arguments.size).items():
            if not any(word in name for word in words):
                continue
            allowed = REJECTED_SECONDS if name.startswith("rejected") else SECONDS
            outcome = measure(arguments.martlet, command, files(), allowed, arguments.rounds)
            is_bad = outcome.seconds > allowed or outcome.megabytes > MEGABYTES or outcome.status not in (0, 1)
            failures += is_bad
            if outcome.seconds >= arguments.least or is_bad:
                growth = ""
                if arguments.doubling:
                    smaller = [all_bombs(arguments.size // by).get(name, files) for by in (4, 2)]
                    times = [measure(arguments.martlet, command, f(), 0, arguments.rounds).seconds for f in smaller]
                    growth = " ".join(f"{t * 1000:6.0f}" for t in times) + " "
                print(f"{'TOO MUCH' if is_bad else '        '} {command:10} {growth}{outcome.seconds * 1000:6.0f} ms "
                      f"{outcome.megabytes:4.0f} MB {outcome.size:9} bytes, exit {outcome.status}  {name}", flush=True)
    print(f"{failures} too much", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
