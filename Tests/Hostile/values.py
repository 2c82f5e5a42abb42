#!/usr/bin/env python3
"""Compare the texts of compiled code with the texts of the schema.

    Tests/Hostile/values.py schema <folder>             write a schema of awkward texts, a program that checks them, and
                                                        User.swift, which uses everything that is deprecated
    Tests/Hostile/values.py symbols <symbol graph>      compare documentation and deprecations with the texts
    Tests/Hostile/values.py warnings <output of swiftc> compare the warnings of the compiler with the texts

The schema contains the texts with escapes of YAML or of the schema language. The program contains them as numbers. So
no code of Martlet encodes them.
"""
import json
import re
import sys
from pathlib import Path

TEXTS = [
    "", " ", "plain", " ends with blanks  ", "*/ public var broken = 1 /*", "/* open", "// line", '"; fatalError(); "',
    "\\(fatalError())", "\\\\(x) \\", "\\", '"', '""', '"""', '#"raw"#', '"""#', '"\u0301 quote and mark', 'a"\u20d0b\\\u0301',
    "line\nfeed", "carriage\r\nreturn", "lone\rreturn", "\r", "\n\n", "next\u0085line", "line\u2028separator", "para\u2029graph",
    "form\ffeed\vtab", "tab\tstop", "\0 nul", "\x07\x1b[31m red", "\x7f delete", "\u202e reversed \u202c", "\u2066 isolated \u2069",
    "\u200b zero \u200d width \ufeff", "\U0001f985 eagle", "\U0001f469\u200d\U0001f680 joined", "e\u0301 decomposed", "\u00e9 composed",
    "\U0010ffff last", "\ufffd replacement", "'single'", "''", "# no comment", "key: value", "- item", "{a: b}", "[x]", "&a *a !t",
    "true", "null", "NO", "1_000", "~", "%@ %s $0 ${HOME} `id`", "@available(*, unavailable)", "#if false", "#error(\"x\")", "///",
    "".join(map(chr, range(32, 127))), "x" * 5000,
]


def yaml(text):
    """Return the text as a double-quoted scalar of printable ASCII."""
    return '"' + "".join(
        c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


def literal(text):
    """Return the text as a string literal of the schema, to be put into a single-quoted scalar."""
    inner = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{{{ord(c):X}}}" for c in text)
    return '"' + inner.replace("'", "''") + '"'


def direct(text):
    """Return the text without escapes in single quotes of the schema, or None if a schema file cannot contain it."""
    if not text or any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F or 0x2028 <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069 or
                       c in "\ufeff\U0010ffff" for c in text):
        return None
    return "'" + text.replace("'", "''") + "'"


def schema(folder):
    folder = Path(folder)
    (folder / "Schemas").mkdir(parents=True)
    lines, checks, cases = [], [], []

    def add(name, value, text, what="object"):
        lines.append(f"      {name}: {value}")
        checks.append(f"check({json.dumps(name)}, {what}.{name}, [{', '.join(str(ord(c)) for c in text)}])")

    for i, text in enumerate(TEXTS):
        add(f"escaped{i}", f"'String = {literal(text)}'", text)
        add(f"optional{i}", f"'String? = {literal(text)}'", text)
        add(f"expanded{i}", f"{{type: String, default: {yaml(text)}}}", text)
        add(f"dynamic{i}", f"'AnyRealmValue = {literal(text)}'", text)
        plain = direct(text)
        if plain is not None:
            # The text is quoted for the schema, and the result is quoted for YAML.
            add(f"direct{i}", "'String = " + plain.replace("'", "''") + "'", text)
        cases.append(f"      case{i}: {yaml(text)}")
        checks.append(f"check(\"case{i}\", Words.case{i}.rawValue, [{', '.join(str(ord(c)) for c in text)}])")
        if i in nonblank_indexes():
            lines.append(f"      documented{i}: {{type: Int, doc: {yaml(text)}}}")
            lines.append(f"      deprecated{i}: {{type: Int, deprecated: {yaml(text)}}}")
    (folder / "Schemas" / "Texts.yaml").write_text(
        "enums:\n  Words:\n    raw: String\n    cases:\n" + "\n".join(cases)
        + "\nobjects:\n  Texts:\n    properties:\n" + "\n".join(lines) + "\n", encoding="utf-8", newline="")
    # Documentation comments with CRLF, and with characters that would end a comment in Swift.
    (folder / "Schemas" / "Comments.yaml").write_text(
        "objects:\r\n  ## */ first \\(x)\r\n  ## /* \"\"\" second\r\n  Comments:\r\n    properties:\r\n"
        "      ## a\u0301 \U0001f985 #\"x\"#\r\n      number: Int = 1\r\n", encoding="utf-8", newline="")
    used = "".join(f"    _ = texts.deprecated{i}\n" for i in nonblank_indexes())
    (folder / "User.swift").write_text(f"import Martlet\n\nfunc use(_ texts: Texts) {{\n{used}}}\n")
    (folder / "main.swift").write_text(PROGRAM + "\n".join(checks) + "\nfinish()\n")


