#!/usr/bin/env python3
"""Check the SQL of 'martlet postgres' with a real PostgreSQL.

    Tests/postgres-check.py migrations [COUNT [FIRST]]   random changes of random schemas
    Tests/postgres-check.py rules [COUNT [FIRST]]        random rules, rows and users

A migration starts with the tables of a random schema and some rows. Afterwards the database must have the tables of the
changed schema. 'pg_dump --schema-only' must print the same statements as for a new database with these tables. Only the
order of columns may differ.

A rule is evaluated in Python and compiled to a policy. For each user, a query must return exactly the rows for which
the rule holds.

The script starts a server in .build/postgres-check and stops it at the end. The variable POSTGRES names the folder with
the programs of PostgreSQL 15, and MARTLET is the path of the tool. If a check fails, the script prints its seed.
"""
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/postgres-check"
MARTLET = os.environ.get("MARTLET", str(ROOT / ".build/debug/martlet"))
PROGRAMS = Path(os.environ.get("POSTGRES", "/usr/lib/postgresql/15/bin"))
PORT = os.environ.get("PGPORT", "5599")
# The server refuses to run as root.
USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


class Server:
    """A PostgreSQL server in a folder of its own."""

    def __init__(self):
        self.folder = WORK / "data"

    def __enter__(self):
        shutil.rmtree(WORK, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if USER:
            shutil.chown(self.folder, "postgres", "postgres")
        self.folder.chmod(0o700)
        self._run("initdb", "-D", self.folder, "-A", "trust", "-U", "martlet", "--no-sync")
        options = f"-p {PORT} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "-D", self.folder, "-w", "-l", self.folder / "log", "-o", options, "start")
        return self

    def __exit__(self, *_):
        self._run("pg_ctl", "-D", self.folder, "-m", "immediate", "stop")

    def _run(self, program, *arguments):
        command = USER + [str(PROGRAMS / program)] + [str(argument) for argument in arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


def connection(user="martlet"):
    return ["-h", "127.0.0.1", "-p", PORT, "-U", user]


def query(database, text, user="martlet"):
    """Returns the rows of a query as lines. If the query fails, raises RuntimeError with the message of the server."""
    command = [str(PROGRAMS / "psql"), *connection(user), "-v", "ON_ERROR_STOP=1", "-qAt", database]
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr)
    return result.stdout.splitlines()


def new_database(name):
    query("postgres", f"DROP DATABASE IF EXISTS {name}")
    query("postgres", f"CREATE DATABASE {name}")


def martlet(*arguments):
    """Returns the output of 'martlet postgres', or None if the tool refuses the schema or the migration."""
    result = subprocess.run([MARTLET, "postgres", *map(str, arguments)], capture_output=True, text=True)
    return None if result.returncode else result.stdout


# Migrations


SCALARS = {
    "Bool": ["true", "false"], "Int": ["1", "7"], "Int8": ["1", "7"], "Int16": ["3"], "Int32": ["4"], "Float": ["0.5"],
    "Double": ["1.5"], "String": ['"a\'b"', "x"], "Data": [], "Date": ["now", "2024-05-31"], "UUID": ["new"],
    "ObjectId": ["new"], "Decimal128": ["1.50"],
}
COLLECTIONS = {"list": "List", "set": "Set", "map": "Map"}
NEW_NAMES = itertools.count()


class Property:
    """A random property. 'kind' is a key of COLLECTIONS, 'single', 'link', 'embedded' or 'any'."""

    def __init__(self, schema, chance):
        self.kind = chance.choice(["single"] * 4 + ["link", "list", "set", "map", "embedded", "any"])
        self.is_optional = chance.random() < 0.4 and self.kind != "any"
        self.renamed_from = self.default = self.rule = self.documentation = self.on_delete = None
        self.is_local = False
        types = list(schema.types)
        values = list(SCALARS) + list(schema.enums)
        if self.kind == "link" or self.kind in COLLECTIONS and chance.random() < 0.3:
            self.type = chance.choice(types)
            self.is_optional = self.kind in ("link", "map")
            self.on_delete = chance.choice([None, "cascade", "deny"])
        else:
            self.type = {"embedded": "Place", "any": "AnyRealmValue"}.get(self.kind) or chance.choice(values)
            self.is_optional = self.is_optional or self.kind == "embedded"
        self.choose_default(schema, chance)

    def choose_default(self, schema, chance):
        choices = SCALARS.get(self.type) or schema.enums.get(self.type) or []
        is_chosen = self.kind == "single" and not self.is_optional and choices and chance.random() < 0.4
        self.default = chance.choice(choices) if is_chosen else None

    @property
    def is_sent(self):
        return not self.is_local

    def lines(self, name, is_synchronized):
        element = self.type + ("?" if self.is_optional else "")
        text = f"{COLLECTIONS[self.kind]}<{element}>" if self.kind in COLLECTIONS else element
        values = {
            "type": text + (f" = {self.default}" if self.default else ""), "renamedFrom": self.renamed_from,
            "onDelete": self.on_delete, "write": self.rule if is_synchronized and self.is_sent else None,
            "sync": "none" if self.is_local else None,
        }
        comment = [f"      ## {self.documentation}"] if self.documentation else []
        return comment + [f"      {name}:"] + [f"        {key}: {value}" for key, value in values.items() if value]


class ObjectType:
    """A type with an integer key and random properties."""

    def __init__(self, is_synchronized):
        self.is_synchronized = is_synchronized
        self.properties, self.rules, self.indexes, self.uniques = {}, {}, [], []
        self.renamed_from = self.documentation = None

    def lines(self, name):
        values = {
            "primaryKey": "id", "renamedFrom": self.renamed_from, "sync": "both" if self.is_synchronized else None,
            **self.rules, "index": f"[{', '.join(self.indexes)}]" if self.indexes else None,
            "unique": str(self.uniques).replace("'", "") if self.uniques else None,
        }
        comment = [f"  ## {self.documentation}"] if self.documentation else []
        head = [f"  {name}:"] + [f"    {key}: {value}" for key, value in values.items() if value]
        members = [line for key, value in self.properties.items() for line in value.lines(key, self.is_synchronized)]
        return comment + head + ["    properties:", "      id: Int"] + members

    def choose_lists(self, chance):
        single = [key for key, value in self.properties.items() if value.kind == "single" and value.type != "Data"]
        self.indexes = [name for name in single if chance.random() < 0.3]
        kept = [key for key in single if self.properties[key].is_sent]
        count = chance.randint(0, 2) if len(kept) > 1 else 0
        lists = {tuple(sorted(chance.sample(kept, chance.randint(1, 2)))) for _ in range(count)}
        self.uniques = [list(names) for names in sorted(lists)]

    def choose_rules(self, chance):
        if not self.is_synchronized:
            return
        kinds = [kind for kind in ("read", "write", "insert", "delete") if chance.random() < 0.3]
        self.rules = {kind: self.rule(chance) for kind in kinds}
        for value in self.properties.values():
            value.rule = self.rule(chance) if chance.random() < 0.15 else None

    def rule(self, chance):
        parts = ["$user.sub != nil", "true", "$user.level > 3"]
        for name, value in self.properties.items():
            template = {
                "String": "{} == $user.sub", "Int": "NOT {} < 5", "Bool": "{}", "Place": "{}.city == $user.city",
            }.get(value.type, "{}.id IN {{$user.a, 1}}" if value.kind == "link" else None)
            if template and value.is_sent and value.kind not in COLLECTIONS:
                parts.append(template.format(name))
        return chance.choice([" AND ", " OR "]).join(chance.sample(parts, min(len(parts), chance.randint(1, 3))))


class Schema:
    """A random schema that can be changed at random."""

    def __init__(self, chance):
        self.enums = {name: chance.sample("abcdef", chance.randint(1, 4)) for name in ("Size", "Mood")}
        self.types = {}
        is_synchronized = chance.random() < 0.6
        for name in ["Dog", "Cat", "HomeTown"][: chance.randint(1, 3)]:
            self.types[name] = ObjectType(is_synchronized)
        for value in self.types.values():
            value.documentation = chance.choice([None, "It's"])
            for number in range(chance.randint(1, 6)):
                value.properties[f"p{number}"] = Property(self, chance)
        self.choose(chance)

    def choose(self, chance):
        for value in self.types.values():
            value.choose_lists(chance)
            value.choose_rules(chance)

    def write(self, folder):
        folder.mkdir(exist_ok=True)
        enums = [f"  {name}: [{', '.join(cases)}]" for name, cases in self.enums.items()]
        types = [line for name, value in self.types.items() for line in value.lines(name)]
        embedded = ["embedded:", "  Place: {properties: {city: String}}"]
        (folder / "A.yaml").write_text("\n".join(["enums:"] + enums + embedded + ["objects:"] + types) + "\n")

    def change(self, chance):
        for value in self.types.values():
            value.renamed_from = None
            for item in value.properties.values():
                item.renamed_from = None
        known = set(self.types)
        for _ in range(chance.randint(1, 5)):
            getattr(self, chance.choice(self.CHANGES))(chance, known)
        for value in self.types.values():
            for item in value.properties.values():
                if item.default and item.type in self.enums and item.default not in self.enums[item.type]:
                    item.default = None
        self.choose(chance)

    CHANGES = [
        "add_property", "remove_property", "rename_property", "replace_property", "change_optionality",
        "change_default", "change_enum", "change_local", "change_documentation", "rename_type", "add_type",
        "remove_type",
    ]

    def some_property(self, chance):
        owner = chance.choice(list(self.types.values()))
        name = chance.choice(list(owner.properties)) if owner.properties else None
        return owner, name, owner.properties.get(name)

    def add_property(self, chance, _):
        self.some_property(chance)[0].properties[f"n{next(NEW_NAMES)}"] = Property(self, chance)

    def remove_property(self, chance, _):
        owner, name, _ = self.some_property(chance)
        owner.properties.pop(name, None)

    def rename_property(self, chance, _):
        owner, name, item = self.some_property(chance)
        if item is None or item.renamed_from or not name.startswith("p"):
            return
        item.renamed_from = name
        new = f"r{next(NEW_NAMES)}"
        owner.properties = {new if key == name else key: value for key, value in owner.properties.items()}

    def replace_property(self, chance, _):
        owner, name, item = self.some_property(chance)
        if item:
            owner.properties[name] = Property(self, chance)
            owner.properties[name].renamed_from = item.renamed_from

    def change_optionality(self, chance, _):
        item = self.some_property(chance)[2]
        if item and item.type in SCALARS:
            item.is_optional, item.default = not item.is_optional, None

    def change_default(self, chance, _):
        item = self.some_property(chance)[2]
        if item:
            item.choose_default(self, chance)

    def change_enum(self, chance, _):
        cases, case = chance.choice(list(self.enums.values())), chance.choice("abcdef")
        if case not in cases:
            cases.insert(chance.randint(0, len(cases)), case)
        elif len(cases) > 1:
            cases.remove(case)

    def change_local(self, chance, _):
        owner, _, item = self.some_property(chance)
        if item is None or not owner.is_synchronized or item.on_delete == "deny":
            return
        if item.is_optional or item.kind in COLLECTIONS:
            item.is_local = not item.is_local

    def change_documentation(self, chance, _):
        item = self.some_property(chance)[2]
        if item:
            item.documentation = chance.choice([None, "Another one."])

    def rename_type(self, chance, known):
        name = chance.choice(list(self.types))
        if name not in known:
            return
        new = f"T{next(NEW_NAMES)}"
        self.types[name].renamed_from = name
        self.types = {new if key == name else key: value for key, value in self.types.items()}
        for item in itertools.chain(*(value.properties.values() for value in self.types.values())):
            item.type = new if item.type == name else item.type

    def add_type(self, chance, _):
        name = f"N{next(NEW_NAMES)}"
        self.types[name] = ObjectType(next(iter(self.types.values())).is_synchronized)
        self.types[name].properties["x"] = Property(self, chance)

    def remove_type(self, chance, _):
        if len(self.types) == 1:
            return
        name = chance.choice(list(self.types))
        del self.types[name]
        for value in self.types.values():
            value.properties = {key: item for key, item in value.properties.items() if item.type != name}


SAMPLES = {
    "boolean": "true", "smallint": "{}", "integer": "{}", "bigint": "{}", "real": "1.5", "double precision": "2.5",
    "bytea": "'\\x{:024d}'", "timestamp with time zone": "now()", "uuid": "gen_random_uuid()", "numeric": "3",
    "jsonb": '\'{{"city": "x"}}\'', "text": "'a'",
}


def fill(database, chance):
    """Inserts two rows into each table. Omits rows that violate a constraint."""
    columns = {}
    for line in query(
            database, "SELECT table_name, column_name, data_type, is_nullable, column_default IS NOT NULL "
            "FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"):
        table, *column = line.split("|")
        columns.setdefault(table, []).append(column)
    for table, row in itertools.product(columns, (1, 2)):
        is_collection = columns[table][0][0] == "owner"
        values = {"id": row}
        if is_collection:
            values = {"owner": row, "position": f"'\\x0{row}'", "key": f"'k{row}'"}
        values = {name: values[name] for name, *_ in columns[table] if name in values}
        for name, kind, is_nullable, has_default in columns[table]:
            if name not in values and not ("YES" in is_nullable or has_default == "t") or chance.random() < 0.5:
                values.setdefault(name, SAMPLES[kind].format(row))
        names = ", ".join(f'"{name}"' for name in values)
        try:
            query(database, f'INSERT INTO "{table}" ({names}) VALUES ({", ".join(map(str, values.values()))})')
        except RuntimeError:
            pass


def dump(database):
    """Returns the statements of pg_dump, sorted so that the order of columns makes no difference."""
    command = [str(PROGRAMS / "pg_dump"), *connection(), "--schema-only", database]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    statements = []
    for statement in re.split(r";\n", text):
        lines = [line for line in statement.splitlines() if line.strip() and not line.startswith(("--", "\\"))]
        if lines and lines[0].startswith("CREATE TABLE"):
            lines = lines[:1] + sorted(line.rstrip(",") for line in lines[1:-1])
        if lines and not lines[0].startswith(("SET ", "SELECT ")):
            statements.append("\n".join(lines))
    return sorted(statements)


def check_migration(seed):
    """Returns the outcome: 'one file', 'two files', or the reason why the migration was not completed."""
    chance = random.Random(seed)
    schema = Schema(chance)
    old, new = WORK / "old", WORK / "new"
    schema.write(old)
    schema.change(chance)
    schema.write(new)
    tables = [martlet(folder) for folder in (old, new)]
    if None in tables:
        return "invalid schema"
    for file in WORK.glob("*.sql"):
        file.unlink()
    if martlet(new, "--against", f"{old}/", "--breaking", "--output", WORK / "1.sql") is None:
        return "refused"
    for name, text in zip(("migrated", "fresh"), tables):
        new_database(name)
        query(name, text)
        if name == "migrated":
            fill(name, chance)
    files = [file for file in (WORK / "1.sql", WORK / "1.expand.sql", WORK / "1.contract.sql") if file.exists()]
    for file in files:
        try:
            query("migrated", file.read_text())
        except RuntimeError as error:
            if "could not create unique index" in str(error):
                return "equal values"
            raise
    migrated, fresh = dump("migrated"), dump("fresh")
    if migrated != fresh:
        raise RuntimeError(
            f"migrated: {[item for item in migrated if item not in fresh]}\n"
            f"fresh: {[item for item in fresh if item not in migrated]}")
    return "one file" if files == [WORK / "1.sql"] else "two files"


# Rules


RULE_SCHEMA = """enums:
  Size: [small, large]
  Level: {raw: Int, cases: {low: 1, high: 2}}
embedded:
  Place: {properties: {city: String, floor: Int?, inner: Place?}}
objects:
  Person: {primaryKey: id, sync: both, properties: {id: String}}
  Dog:
    primaryKey: id
    sync: both
    read: RULE
    properties:
      id: Int
      name: String
      nick: String?
      age: Int8?
      good: Bool
      maybe: Bool?
      weight: Double?
      price: Decimal128?
      size: Size?
      level: Level
      key: UUID?
      code: ObjectId?
      owner: Person?
      place: Place?
"""
TEXTS = ["a", "b", "it's", "é", ""]
UUIDS = ["00010203-0405-0607-0809-0a0b0c0d0e0f", "11111111-1111-1111-1111-111111111111"]
OBJECT_IDS = ["507f1f77bcf86cd799439011", "000000000000000000000000"]
NAN = float("nan")
# The random values of each type in PATHS. The types 'size' and 'level' are enums.
VALUES = {
    "text": TEXTS, "integer": [-1, 0, 1, 2, 5], "bool": [True, False], "double": [0.5, 1.5, -2.0, NAN, math.inf],
    "decimal": [0.5, 1.5, -2.0, NAN], "size": ["small", "large"], "level": [1, 2], "uuid": UUIDS, "oid": OBJECT_IDS,
}
PATHS = {
    "id": "integer", "name": "text", "nick": "text?", "age": "integer?", "good": "bool", "maybe": "bool?",
    "weight": "double?", "price": "decimal?", "size": "size?", "level": "level", "key": "uuid?", "code": "oid?",
    "owner.id": "text?", "place.city": "text?", "place.floor": "integer?", "place.inner.city": "text?",
}
CLAIMS = ["sub", "n", "flag", "missing", "uid", "list", "deep.x"]
ORDERED = ("text", "integer", "double", "decimal")
EXCHANGED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Unknown(Exception):
    """A comparison with a claim that the user does not have."""


def compare(left, relation, right):
    """Returns the result of a comparison as rules define it. With nil or NaN, the result is also true or false."""
    if relation == "==":
        return left is right is None or left is not None and right is not None and left == right
    if relation == "!=":
        return not compare(left, "==", right)
    if left is None or right is None:
        return False
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[relation]


def find_claim(user, name):
    for part in name.split("."):
        user = user.get(part) if isinstance(user, dict) else None
    return user


def typed_claim(user, name, kind):
    """Returns the value of a claim. Raises Unknown if the user does not have the claim, or if it has another type."""
    value = find_claim(user, name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_integer = is_number and value == int(value) and abs(value) < 2**63
    is_valid = {
        "text": isinstance(value, str), "size": isinstance(value, str), "bool": isinstance(value, bool),
        "integer": is_integer, "level": is_integer, "number": is_number, "decimal": is_number,
        "uuid": str(value).lower() in UUIDS, "oid": str(value).lower() in OBJECT_IDS,
    }[kind]
    if not is_valid:
        raise Unknown
    return value.lower() if kind in ("uuid", "oid") else value


class RandomRule:
    """Generates random conditions.

    A condition is a text and a function that evaluates it for a row and a user. The function may raise Unknown.
    """

    def __init__(self, chance):
        self.chance = chance

    def condition(self, depth):
        kind = self.chance.random()
        if depth == 0 or kind < 0.35:
            return self.comparison()
        if kind < 0.55:
            text, holds = self.condition(depth - 1)
            return f"NOT ({text})", lambda row, user: not holds(row, user)
        word = self.chance.choice(["AND", "OR"])
        parts = [self.condition(depth - 1) for _ in range(self.chance.randint(2, 3))]
        decisive = word == "OR"
        return f" {word} ".join(f"({text})" for text, _ in parts), self.joined([part for _, part in parts], decisive)

    @staticmethod
    def joined(parts, decisive):
        """Returns a function that combines conditions by OR if 'decisive' is true, otherwise by AND."""
        def holds(row, user):
            is_unknown = False
            for part in parts:
                try:
                    if bool(part(row, user)) == decisive:
                        return decisive
                except Unknown:
                    is_unknown = True
            if is_unknown:
                raise Unknown
            return not decisive
        return holds

    def literal(self, kind):
        value = self.chance.choice([item for item in VALUES[kind] if item == item and item != math.inf])
        if kind in ("text", "size"):
            return "'" + value.replace("'", "\\'") + "'", value
        if kind in ("uuid", "oid"):
            return f"'{self.chance.choice([value, value.upper()])}'", value
        return (str(value).lower() if kind == "bool" else str(value)), value

    def comparison(self):
        chance = self.chance
        path = chance.choice(list(PATHS))
        kind, is_optional = PATHS[path].rstrip("?"), PATHS[path].endswith("?")
        relation = chance.choice(["==", "!="] + (["<", "<=", ">", ">="] if kind in ORDERED else []))
        claim = chance.choice(CLAIMS)
        forms = [
            self.with_literal, self.with_literal, self.claim_with_literal, self.claim_with_nil, self.claim_in_list]
        if kind != "double":
            forms += [self.with_claim, self.with_claim, self.in_list]
        if kind in ("text", "integer", "size", "level", "uuid", "oid"):
            forms += [self.in_claim, self.literal_in_claim]
        if kind in ("text", "integer", "bool"):
            forms += [self.with_property]
        if is_optional:
            forms += [self.with_nil]
        return chance.choice(forms)(path, kind, relation, claim)

    def with_nil(self, path, _, relation, __):
        relation = relation if relation == "==" else "!="
        return f"{path} {relation} nil", lambda row, user: (row[path] is None) == (relation == "==")

    def claim_with_nil(self, _, __, relation, claim):
        relation = relation if relation == "==" else "!="
        return f"$user.{claim} {relation} nil", lambda row, user: compare(find_claim(user, claim), relation, None)

    def claim_with_literal(self, _, __, relation, claim):
        kind = self.chance.choice(["text", "integer", "bool"])
        relation = relation if kind != "bool" or relation in ("==", "!=") else "=="
        text, value = self.literal(kind)
        of_claim = "number" if kind == "integer" else kind
        return f"$user.{claim} {relation} {text}", lambda row, user: compare(
            typed_claim(user, claim, of_claim), relation, value)

    def with_literal(self, path, kind, relation, _):
        text, value = self.literal(kind)
        written = f"{text} {EXCHANGED[relation]} {path}" if self.chance.random() < 0.3 else f"{path} {relation} {text}"
        return written, lambda row, user: compare(row[path], relation, value)

    def with_claim(self, path, kind, relation, claim):
        return f"{path} {relation} $user.{claim}", lambda row, user: compare(
            row[path], relation, typed_claim(user, claim, kind))

    def with_property(self, path, kind, relation, _):
        other = self.chance.choice([name for name, value in PATHS.items() if value.rstrip("?") == kind])
        return f"{path} {relation} {other}", lambda row, user: compare(row[path], relation, row[other])

    def in_list(self, path, kind, _, __):
        texts, parts = [], []
        for _ in range(self.chance.randint(0, 3)):
            form = self.with_literal if self.chance.random() < 0.5 else self.with_claim
            text, holds = form(path, kind, "==", self.chance.choice(CLAIMS))
            texts.append(text.replace(f"{path} == ", "").replace(f" == {path}", ""))
            parts.append(holds)
        return f"{path} IN {{{', '.join(texts)}}}", self.joined(parts, True)

    def claim_in_list(self, path, kind, _, claim):
        def is_in_empty_list(_, user):
            if find_claim(user, claim) is None:
                raise Unknown
            return False

        texts, parts = [], [is_in_empty_list]
        for _ in range(self.chance.choice([0, 0, 1, 2])):
            form = self.claim_with_literal if self.chance.random() < 0.7 else self.claim_with_nil
            text, holds = form(path, kind, "==", claim)
            texts.append(text.replace(f"$user.{claim} == ", ""))
            parts.append(holds)
        return f"$user.{claim} IN {{{', '.join(texts)}}}", self.joined(parts, True)

    def in_claim(self, path, _, __, claim):
        return f"{path} IN $user.{claim}", lambda row, user: self.contains(user, claim, row[path])

    def literal_in_claim(self, _, __, ___, claim):
        text, value = self.literal("text")
        return f"{text} IN $user.{claim}", lambda row, user: self.contains(user, claim, value)

    @staticmethod
    def contains(user, claim, value):
        items = find_claim(user, claim)
        if not isinstance(items, list):
            raise Unknown
        return value is not None and any(type(item) is type(value) and item == value for item in items)


def sql(path, value):
    if value is None:
        return "NULL"
    if path == "code":
        return f"'\\x{value}'"
    text = {"nan": "NaN", "inf": "Infinity"}.get(str(value), str(value))
    return "'" + text.replace("'", "''") + "'"


def random_row(chance, number):
    row = {
        path: None if kind.endswith("?") and chance.random() < 0.35 else chance.choice(VALUES[kind.rstrip("?")])
        for path, kind in PATHS.items()
    }
    row["id"] = number - 3
    if chance.random() < 0.3:
        row.update({"place.city": None, "place.floor": None, "place.inner.city": None})
    return row


def insertion(row):
    city = row["place.inner.city"]
    place = {
        "city": row["place.city"], "floor": row["place.floor"], "inner": None if city is None else {"city": city},
    }
    is_missing = all(value is None for value in place.values())
    columns = [path for path in PATHS if "." not in path]
    values = [sql(path, row[path]) for path in columns] + [
        sql("owner", row["owner.id"]), sql("place", None if is_missing else json.dumps(place))]
    names = ", ".join(f'"{column}"' for column in columns)
    return f"INSERT INTO dog ({names}, owner, place) VALUES ({', '.join(values)});"


def random_user(chance):
    usual = {
        "sub": chance.choice(TEXTS), "n": chance.choice([0, 1, 2]), "flag": chance.random() < 0.5,
        "uid": chance.choice(UUIDS + OBJECT_IDS),
    }
    unusual = TEXTS + [-1, 0, 1, 1.5, 10**30, True, False, UUIDS[0].upper(), OBJECT_IDS[0], None, [1]]
    user = {
        name: chance.choice(unusual) if chance.random() < 0.4 else value
        for name, value in usual.items() if chance.random() < 0.8
    }
    user["list"] = chance.choice([["a", "b", 1], [1, 2, "small"], [UUIDS[0], OBJECT_IDS[0]], "a", [], None])
    user["deep"] = chance.choice([{"x": "a"}, {"x": 1}, {}, "s"])
    return user


def holds(condition, row, user):
    try:
        return bool(condition(row, user))
    except Unknown:
        return False


def check_rule(seed):
    chance = random.Random(seed)
    text, condition = RandomRule(chance).condition(3)
    folder = WORK / "rule"
    folder.mkdir(exist_ok=True)
    quoted = "'" + text.replace("'", "''") + "'"
    (folder / "A.yaml").write_text(RULE_SCHEMA.replace("RULE", quoted))
    tables = martlet(folder)
    if tables is None:
        raise RuntimeError(f"'{text}' is refused")
    rows = [random_row(chance, number) for number in range(30)]
    people = ", ".join(f"({sql('id', name)})" for name in TEXTS)
    role = "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
    new_database("rules")
    query("rules", tables + f"INSERT INTO person VALUES {people};" + "".join(map(insertion, rows)))
    query("rules", role + "GRANT SELECT ON dog TO reader;")
    for user in [None, {}] + [random_user(chance) for _ in range(6)]:
        # The setting lasts until the end of the transaction. The DO statement returns no rows, so only the ids are printed.
        login = "" if user is None else (
            f"DO $user$ BEGIN PERFORM set_config('martlet.user', {sql('', json.dumps(user))}, true); END $user$;")
        found = query("rules", f"BEGIN; {login} SELECT id FROM dog ORDER BY id; COMMIT;", user="reader")
        expected = [str(row["id"]) for row in rows if holds(condition, row, user or {})]
        if found != expected:
            raise RuntimeError(f"'{text}' for {user}: PostgreSQL returns {found}, the rule {expected}")
    return "equal"


CHECKS = {"migrations": check_migration, "rules": check_rule}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    outcomes = {}
    with Server():
        for seed in range(first, first + count):
            try:
                outcome = CHECKS[sys.argv[1]](seed)
            except RuntimeError as error:
                sys.exit(f"seed {seed}: {error}")
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))


if __name__ == "__main__":
    main()
