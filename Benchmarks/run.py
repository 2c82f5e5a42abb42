#!/usr/bin/env python3
"""Run the same workloads on SQLite's C API, on GRDB and on Martlet. Print a table of their times and ratios.

    Benchmarks/run.py [--quick] [--rounds N] [--only WORD,...] [--flights FOLDER] [--json FILE] [--no-build]

The word 'compiler' in --only, or no --only at all, also measures the schema compiler: its speed, and the time to
compile generated code.

Each measurement runs in a separate process. In each round of a workload, all peers (the compared programs) run, one
after another. The peers use equal settings (write-ahead log, synchronous=FULL) and equal data. The script compares
their check values, and fails if these differ. The printed times are medians.
--quick uses 50,000 people instead of 1,000,000, and one round instead of three. It checks that every workload runs. Its
times are not meaningful.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import compiler

HERE = Path(__file__).resolve().parent
PEERS = {"C": "yardstick", "GRDB": "PeerGRDB", "Martlet": "PeerMartlet"}

# For each workload: its name, the file that it needs, and whether it changes the file. "new X" means that the workload
# creates the file. The file is kept under the name X for the workloads that need X.
WORKLOADS = [
    ("insert", "new people", True),
    ("insert-indexed", "new indexed", True),
    ("import", "new flights", True),
    ("lookup", "people", False),
    ("read-held", "people", False),
    ("update-held", "people", True),
    ("iterate", "people", False),
    ("count", "people", False),
    ("count-indexed", "indexed", False),
    ("sort-first-100", "people", False),
    ("list", "people", True),
    ("observe-1", "people", True),
    ("observe-10", "people", True),
    ("observe-100", "people", True),
    ("observers-100", "people", True),
    ("object-observers", "people", True),
    ("small-transactions", "new small", True),
    ("open", "people", False),
    ("latency", "people", True),
    ("readers-and-writer", "people", True),
    ("grouped-transactions", "new small", True),
]

TITLES = {
    "insert": "bulk insert, each object",
    "insert-indexed": "bulk insert with two indexes, each",
    "import": "import of the flights with links, each",
    "lookup": "look-up by primary key and 3 reads",
    "read-held": "read of a property of a held object",
    "update-held": "update of a held object, each",
    "iterate": "iteration reading two properties, each",
    "count": "filtered count, no index",
    "count-indexed": "filtered count, indexed",
    "sort-first-100": "first 100 of an unindexed sort",
    "list-append": "list append (C: chunks, GRDB: rows)",
    "list-insert-middle": "list insert in the middle (same)",
    "list-append-flat": "list append, a row per element",
    "list-insert-middle-flat": "list insert in the middle (same)",
    "list-read-random": "list random read of an element",
    "observe-thousand": "1,000 changes at once among all observed",
    "observers-1": "1 observer, one change",
    "observers-100": "100 observers, one change",
    "object-observers-1": "1 object observed, changed",
    "object-observers-10000": "10,000 objects observed, one changed",
    "latency-thread": "commit until the call on another thread",
    "latency-thread-99": "the same, 99th percentile",
    "latency-process": "commit until the call in another process",
    "latency-process-99": "the same, 99th percentile",
    "beside-readers": "durable write beside four readers, each",
    "beside-writer": "look-up by four readers beside the writer, each",
    "grouped-transactions": "transactions made durable together, each",
    "small-transactions": "small durable transaction, each",
    "open-first": "first opening in a process, one read",
    "open": "open and read one",
}


def title(workload, n):
    if workload.startswith("observe-") and workload not in TITLES:
        return f"one change ({workload.split('-')[2]}) among {n:,} observed"
    return TITLES.get(workload, workload)


def database_files(path):
    """Return the files of a closed database, except for the files that every opening creates again."""
    return [f for f in path.parent.glob(path.name + "*") if not f.name.endswith(("-shm", ".lock"))]


def remove(path):
    for file in path.parent.glob(path.name + "*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def prepare_file(folder, need, changes):
    if need.startswith("new "):
        path = folder / f"{need[4:]}.db"
        remove(path)
        return path
    base = folder / f"{need}.db"
    if not changes:
        return base
    scratch = folder / "scratch.db"
    remove(scratch)
    for file in database_files(base):
        shutil.copy(file, scratch.parent / file.name.replace(base.name, scratch.name, 1))
    os.sync()
    return scratch


class Runner:
    def __init__(self, binaries, peers, folder, people, flights):
        self.binaries, self.peers, self.people, self.flights = binaries, peers, people, flights
        self.folders = {peer: folder / peer for peer in peers}
        for peer_folder in self.folders.values():
            peer_folder.mkdir()
        self.lines = []
        self.failures = []

    def run(self, peer, workload, need, changes):
        """Run one workload of one peer in its own process, and store the measurements that it prints."""
        path = prepare_file(self.folders[peer], need, changes)
        command = [self.binaries / PEERS[peer], workload, path, str(self.people)]
        if workload == "import":
            command.append(self.flights)
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        if done.returncode != 0:
            self.failures.append(f"{peer} {workload}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
            print(self.failures[-1], file=sys.stderr)
            return
        self.lines += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def run_all(self, workloads, rounds):
        for workload, need, changes in workloads:
            print(f"  {workload}", file=sys.stderr, flush=True)
            for _ in range(rounds):
                for peer in self.peers:
                    self.run(peer, workload, need, changes)


def needed(only):
    """Return the chosen workloads, and the workloads that create the files that the chosen workloads need."""
    if not only:
        return WORKLOADS
    chosen = [w for w in WORKLOADS if any(word in w[0] for word in only)]
    bases = {need for _, need, _ in chosen if not need.startswith("new ")}
    return [w for w in WORKLOADS if w in chosen or w[1].removeprefix("new ") in bases and w[1].startswith("new ")]


def summarize(lines):
    """Return {workload: {peer: statistics}}. The workloads have the order of their first lines in the output."""
    table = {}
    for line in lines:
        table.setdefault(line["workload"], {}).setdefault(line["peer"], []).append(line)
    return {
        workload: {
            peer: {
                "n": rows[-1]["n"],
                "nanoseconds": statistics.median(row["nanoseconds"] for row in rows),
                "least": min(row["nanoseconds"] for row in rows),
                "most": max(row["nanoseconds"] for row in rows),
                "check": rows[-1]["check"],
                "peak_kilobytes": max(row["peak_kilobytes"] for row in rows),
                "file_bytes": max(row["file_bytes"] for row in rows),
            }
            for peer, rows in peers.items()
        }
        for workload, peers in table.items()
    }


def time_text(nanoseconds):
    for limit, unit, divisor in ((1e3, "ns", 1), (1e6, "µs", 1e3), (1e9, "ms", 1e6)):
        if nanoseconds < limit:
            return f"{nanoseconds / divisor:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def ratio_text(peers, other):
    if "Martlet" not in peers or other not in peers:
        return "–"
    ratio = peers["Martlet"]["nanoseconds"] / peers[other]["nanoseconds"]
    return f"{ratio:.2f}" if ratio >= 0.05 else f"1/{1 / ratio:,.0f}"


def table_rows(summary):
    rows = [["workload", "C", "GRDB", "Martlet", "Martlet / C", "Martlet / GRDB", "memory MB", "file MB"]]
    for workload, peers in summary.items():
        n = next(iter(peers.values()))["n"]
        cells = [time_text(peers[p]["nanoseconds"]) if p in peers else "–" for p in PEERS]
        memory = " / ".join(f"{peers[p]['peak_kilobytes'] / 1024:.0f}" if p in peers else "–" for p in PEERS)
        size = " / ".join(f"{peers[p]['file_bytes'] / 1e6:.0f}" if p in peers else "–" for p in PEERS)
        rows.append([title(workload, n), *cells, ratio_text(peers, "C"), ratio_text(peers, "GRDB"), memory, size])
    return rows


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
        if number == 0:
            print("|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (w + 1) + ":" for w in widths[1:]]) + "|")


def build_compiler(scratch):
    command = ["swift", "build", "-c", "release", "--package-path", HERE.parent, "--scratch-path", scratch]
    if subprocess.run([*command, "--product", "martlet"], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("the schema compiler did not build")
    done = subprocess.run([*command, "--show-bin-path"], capture_output=True, text=True)
    return Path(done.stdout.strip()) / "martlet"


def measure_compiler(scratch, rounds):
    martlet = build_compiler(scratch)
    for rows in compiler.tables(martlet, scratch, rounds):
        print_table(rows)
        print()


def check_equality(summary):
    """Return a message for each workload whose peers computed different results. Their times are not comparable."""
    return [
        f"{workload}: checks differ: { {peer: values['check'] for peer, values in peers.items()} }"
        for workload, peers in summary.items()
        if len({values["check"] for values in peers.values()}) > 1
    ]


def build(scratch):
    # SwiftPM notices moved files of the dependency `..` only if this manifest is newer than SwiftPM's build plan.
    (HERE / "Package.swift").touch()
    command = ["swift", "build", "-c", "release", "--package-path", HERE, "--scratch-path", scratch]
    if subprocess.run(command).returncode != 0:
        sys.exit("the benchmarks did not build")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="50,000 people, one round")
    parser.add_argument("--people", type=int, help="number of people (1,000,000)")
    parser.add_argument("--rounds", type=int, help="rounds for each peer (3)")
    parser.add_argument("--only", help="workloads whose name contains one of these words, separated by commas")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers to run (C,GRDB,Martlet)")
    parser.add_argument("--flights", default=HERE.parent / "Examples/Flights/Data", help="folder of CSV files")
    parser.add_argument("--json", type=Path, help="also write all measurements to this file")
    parser.add_argument("--directory", help="folder of the databases (a temporary folder); it should be on a real disk")
    parser.add_argument("--scratch-path", type=Path, default=HERE / ".build", help="folder of the build products")
    parser.add_argument("--no-build", action="store_true", help="use the previous build")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    words = arguments.only.split(",") if arguments.only else None
    if words is None or "compiler" in words:
        measure_compiler(HERE.parent / ".build", arguments.rounds or (1 if arguments.quick else 3))
    if words == ["compiler"]:
        return
    if not arguments.no_build:
        build(arguments.scratch_path)
    binaries = arguments.scratch_path.resolve() / "release"
    peers = [peer for peer in arguments.peers.split(",") if (binaries / PEERS[peer]).exists()]
    people = arguments.people or (50_000 if arguments.quick else 1_000_000)
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    with tempfile.TemporaryDirectory(dir=arguments.directory, prefix="martlet-bench-") as folder:
        runner = Runner(binaries, peers, Path(folder), people, arguments.flights)
        runner.run_all(needed(words), rounds)
    summary = summarize(runner.lines)
    print(f"{people:,} people, {rounds} rounds, {os.cpu_count()} cores, {platform.platform()}\n")
    print_table(table_rows(summary))
    print("\nTimes are medians. The last two columns contain C / GRDB / Martlet. Memory is the peak of the process. "
          "File is the size of the database and its write-ahead log.")
    failures = runner.failures + check_equality(summary)
    if arguments.json:
        arguments.json.write_text(json.dumps({"people": people, "rounds": rounds, "summary": summary}, indent=2))
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
