#!/usr/bin/env python3
"""Check the errors that the Swift compiler reports for common mistakes in programs that use generated models.

    Tests/mistakes-check.py            compile all mistakes and check the errors and the documentation
    Tests/mistakes-check.py --write    write Documentation/CompileTimeErrors.md

Each declaration in Tests/Mistakes contains one mistake. Its documentation comment describes the mistake, and contains a
text that must be part of the compiler's first error. A comment below the wrong statement contains the right statement:

    /// A misspelt property.
    /// error: value of type 'Dog.Fields<Dog>' has no member 'nmae'
    func misspelt(_ realm: Realm) {
        _ = realm.objects(Dog.self).where { $0.nmae == "Rex" }
        // right: _ = realm.objects(Dog.self).where { $0.name == "Rex" }
    }

The right statements must compile without warnings. The script uses the modules in .build, or in the folder that BUILD
names.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / ".build"))
SAMPLES = ROOT / "Tests/Mistakes"
PAGE = ROOT / "Documentation/CompileTimeErrors.md"
MINIMUM_COUNT = 50
RIGHT = "// right: "

INTRODUCTION = """# Errors of the Swift compiler

Generated classes carry the names and types of the schema, so the Swift compiler reports wrong names and types. This page
lists common mistakes with the first error of the compiler (Swift 6.3) and the right code. The types are those of
[Schemas/Kennel](../Schemas/Kennel) and [Schemas/Conformance](../Schemas/Conformance). Mistakes that only a running
program can find are listed in [Misuse](Misuse.md).

This page is generated from `Tests/Mistakes`. `make test` compiles each mistake and each correction.

