#!/usr/bin/env python3
"""Write schemas that use every awkward name in every place where a schema has a name.

    Tests/Hostile/names.py <martlet binary> <symbol graph of Martlet> <folder>

The names are the keywords of Swift, types of the standard library and of Foundation, and every public name of the
runtime. The public names are read from the symbol graph of the runtime, so that the list stays complete. Each name is
either rejected, at its exact location, or kept in the schema. The caller compiles the code that is generated for the
kept names. Prints the folders of the schemas.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

WORDS = """
associatedtype borrowing class consuming deinit enum extension fileprivate func import init inout internal let nonisolated
open operator precedencegroup private protocol public rethrows static struct subscript typealias var break case catch
continue default defer do else fallthrough for guard if in repeat return switch throw where while Any as async await is nil
Self self super throws try associativity convenience didSet dynamic final get indirect infix lazy left mutating none
nonmutating optional override package postfix precedence prefix Protocol required right set some Type unowned weak willSet
actor any borrow copy consume discard each distributed isolated macro module move sending then unsafe yield preconcurrency
available unavailable escaping autoclosure inlinable objc dynamicType type of line file column function selector keyPath
""".split()

# Words that YAML or the schema language reads as values when they are unquoted.
LITERALS = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "now", "new"]

# Names that generated code declares or calls, including local variables, without leading underscores.
NEIGHBORS = """
newValue oldValue error path row root model value object objects fields load link list map mutableSet linkingObjects facts
encode decode applyDefaults prepare guard state dirty key table context observers unknown allCases rawValue hashValue hash
rootObject storage index count first _id last print assert min max zip abs some wrapped unsafelyUnwrapped magnitude zero
""".split()

TYPES = """
String Array Dictionary Set Optional Result Task Error Never Bool Int UInt Double Float Character Substring Range Sequence
Collection Hashable Equatable Comparable Codable Encodable Decodable Encoder Decoder Identifiable CaseIterable
RawRepresentable Sendable Actor MainActor StaticString Void AnyObject AnyHashable Mirror ObjectIdentifier Slice Unmanaged
Duration Clock Date Data URL UUID Locale Calendar TimeZone Decimal Measurement Notification Bundle FileManager Process
Thread Timer RunLoop Operation Formatter Predicate NSObject NSString IndexPath CharacterSet Regex Element Value Key Wrapped
Iterator RawValue AllCases SubSequence Index Failure Success
""".split()

RUNTIME_TYPES = ["Martlet", "Swift", "Foundation", "Models", "Root", "Model", "Fields", "KeyPaths"]

# Names that are invalid even in backticks.
IMPOSSIBLE = {
    "property": {"self", "init", "Type", "Protocol"},
    "label": {"self", "init", "Type", "Protocol"},
    "key path": {"self", "init", "Type", "Protocol"},
    "case": {"Type", "Protocol"},
    "type": {"self", "init", "Type", "Protocol", "Self", "Any"},
}


def runtime_names(graph):
    """Every public name of the runtime that a schema could write, members and types alike."""
    names = set()
    for symbol in json.loads(Path(graph).read_text())["symbols"]:
        for component in symbol["pathComponents"]:
            base = re.match(r"[A-Za-z][A-Za-z0-9_]*", component)
            if base:
                names.add(base.group())
    # Generated storage has names that begin with an underscore, but symbol graphs omit these names.
    sources = Path(__file__).resolve().parents[2] / "Sources" / "Martlet"
    for file in sources.rglob("*.swift"):
        names.update(re.findall(r"\b(?:var|func|let|init|class|struct|enum|protocol|typealias)\s*\(?_([A-Za-z]\w*)", file.read_text()))
    return names


def member_names(graph):
    """Names of members that objects and projections inherit from the runtime's classes."""
    content = json.loads(Path(graph).read_text())
    symbols = {symbol["identifier"]["precise"]: symbol for symbol in content["symbols"]}
    owners = ("Object", "ObjectBase", "EmbeddedObject", "Projection")
    names = set()
    for relation in content["relationships"]:
        source, target = symbols.get(relation["source"]), symbols.get(relation["target"])
        if relation["kind"] == "memberOf" and source and target and target["pathComponents"][-1] in owners:
            names.add(re.match(r"[^(]*", source["pathComponents"][-1]).group())
    return {name for name in names if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)} - {"subscript"}


def distinct(names):
    """Group names so that the names of a group differ in more than case. Otherwise the tool would reject the schema."""
    spellings = {}
    for name in names:
        spellings.setdefault(name.lower(), []).append(name)
    rounds = max(len(group) for group in spellings.values())
    return [[group[i] for group in spellings.values() if i < len(group)] for i in range(rounds)]


