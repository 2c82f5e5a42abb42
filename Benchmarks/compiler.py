"""The benchmarks of the schema compiler: the time to lint schemas, to generate code, and to compile the generated code.
run.py calls this module. Documentation/Benchmarks.md contains tables that it printed."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import schemas

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def run(command, folder=None, allowed=(0,)):
    """Run a command. Return its wall-clock seconds, and the CPU seconds of the process and its children."""
    begin = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        sys.exit(f"{command[0]} failed: {errors.decode()[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime


def measure(title, rounds, limit, command, before=lambda: None):
    runs = []
    for _ in range(rounds):
        before()
        runs.append(run(command))
    walls, cpus = zip(*runs)
    times = [statistics.median(walls), min(walls), min(cpus)]
    return [title, *(f"{seconds * 1000:.0f} ms" for seconds in times), limit]


def speed_rows(martlet, folder, rounds):
    """Measure linting and generating, from the start of the process to its end (S46)."""
    large, hundred, output = folder / "large", folder / "hundred", folder / "output"
    large.mkdir()
    hundred.mkdir()
    text = schemas.large()
    (large / "Types.yaml").write_text(text)
    (hundred / "Types.yaml").write_text(schemas.large(100))

    def clean():
        for file in output.glob("*"):
            file.unlink()

    return [
        ["", "median", "least", "least CPU", "at most"],
        measure(f"lint, 2,000 types in {len(text) // 1000} KB", rounds, "150 ms", [martlet, "lint", large]),
        measure("generate 100 types", rounds, "100 ms", [martlet, "generate", hundred, "--output", output], clean),
        measure("start and end of the process", rounds, "", [martlet, "--version"]),
    ]


# MARK: Compile times

WRAPPED_TYPES = {
    "Int": "Int", "String": "String", "Bool": "Bool", "Double": "Double", "Date": "Date", "String?": "String?",
    "Int?": "Int?", "Data": "Data", "Float": "Float",
}


def wrapped_property(line):
    """Translate a property of a schema, such as `name: String = ""`, to `@Persisted public var name: String = ""`."""
    name, kind = line.split(": ", 1)
    kind, _, default = kind.partition(" = ")
    if name == "p0":
        return f"    @Persisted(primaryKey: true) public var {name}: {kind}"
    kind = kind.replace("List<", "WrappedList<")
    default = {"now": " = Date()", "": ""}.get(default, f" = {default}")
    return f"    @Persisted public var {name}: {kind}{default}"


def write_variants(martlet, folder, extra=False):
    """Write sixty classes in two variants: as generated code, and with property wrappers. Each class has its own file.
    With `extra`, the first class has one more property."""
    schema, generated, wrapped = folder / "schema", folder / "generated", folder / "wrapped"
    for path in (schema, generated, wrapped):
        path.mkdir(exist_ok=True)
    for number, (name, lines) in enumerate(schemas.classes()):
        lines = lines + ["added: Int = 0"] if extra and number == 0 else lines
        properties = "\n".join(f"      {line}" for line in lines)
        (schema / f"{name}.yaml").write_text(
            f"objects:\n  ## Number {number}.\n  {name}:\n    primaryKey: p0\n    properties:\n{properties}\n")
        body = "\n".join(wrapped_property(line) for line in lines)
        text = f"import Foundation\npublic import Wrapped\n\npublic final class {name}: WrappedObject {{\n{body}\n}}\n"
        path = wrapped / f"{name}.swift"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    run([martlet, "generate", schema, "--output", generated])
    return {"generated": generated, "wrapped": wrapped}


class Variant:
    """The classes of one variant (generated or with wrappers), compiled incrementally as in a debug build."""

    def __init__(self, sources, build, flags):
        self.sources, self.build, self.flags = sources, build, flags

    def compile(self, clean):
        if clean:
            for file in self.build.glob("*"):
                file.unlink()
        files = sorted(self.sources.glob("*.swift"))
        names = {str(f): {"object": str(self.build / (f.stem + ".o")),
                          "swift-dependencies": str(self.build / (f.stem + ".swiftdeps"))} for f in files}
        names[""] = {"swift-dependencies": str(self.build / "module.swiftdeps")}
        (self.build / "map.json").write_text(json.dumps(names))
        return run([
            "swiftc", "-Onone", "-g", "-parse-as-library", "-swift-version", "6", "-module-name", "Models", "-incremental",
            "-enable-batch-mode", "-j1", "-c", "-emit-module", "-emit-module-path", self.build / "Models.swiftmodule",
            "-output-file-map", self.build / "map.json", *self.flags, *files], self.build)


def module_flags(scratch):
    """Build Martlet in the debug configuration. Return the compiler flags that make its module importable."""
    build = ["swift", "build", "--package-path", ROOT, "--scratch-path", scratch]
    if subprocess.run([*build, "--target", "Martlet"], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("Martlet did not build")
    binaries = Path(subprocess.run([*build, "--show-bin-path"], capture_output=True, text=True).stdout.strip())
    flags = ["-I", binaries / "Modules"]
    for modulemap in [*ROOT.glob("Sources/*/module.modulemap"), *binaries.glob("*.build/module.modulemap")]:
        flags += ["-Xcc", f"-fmodule-map-file={modulemap}", "-Xcc", f"-I{modulemap.parent}"]
    for headers in ROOT.glob("Sources/*/include"):
        flags += ["-Xcc", f"-I{headers}"]
    return flags


def compile_rows(martlet, folder, scratch, rounds):
    """Measure the CPU seconds of all compiler processes (S24). They depend less on the load of the machine than
    wall-clock seconds."""
    module = folder / "module"
    module.mkdir()
    run(["swiftc", "-Onone", "-parse-as-library", "-swift-version", "6", "-module-name", "Wrapped", "-emit-module",
         "-enable-upcoming-feature", "InternalImportsByDefault",
         "-emit-module-path", module / "Wrapped.swiftmodule", "-c", HERE / "Wrapped/Wrapped.swift", "-o",
         module / "Wrapped.o"])
    flags = {"generated": module_flags(scratch), "wrapped": ["-I", module]}
    times = {key: {"clean": [], "added": []} for key in flags}
    for round_number in range(rounds):
        for key in flags:
            work = folder / f"{key}-{round_number}"
            work.mkdir()
            variants = write_variants(martlet, work)
            build = work / "build"
            build.mkdir()
            variant = Variant(variants[key], build, flags[key])
            times[key]["clean"].append(variant.compile(clean=True)[1])
            write_variants(martlet, work, extra=True)
            times[key]["added"].append(variant.compile(clean=False)[1])
    rows = [["60 classes of 12 properties, debug", "generated", "wrappers", "generated / wrappers", "at most"]]
    for key, title, limit in (("clean", "all of them", "0.50"), ("added", "one property added to one class", "")):
        generated, wrapped = (statistics.median(times[variant][key]) for variant in ("generated", "wrapped"))
        rows.append([title, f"{generated:.2f} s", f"{wrapped:.2f} s", f"{generated / wrapped:.2f}", limit])
    return rows


def tables(martlet, scratch, rounds):
    with tempfile.TemporaryDirectory(prefix="martlet-bench-") as name:
        folder = Path(name)
        yield speed_rows(martlet, folder, max(rounds, 3) * 5)
        compiling = folder / "compiling"
        compiling.mkdir()
        yield compile_rows(martlet, compiling, scratch, rounds)