Two mistakes are reported in another place first. After `!`, as in `where { !$0.isPupy }`, the first error is about `where`
and the second one names `isPupy`. With a trailing closure, a wrong name in `sorted { $0.nmae }` is reported as an error of
Foundation's `sorted(using:)`; write `sorted(by: { $0.nmae })` to see the name.
"""


class Mistake:
    """A declaration with one mistake."""

    def __init__(self, path, first, lines):
        self.path, self.first = path, first
        self.last = first + len(lines) - 1
        comments = [line[4:] for line in lines if line.startswith("/// ")]
        self.expected = next((line[7:] for line in comments if line.startswith("error: ")), None)
        self.title = " ".join(line for line in comments if not line.startswith("error: "))
        self.body = [line for line in lines if not line.startswith("///")]
        self.errors = []
        if not self.expected or not any(line.strip().startswith(RIGHT) for line in lines):
            sys.exit(f"error: {self.place} needs '/// error: ' and '{RIGHT}'")

    @property
    def place(self):
        return f"{self.path.relative_to(ROOT)}:{self.first}"

    def parts(self):
        """Returns the lines before the wrong statement, the wrong statement, its correction and the remaining lines."""
        marks = [index for index, line in enumerate(self.body) if line.strip().startswith(RIGHT)]
        begin, end = marks[0], marks[-1] + 1
        depth = indentation(self.body[begin])
        start = begin - 1
        while indentation(self.body[start]) > depth or self.body[start].strip().startswith("}"):
            start -= 1
        right = [line.replace(RIGHT, "", 1) for line in self.body[begin:end]]
        return self.body[:start], self.body[start:begin], right, self.body[end:]

    def corrected(self):
        before, _, right, after = self.parts()
        return "\n".join(before + right + after)

    def names_mistake(self):
        return bool(self.errors) and self.expected in self.errors[0]


def indentation(line):
    return len(line) - len(line.lstrip())


def read(path):
    """Returns the imports and the mistakes of a file. An empty line ends each declaration."""
    lines = path.read_text(encoding="utf-8").split("\n")
    imports = [line for line in lines if line.startswith("import ")]
    mistakes, begin = [], None
    for index, line in enumerate(lines + [""]):
        if begin is None and line.startswith("///"):
            begin = index
        if begin is not None and not line:
            mistakes.append(Mistake(path, begin + 1, lines[begin:index]))
            begin = None
    return imports, mistakes


def compile_files(files):
    """Returns the diagnostics as (path, line, column, kind, text), sorted by location.

    They are sorted because the compiler does not always print several errors of one expression in the same order.
    """
    binaries = BUILD / "debug"
    command = ["swiftc", "-typecheck", "-wmo", "-swift-version", "6", "-parse-as-library", "-module-name", "Mistakes"]
    command += ["-diagnostic-style=llvm", "-I", binaries / "Modules"]
    for module in [*ROOT.glob("Sources/*/module.modulemap"), *binaries.glob("*.build/module.modulemap")]:
        command += ["-Xcc", f"-fmodule-map-file={module}", "-Xcc", f"-I{module.parent}"]
    output = subprocess.run([*map(str, command), *map(str, files)], capture_output=True, text=True).stderr
    found = []
    for path, line, column, kind, text in re.findall(r"^(/[^:\n]*):(\d+):(\d+): (error|warning|note): (.*)$", output, re.M):
        # An error in the expansion of a macro gets the line of the macro and column 0. It then precedes the other
        # errors of this line.
        if found and text.startswith("in expansion of macro"):
            found[-1] = (Path(path), int(line), 0, *found[-1][3:])
        elif kind != "note":
            found.append((Path(path), int(line), int(column), kind, text))
    if not found and "error:" in output:
        sys.exit(output)
    return sorted(found, key=lambda item: item[:3])


def check_corrections(files):
    """Returns the number of diagnostics for the corrected statements."""
    with tempfile.TemporaryDirectory() as folder:
        copies = []
        for path, (imports, mistakes) in files.items():
            copies.append(Path(folder) / path.name)
            copies[-1].write_text("\n".join(imports + [mistake.corrected() for mistake in mistakes]), encoding="utf-8")
        found = compile_files(copies)
        for path, line, _, kind, text in found:
            code = path.read_text(encoding="utf-8").split("\n")[line - 1].strip()
            print(f"  FAIL  a correction does not compile: {code}\n        {kind}: {text}")
    return len(found)


def page(files):
    parts = [INTRODUCTION]
    for path, (_, mistakes) in files.items():
        title = path.read_text(encoding="utf-8").split("\n")[0].removeprefix("// ").split(". How")[0]
        parts.append(f"## {title}\n")
        for mistake in mistakes:
            _, wrong, right, _ = mistake.parts()
            depth = indentation(right[0])
            wrong, right = ("\n".join(line[depth:] for line in lines) for lines in (wrong, right))
            parts.append(f"### {mistake.title.rstrip('.')}\n")
            parts.append(f"```swift\n{wrong}\n```\n\n```\nerror: {mistake.errors[0]}\n```\n\n```swift\n{right}\n```\n")
    return "\n".join(parts)


def main(arguments):
    files = {path: read(path) for path in sorted(SAMPLES.glob("*.swift"))}
    mistakes = [mistake for _, found in files.values() for mistake in found]
    for path, line, _, kind, text in compile_files(files):
        for mistake in mistakes:
            if kind == "error" and mistake.path == path and mistake.first <= line <= mistake.last:
                mistake.errors.append(text)
    failures = 0
    for mistake in mistakes:
        if mistake.names_mistake():
            continue
        failures += 1
        first = mistake.errors[0] if mistake.errors else "(compiles)"
        print(f"  FAIL  {mistake.place}: {mistake.title}\n        expected: {mistake.expected}\n        found:    {first}")
    print(f"{len(mistakes) - failures} of {len(mistakes)} mistakes are named by the first error")
    if len(mistakes) < MINIMUM_COUNT:
        sys.exit(f"error: there must be at least {MINIMUM_COUNT} mistakes")
    failures += check_corrections(files)
    if failures:
        sys.exit(1)
    text = page(files)
    if "--write" in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("error: Documentation/CompileTimeErrors.md is out of date; run Tests/mistakes-check.py --write")


if __name__ == "__main__":
    main(sys.argv[1:])