# One property type for each kind of generated accessor. `SUPPORT` declares `Other`, `Kind` and `Part`.
SHAPES = [
    "Int = 7", "String?", "Kind? = second", "Kind = second", "Other?", "List<Other>", "List<Int?>", "Set<String>",
    "Set<Other>", "Map<Double>", "Map<Other?>", "Part?", "List<Part>", "Date = now", "Data?", "UUID = new",
    "ObjectId = new", "Decimal128 = 1.5", "AnyRealmValue = 5", "LinkingObjects<Other.REF>",
]

SUPPORT = """
enums:
  Kind: [first, second, none, some]
embedded:
  Part: {{properties: {{number: Int = 0, name: String?}}}}
objects:
  Other:
    primaryKey: id
    properties: {{id: Int = 0, name: String = x, next: Other?{links}}}
"""


# A schema can use the names of these members of the runtime's classes. They are methods with labels or static members,
# so Swift allows a property with the same name.
ALLOWED_MEMBERS = {"value", "changes", "encode", "fields", "hash"}


class Schema:
    """A schema folder. `make` writes it with all names, and then without the rejected names."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)

    def write(self, name, text):
        (self.folder / name).write_text(text)


def properties(schema, names, shift):
    lines, links = [], []
    for position, name in enumerate(names):
        shape = SHAPES[(position + shift) % len(SHAPES)]
        if "REF" in shape:
            links.append(f", ref{position}: Hostile?")
            shape = shape.replace("REF", f"ref{position}")
        lines.append(f'      "{name}": "{shape}"')
    schema.write("Support.yaml", SUPPORT.format(links="".join(links)))
    schema.write("Names.yaml", "objects:\n  Hostile:\n    properties:\n" + "\n".join(lines) + "\n")


def paths(schema, names):
    """Key paths and lists of key paths. Some lead through deprecated properties, for which other code is generated."""
    targets = ["name", "[name, next.name]", "next.next.name", "others.name", "old.name", "oldName", "oldOnes", "part.name"]
    lines = [f'      "{name}": {targets[i % len(targets)]}' for i, name in enumerate(names)]
    schema.write("Support.yaml", SUPPORT.format(links=""))
    schema.write(
        "Names.yaml",
        "objects:\n  Hostile:\n    properties:\n      name: String?\n      next: Hostile?\n      others: List<Other>\n"
        "      part: Part?\n      old: {type: Other?, deprecated: Use next.}\n      oldName: {type: String?, deprecated: Use name.}\n"
        "      oldOnes: {type: List<Other>, deprecated: Use others.}\n    keypaths:\n" + "\n".join(lines) + "\n")


def elements(schema, names):
    """Key paths to properties with these names, through a link and through a collection."""
    held = "".join(f'      "{name}": String?\n' for name in names)
    lines = "".join(f'      one{i}: "link.{name}"\n      many{i}: "list.{name}"\n' for i, name in enumerate(names))
    schema.write("Names.yaml", "objects:\n  Held:\n    properties:\n" + held)
    schema.write("Support.yaml", "objects:\n  Hostile:\n    properties: {link: Held?, list: List<Held>}\n    keypaths:\n" + lines)


def labels(schema, names):
    targets = ["name", "next.name", "next.next.number", "others.name", "others", "next.others.name", "part.name", "old.name"]
    lines = [f'      "{name}": {targets[i % len(targets)]}' for i, name in enumerate(names)]
    schema.write("Support.yaml", SUPPORT.format(links=""))
    schema.write(
        "Names.yaml",
        "objects:\n  Rooted:\n    properties:\n      name: String?\n      number: Int = 0\n      next: Rooted?\n"
        "      others: List<Other>\n      part: Part?\n      old: {type: Other?, deprecated: Use next.}\n"
        "projections:\n  Hostile:\n    of: Rooted\n    properties:\n" + "\n".join(lines) + "\n")


def cases(schema, names):
    listed = ", ".join(f'"{name}"' for name in names)
    defaults = "".join(f'      p{i}: "Hostile{"?" if i % 2 else ""} = {name}"\n' for i, name in enumerate(names))
    schema.write("Names.yaml", f"enums:\n  Hostile:\n    cases: [{listed}]\n")
    schema.write("Support.yaml", "objects:\n  Holder:\n    properties:\n" + defaults)


def types(schema, names, kind):
    """Types that refer to themselves in every place where a type name is allowed."""
    lines = []
    for name in names:
        if kind == "enum":
            lines.append(f'  "{name}":\n    cases: [first, second, none]\n    unknown: second')
        else:
            embedded = kind == "embedded"
            shapes = f'one: "{name}?", many: "List<{name}>", ' + (f'map: "Map<{name}?>"' if embedded else f'few: "Set<{name}>"')
            extra = "" if embedded else f', back: "LinkingObjects<{name}.one>"'
            lines.append(
                f'  "{name}":\n    properties: {{{shapes}{extra}, text: String = x, day: Date?, bytes: Data?, key: UUID?, '
                f'extra: AnyRealmValue}}\n    keypaths: {{deep: one.many.text, both: [text, one.text], days: one.day}}')
    section = {"enum": "enums", "embedded": "embedded", "object": "objects"}[kind]
    schema.write("Names.yaml", f"{section}:\n" + "\n".join(lines) + "\n")
    if kind == "enum":
        defaults = "".join(f'      p{i}: "{name}? = none"\n      q{i}: "{name} = second"\n' for i, name in enumerate(names))
        schema.write("Support.yaml", "objects:\n  HolderOfAll:\n    properties:\n" + defaults)
    else:
        held = "".join(f'      p{i}: "{"List<" + name + ">" if i % 2 else name + "?"}"\n' for i, name in enumerate(names))
        shown = "".join(f'  ViewOf{i}:\n    of: "{name}"\n    properties: {{text: text, deep: one.text, texts: many.text}}\n'
                        for i, name in enumerate(names))
        schema.write("Support.yaml", "objects:\n  HolderOfAll:\n    properties:\n" + held)
        schema.write("Views.yaml", "projections:\n" + shown)


def projections(schema, names):
    lines = "\n".join(f'  "{name}":\n    of: Rooted\n    properties: {{text: text, next: next, texts: next.all.text}}' for name in names)
    schema.write("Names.yaml", "projections:\n" + lines + "\n")
    schema.write("Support.yaml", "objects:\n  Rooted:\n    properties: {text: String?, next: Rooted?, all: List<Rooted>}\n")


def own_names(schema, _names):
    schema.write("OwnTypeNames.yaml", (Path(__file__).parent / "OwnTypeNames.yaml").read_text())


def lint(martlet, schema):
    done = subprocess.run([martlet, "lint", "--format", "json", schema.folder], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"martlet lint ended with {done.returncode}: {done.stderr}")
    return [finding for finding in json.loads(done.stdout)["findings"] if finding["severity"] == "error"]


def rejected(martlet, schema, names):
    """Return the rejected names: the names at which the tool reports an error with one of the codes for names."""
    found = set()
    for finding in lint(martlet, schema):
        path = schema.folder / Path(finding["path"]).name
        start, end = finding["place"]["start"], finding["place"]["end"]
        line = path.read_text().split("\n")[start["line"] - 1]
        token = line[start["column"] - 1:end["column"] - 1].strip('"') if start["line"] == end["line"] else ""
        # Other errors are in references to a rejected type. They must disappear when the type is removed.
        if path.name == "Names.yaml" and finding["code"] in ("MRT0402", "MRT0204") and token in names:
            found.add(token)
    return found


def make(martlet, folder, name, write, names, expected=None, required=()):
    schema = Schema(folder / name)
    write(schema, names)
    out = rejected(martlet, schema, set(names))
    if expected is not None:
        words = {word for word in names if word in WORDS}
        wrong = (out & words) ^ (expected & words)
        if wrong:
            sys.exit(f"{name}: rejected but expected to be valid, or the reverse: {sorted(wrong)}")
    missing = set(required) & set(names) - out
    if missing:
        sys.exit(f"{name}: members of the runtime's classes are not rejected: {sorted(missing)}")
    kept = [word for word in names if word not in out]
    write(schema, kept)
    left = lint(martlet, schema)
    if left:
        sys.exit(f"{name}: still has errors without the rejected names: {left[:3]}")
    print(f"{schema.folder}\t{len(kept)} names, {len(out)} rejected")


def main():
    martlet, graph, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    members = member_names(graph)
    runtime = runtime_names(graph)
    everything = sorted({*WORDS, *LITERALS, *NEIGHBORS, *TYPES, *RUNTIME_TYPES, *runtime, "Hostile", "Kind", "Part", "Other"})
    for number, names in enumerate(distinct(everything)):
        for shift in ([0, 7] if number == 0 else [0]):
            make(martlet, folder, f"properties-{number}-{shift}", lambda s, n: properties(s, n, shift), names,
                 IMPOSSIBLE["property"], members - ALLOWED_MEMBERS - {"rootObject", "projecting"})
        make(martlet, folder, f"labels-{number}", labels, names, IMPOSSIBLE["label"], members - ALLOWED_MEMBERS)
        make(martlet, folder, f"keypaths-{number}", paths, names, IMPOSSIBLE["key path"])
        make(martlet, folder, f"elements-{number}", elements, names, IMPOSSIBLE["property"])
        make(martlet, folder, f"cases-{number}", cases, names, IMPOSSIBLE["case"])
        for kind in ("object", "embedded", "enum"):
            make(martlet, folder, f"{kind}-types-{number}", lambda s, n: types(s, n, kind), names, IMPOSSIBLE["type"])
        make(martlet, folder, f"projection-types-{number}", projections, names, IMPOSSIBLE["type"])
    make(martlet, folder, "own-names", own_names, [])


main()