PROGRAM = """import Foundation
import Martlet

var failures = 0

@MainActor func check(_ name: String, _ text: String?, _ scalars: [UInt32]) {
    let found = text.map { $0.unicodeScalars.map(\\.value) }
    if found != scalars {
        failures += 1
        print("  \\(name): \\(found.map { "\\($0)" } ?? "nil") is not \\(scalars)")
    }
}

@MainActor func check(_ name: String, _ value: AnyRealmValue, _ scalars: [UInt32]) {
    if case .string(let text) = value { check(name, text, scalars) } else { check(name, nil, scalars) }
}

@MainActor func finish() -> Never {
    print("\\(failures) texts differ")
    exit(failures == 0 ? 0 : 1)
}

let unmanaged = Texts()
let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "hostile"))
let object = try realm.write { realm.create(Texts.self) }
if unmanaged.escaped4 != object.escaped4 { failures += 1 }
"""

HARMFUL = {*range(0, 9), *range(10, 32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF}


def documentation(text):
    """Return the documentation lines that Swift must show: split at every kind of line end, no control characters."""
    for end in ["\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"]:
        text = text.replace(end, "\n")
    lines = ["".join(c for c in line if ord(c) not in HARMFUL).rstrip(" \t") for line in text.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def nonblank_indexes():
    """Return the indexes of the texts that can be documentation: all texts that are not blank."""
    return [i for i, text in enumerate(TEXTS) if text.strip()]


def read_literal(text):
    """Decode a message of a symbol graph. Unlike compiler warnings, it contains the escapes of the source."""
    escape = re.compile(r'\\(?:u\{([0-9A-F]+)\}|(["\\]))')
    return escape.sub(lambda match: match[2] or chr(int(match[1], 16)), text)


def report(failures, what):
    print("\n".join(failures + [f"{len(failures)} {what} differ"]))
    sys.exit(bool(failures))


def symbols(path):
    graph = json.loads(Path(path).read_text(encoding="utf-8"))
    found = {tuple(symbol["pathComponents"]): symbol for symbol in graph["symbols"]}
    failures = []

    def check(symbol, text):
        comment = [line["text"].strip(" \t") for line in found[symbol].get("docComment", {"lines": []})["lines"]]
        if comment != [line.strip(" \t") for line in documentation(text)]:
            failures.append(f"{symbol}: {comment} is not {documentation(text)}")

    for i in nonblank_indexes():
        check(("Texts", f"documented{i}"), TEXTS[i])
        for owner in (["Texts"], ["Texts", "Fields"]):
            marks = found[(*owner, f"deprecated{i}")].get("availability", [])
            texts = [read_literal(mark.get("message", "")) for mark in marks if mark.get("isUnconditionallyDeprecated")]
            if texts != [TEXTS[i]]:
                failures.append(f"deprecated{i}: {texts} is not {TEXTS[i]!r}")
    check(("Comments",), '*/ first \\(x)\n/* """ second')
    check(("Comments", "number"), 'a\u0301 \U0001f985 #"x"#')
    report(failures, "documentations or deprecations")


def warnings(path):
    log = Path(path).read_bytes().decode("utf-8", "replace")
    failures = []
    for i in nonblank_indexes():
        warning = f": warning: 'deprecated{i}' is deprecated: "
        # swiftc reformats messages that have several lines or control characters, so only their beginnings are
        # compared.
        if TEXTS[i].isprintable():
            warning += f"{TEXTS[i]} ["
        if warning not in log:
            failures.append(f"no{warning[1:]}")
    others = [line for line in log.split("\n") if re.match(r"/.*: (warning|error): ", line) and "/User.swift:" not in line]
    report(failures + others, "warnings")


{"schema": schema, "symbols": symbols, "warnings": warnings}[sys.argv[1]](sys.argv[2])
