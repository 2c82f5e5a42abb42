"""Synthetic schemas for measuring the compiler. They are equal in every run."""

SCALARS = ["Int", "String = \"\"", "Bool = false", "Double = 0.5", "Date = now", "String?", "Int? = 3", "Data", "UUID = new"]
WORDS = ["name", "age", "weight", "note", "place", "owner", "count", "height", "colour", "title", "price", "rank"]


def type_text(number, count):
    """Return an object type of about 400 bytes with documentation, an index, a link, a list and a key path."""
    lines = [
        f"  ## Kind {number} of what the kennel keeps.",
        f"  Type{number}:",
        "    primaryKey: id",
        f"    index: [{WORDS[number % 12]}{number}]",
        "    properties:",
        "      id: ObjectId = new",
        f"      {WORDS[number % 12]}{number}: String = \"\"",
    ]
    for step in range(5):
        word = WORDS[(number * 5 + step * 7 + 1) % 12]
        lines.append(f"      {word}Of{step}: {SCALARS[(number + step * 2) % len(SCALARS)]}")
    lines += [
        "      ## Where it came from.",
        f"      parent: Type{(number * 7 + 1) % count}?",
        f"      items: List<Type{(number * 11 + 5) % count}>",
        "    keypaths:",
        "      origin: parent.id",
        "",
    ]
    return "\n".join(lines) + "\n"


def large(count=2000):
    """Return the text of a schema file with `count` object types."""
    return "objects:\n" + "".join(type_text(number, count) for number in range(count))


def classes(count=60, width=12):
    """Yield the name and the property lines of each class. The properties are plain values, links and lists."""
    kinds = ["Int", "String = \"\"", "Bool = false", "Double = 0", "Date = now", "String?", "Int?", "Data", "Float = 0"]
    for number in range(count):
        lines = [f"p{step}: {kinds[step % len(kinds)]}" for step in range(width - 3)]
        lines.append(f"p{width - 3}: Model{(number + 1) % count}?")
        lines.append(f"p{width - 2}: List<Model{(number + 2) % count}>")
        lines.append(f"p{width - 1}: List<String>")
        yield f"Model{number}", lines
