#!/usr/bin/env python3
"""Run FlightsDemo with every kind of bad input. Check that the program prints a clear message to stderr, exits with
code 1 or 2, and changes nothing.

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


class InputCheck:
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
        """Return a copy of the imported database."""
        folder = self.folder / name
        folder.mkdir()
        for file in self.folder.glob("good.realm*"):
            if file.is_file() and not file.name.endswith("-shm"):
                shutil.copy(file, folder / file.name)
        return folder / "good.realm"

    def check(self, name, done, expected, unchanged=True):
        """Check the exit code and the message. The message must contain all words in `expected`."""
        message = done.stderr.strip()
        problems = []
        if done.returncode not in (1, 2):
            problems.append(f"exit code {done.returncode}")
        if not message or len(message.splitlines()) > 6:
            problems.append("no clear message")
        problems += [f"the message lacks '{word}'" for word in expected if word not in message]
        if not unchanged:
            problems.append("something changed")
        self.failures += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '}  {name}: {message}")
        for problem in problems:
            print(f"      {problem}")

    def check_data(self, name, change, expected):
        """Corrupt a copy of the data with `change`, and import it into a database that already has content. The content
        must not change."""
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
        """Corrupt a database with `change`, and import good data into it. No byte of the database may change."""
        database = self.copy_of_good(f"database-{name}")
        change(database)
        before = bytes_of(database)
        done = self.run(self.data, database, **options)
        self.check(name, done, expected, bytes_of(database) == before)


def content(database):
    """Return a hash of all rows of the tables in USER_TABLES. The function reads a copy of the database, because
    reading can change the files of a database."""
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
    """Return the hashes of the files of a database. Empty files are ignored, because SQLite treats an empty log like a
    missing log."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in database.parent.glob(database.name + "*")
        if file.is_file() and file.stat().st_size and not file.name.endswith(("-shm", ".lock"))
    }


# --- corruption -----------------------------------------------------------------------------------------------


def edit(file, line, change):
    """Return a function that changes one line of a file. Lines are counted from 1."""

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
        checkpoint(database)
        os.truncate(database, size)

    return change


def checkpoint(database):
    """Copy the write-ahead log into the database file and empty the log, so that the database file is complete."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def pragma(text):
    def change(database):
        connection = sqlite3.connect(database)
        connection.execute(f"PRAGMA {text}")
        connection.commit()
        connection.close()
        checkpoint(database)

    return change


def foreign_text(database):
    remove_all(database)
    database.write_text("Dear diary, this is not a database.\n" * 200)


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


def corrupt_pages(database):
    checkpoint(database)
    with open(database, "r+b") as file:
        size = file.seek(0, 2)
        for page in range(2, size // 4096, 7):
            file.seek(page * 4096)
            file.write(b"\xA5" * 4096)


# --- cases ----------------------------------------------------------------------------------------------------


def check_all_data(input_check):
    done = input_check.run(input_check.folder / "nowhere", input_check.copy_of_good("missing-folder"))
    input_check.check("missing folder", done, ["nowhere", "no such folder"])
    for file in FILES:
        input_check.check_data(f"missing {file}", lambda folder, file=file: (folder / file).unlink(), [file, "no such file"])
    input_check.check_data("a word for a number", edit("flights.csv", 700, field(5, b"late")),
                     ["flights.csv:700", "dep_delay", "whole number", "late"])
    input_check.check_data("a row cut short", edit("flights.csv", 4000, lambda line: line[:30]),
                     ["flights.csv:4000", "19 fields"])
    input_check.check_data("a row too long", edit("weather.csv", 9, lambda line: line + b",1"),
                     ["weather.csv:9", "15 fields"])
    input_check.check_data("an open quote", edit("planes.csv", 20, field(3, b'"BOEING')), ["planes.csv:20", "quote"])
    input_check.check_data("no such time", edit("flights.csv", 30, field(18, b"yesterday")), ["flights.csv:30", "time_hour"])
    input_check.check_data("a key twice", edit("airlines.csv", 3, field(0, b"9E")), ["airlines.csv:3", "carrier", "9E"])
    input_check.check_data("a missing column", edit("airports.csv", 1, field(4, b"height")), ["airports.csv:1", "alt"])
    input_check.check_data("an empty file", lambda folder: (folder / "weather.csv").write_text(""), ["weather.csv", "empty"])
    input_check.check_data("a file that is not text", lambda folder: (folder / "planes.csv").write_bytes(bytes(4096)),
                     ["planes.csv"])


def check_all_databases(input_check):
    input_check.check_database("a text file", foreign_text, ["good.realm"])
    input_check.check_database("another program's database", foreign_database, ["good.realm"])
    input_check.check_database("truncated to half a page", truncate(2000), ["good.realm"])
    input_check.check_database("truncated in the middle", truncate(40 * 4096), ["good.realm"])
    input_check.check_database("overwritten pages", corrupt_pages, ["good.realm"])
    input_check.check_database("a newer format", pragma("user_version = 9999"), ["good.realm"])
    database = input_check.copy_of_good("no-folder")
    done = input_check.run(input_check.data, database.parent / "none" / "good.realm")
    input_check.check("a database in a missing folder", done, ["none"])
    check_read_only(input_check)
    check_full_disk(input_check)


def check_read_only(input_check):
    database = input_check.copy_of_good("read-only")
    checkpoint(database)
    for file in [database, *database.parent.iterdir()]:
        file.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    database.parent.chmod(0o555)
    before = bytes_of(database)
    options = {}
    if os.geteuid() == 0:  # The user root may write to read-only files, so the program runs as the user nobody.
        options = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        input_check.folder.chmod(0o755)
    try:
        reads = ["test", "-x", input_check.program, "-a", "-r", input_check.data / "airlines.csv", "-a", "-r", database]
        if subprocess.run(reads, **options).returncode != 0:
            print("skip  a read-only database: another user may not read the program or its data")
            return
        done = input_check.run(input_check.data, database, **options)
    except OSError as error:
        print(f"skip  a read-only database: {error}")
        return
    input_check.check("a read-only database", done, ["good.realm"], bytes_of(database) == before)


def check_full_disk(input_check):
    """Import into a database on a disk with 200 KB of free space."""
    folder = input_check.folder / "full"
    folder.mkdir()
    size = sum(file.stat().st_size for file in input_check.folder.glob("good.realm*") if not file.name.endswith("-shm"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={(size + 200_000) // 1024}k", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        print("skip  a full disk: no right to mount one")
        return
    try:
        for file in input_check.folder.glob("good.realm*"):
            if file.is_file() and not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        database = folder / "good.realm"
        before = content(database)
        done = input_check.run(input_check.data, database)
        input_check.check("a full disk", done, ["good.realm", "disk"], content(database) == before)
    finally:
        subprocess.run(["umount", folder], check=True)


def main(program, data):
    with tempfile.TemporaryDirectory(prefix="martlet-bad-input-") as name:
        input_check = InputCheck(Path(program).resolve(), Path(data).resolve(), Path(name))
        check_all_data(input_check)
        check_all_databases(input_check)
        print(f"{input_check.failures} failed")
        sys.exit(1 if input_check.failures else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
