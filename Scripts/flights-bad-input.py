#!/usr/bin/env python3
"""Feed FlightsDemo everything that can be wrong and hold it to one promise: a clear message on stderr, exit code not
zero, and nothing changed.

    Scripts/flights-bad-input.py <FlightsDemo binary> <folder of CSV files>
"""
import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = ["airlines.csv", "airports.csv", "flights.csv", "planes.csv", "weather.csv"]


class Bench:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program, data, folder
        self.failures = 0
        self.good = folder / "good.realm"
        done = self.run(data, self.good)
        if done.returncode != 0:
            sys.exit(f"the sample itself fails:\n{done.stderr}")

    def run(self, data, database, **options):
        command = [self.program, "run", data, "--days", "0", "--database", database]
        return subprocess.run(command, capture_output=True, text=True, **options)

    def copy_of_good(self, name):
        """A database of ours, imported before."""
        folder = self.folder / name
        folder.mkdir()
        for file in self.folder.glob("good.realm*"):
            if file.is_file() and not file.name.endswith("-shm"):
                shutil.copy(file, folder / file.name)
        return folder / "good.realm"

    def check(self, name, done, expected, unchanged=True):
        """`expected`: words that the message has to hold."""
        message = done.stderr.strip()
        faults = []
        if done.returncode not in (1, 2):
            faults.append(f"exit code {done.returncode}")
        if not message or len(message.splitlines()) > 6:
            faults.append("no clear message")
        faults += [f"the message lacks '{word}'" for word in expected if word not in message]
        if not unchanged:
            faults.append("something changed")
        self.failures += bool(faults)
        print(f"{'FAIL' if faults else 'ok  '}  {name}: {message}")
        for fault in faults:
            print(f"      {fault}")

    def check_data(self, name, change, expected):
        """Runs on a copy of the data that `change` has spoilt, and on a database that is already filled."""
        data = self.folder / f"data-{name}"
        data.mkdir()
        for file in FILES:
            shutil.copy(self.data / file, data / file)
        change(data)
        database = self.copy_of_good(f"database-{name}")
        before = content(database)
        done = self.run(data, database)
        self.check(name, done, expected, content(database) == before)

    def check_database(self, name, change, expected, **options):
        """Runs on good data and a database that `change` has spoilt: not one byte of it may change."""
        database = self.copy_of_good(f"database-{name}")
        change(database)
        before = bytes_of(database)
        done = self.run(self.data, database, **options)
        self.check(name, done, expected, bytes_of(database) == before)


def content(database):
    """A fingerprint of everything in a database, read from a copy."""
    with tempfile.TemporaryDirectory() as folder:
        for file in database.parent.glob(database.name + "*"):
            if file.is_file() and not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        connection = sqlite3.connect(Path(folder) / database.name)
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        digest = hashlib.sha256()
        for (table,) in tables:
            if table in USER_TABLES:
                for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY 1'):
                    digest.update(repr(row).encode())
        connection.close()
        return digest.hexdigest()


USER_TABLES = {"Airline", "Airport", "Flight", "Location", "Plane", "Weather"}


def bytes_of(database):
    """Fingerprints of the files of a database; an empty log is as good as none."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in database.parent.glob(database.name + "*")
        if file.is_file() and file.stat().st_size and not file.name.endswith(("-shm", ".lock"))
    }


# --- spoiling -------------------------------------------------------------------------------------------------


def edit(file, line, change):
    """A change of one line (from 1) of a file."""

    def apply(folder):
        path = folder / file
        lines = path.read_bytes().split(b"\n")
        lines[line - 1] = change(lines[line - 1])
        path.write_bytes(b"\n".join(lines))

    return apply


def field(number, text):
    def change(line):
        fields = line.split(b",")
        fields[number] = text
        return b",".join(fields)

    return change


def truncate(size):
    def change(database):
        settle(database)
        os.truncate(database, size)

    return change


def settle(database):
    """Moves the log into the file, so that the file alone is the database."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def pragma(text):
    def change(database):
        connection = sqlite3.connect(database)
        connection.execute(f"PRAGMA {text}")
        connection.commit()
        connection.close()
        settle(database)

    return change


def foreign_text(database):
    remove_all(database)
    database.write_text("Dear diary, this is no database.\n" * 200)


def foreign_database(database):
    remove_all(database)
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE diary(day TEXT, text TEXT)")
    connection.execute("INSERT INTO diary VALUES('Monday', 'rain')")
    connection.commit()
    connection.close()


def remove_all(database):
    for file in database.parent.glob(database.name + "*"):
        if file.is_file():
            file.unlink()


def spoil_pages(database):
    settle(database)
    with open(database, "r+b") as file:
        size = file.seek(0, 2)
        for page in range(2, size // 4096, 7):
            file.seek(page * 4096)
            file.write(b"\xA5" * 4096)


# --- cases ----------------------------------------------------------------------------------------------------


def check_all_data(bench):
    done = bench.run(bench.folder / "nowhere", bench.copy_of_good("missing-folder"))
    bench.check("missing folder", done, ["nowhere", "no such folder"])
    for file in FILES:
        bench.check_data(f"missing {file}", lambda folder, file=file: (folder / file).unlink(), [file, "no such file"])
    bench.check_data("a word for a number", edit("flights.csv", 700, field(5, b"late")),
                     ["flights.csv:700", "dep_delay", "whole number", "late"])
    bench.check_data("a row cut short", edit("flights.csv", 4000, lambda line: line[:30]),
                     ["flights.csv:4000", "19 fields"])
    bench.check_data("a row too long", edit("weather.csv", 9, lambda line: line + b",1"),
                     ["weather.csv:9", "15 fields"])
    bench.check_data("an open quote", edit("planes.csv", 20, field(3, b'"BOEING')), ["planes.csv:20", "quote"])
    bench.check_data("no such time", edit("flights.csv", 30, field(18, b"yesterday")), ["flights.csv:30", "time_hour"])
    bench.check_data("a key twice", edit("airlines.csv", 3, field(0, b"9E")), ["airlines.csv:3", "carrier", "9E"])
    bench.check_data("a missing column", edit("airports.csv", 1, field(4, b"height")), ["airports.csv:1", "alt"])
    bench.check_data("an empty file", lambda folder: (folder / "weather.csv").write_text(""), ["weather.csv", "empty"])
    bench.check_data("a file that is no text", lambda folder: (folder / "planes.csv").write_bytes(bytes(4096)),
                     ["planes.csv"])


def check_all_databases(bench):
    bench.check_database("a text file", foreign_text, ["good.realm"])
    bench.check_database("another program's database", foreign_database, ["good.realm"])
    bench.check_database("truncated to half a page", truncate(2000), ["good.realm"])
    bench.check_database("truncated in the middle", truncate(40 * 4096), ["good.realm"])
    bench.check_database("overwritten pages", spoil_pages, ["good.realm"])
    bench.check_database("a newer format", pragma("user_version = 9999"), ["good.realm"])
    database = bench.copy_of_good("no-folder")
    done = bench.run(bench.data, database.parent / "none" / "good.realm")
    bench.check("a database in a folder that is not there", done, ["none"])
    check_read_only(bench)
    check_full_disk(bench)


def check_read_only(bench):
    database = bench.copy_of_good("read-only")
    settle(database)
    for file in [database, *database.parent.iterdir()]:
        file.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    database.parent.chmod(0o555)
    before = bytes_of(database)
    options = {}
    if os.geteuid() == 0:  # root may write anything: run as nobody
        options = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        bench.folder.chmod(0o755)
    try:
        reads = ["test", "-x", bench.program, "-a", "-r", bench.data / "airlines.csv", "-a", "-r", database]
        if subprocess.run(reads, **options).returncode != 0:
            print("skip  a read-only database: another user may not read the program or its data")
            return
        done = bench.run(bench.data, database, **options)
    except OSError as error:
        print(f"skip  a read-only database: {error}")
        return
    bench.check("a read-only database", done, ["good.realm"], bytes_of(database) == before)


def check_full_disk(bench):
    """A database of ours on a disk that has 200 KB left."""
    folder = bench.folder / "full"
    folder.mkdir()
    size = sum(file.stat().st_size for file in bench.folder.glob("good.realm*") if not file.name.endswith("-shm"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={(size + 200_000) // 1024}k", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        print("skip  a full disk: no right to mount one")
        return
    try:
        for file in bench.folder.glob("good.realm*"):
            if file.is_file() and not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        database = folder / "good.realm"
        before = content(database)
        done = bench.run(bench.data, database)
        bench.check("a full disk", done, ["good.realm", "disk"], content(database) == before)
    finally:
        subprocess.run(["umount", folder], check=True)


def main(program, data):
    with tempfile.TemporaryDirectory(prefix="martlet-bad-input-") as name:
        bench = Bench(Path(program).resolve(), Path(data).resolve(), Path(name))
        check_all_data(bench)
        check_all_databases(bench)
        print(f"{bench.failures} failed")
        sys.exit(1 if bench.failures else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
