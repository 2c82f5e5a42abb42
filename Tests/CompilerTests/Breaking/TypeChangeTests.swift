import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: types")
struct TypeChangeTests {
    @Test("the same schema, a new or moved type, and other documentation break nothing S43 MRT0601")
    func nothing() throws {
        let old = "objects:\n  Dog: {properties: {age: Int}}\n  Cat: {properties: {age: Int}}\n"
        try check(old, old)
        try check(
            old,
            """
            embedded:
              Collar: {properties: {size: Int}}
            objects:
              Cat: {properties: {age: Int}}
              ## Barks.
              Dog: {properties: {age: Int, collar: Collar?}}

            """)
    }

    @Test("removing a type breaks data, because its stored objects cannot be read S43 MRT0601")
    func gone() throws {
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\n  «Cat»: {properties: {name: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\n",
            ["data: type 'Cat' was removed, and its stored objects cannot be read; declare it again"])
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\nenums:\n  Tag: [small]\n",
            ["data: type 'Tag' was removed, and its stored objects cannot be read; declare it again"])
    }

    @Test("a type needs 'renamedFrom' even if its name changes only in case S43 O69 MRT0601")
    func caseOnly() throws {
        try check(
            "objects:\n  «Dog»: {properties: {age: Int}}\n",
            "objects:\n  «dog»: {properties: {age: Int}}\n",
            [
                "data: type 'dog' differs only in case from 'Dog', and a file that contains 'Dog' cannot be opened; "
                    + "use the old name, or add 'renamedFrom: Dog'"
            ])
        // Although 'Dog' is renamed to 'Cat', the file still has the type 'Dog' when 'dog' is created.
        try check(
            "objects:\n  «Dog»: {properties: {age: Int}}\n",
            "objects:\n  «Cat»: {renamedFrom: Dog, properties: {age: Int}}\n  «dog»: {properties: {age: Int}}\n",
            [
                "source: type 'Dog' is 'Cat' now; rename it in code that uses it",
                "data: type 'dog' differs only in case from 'Dog', and a file that contains 'Dog' cannot be opened; "
                    + "use another name",
            ])
        try check(
            "objects:\n  «Dog»: {properties: {age: Int}}\n",
            "objects:\n  «dog»: {renamedFrom: Dog, properties: {age: Int}}\n",
            ["source: type 'Dog' is 'dog' now; rename it in code that uses it"])
    }

    @Test("a renamed type breaks code but not data S43 MRT0601")
    func renamed() throws {
        try check(
            "objects:\n  «Human»: {properties: {age: Int, friend: Human?, all: List<Human>}}\n",
            """
            objects:
              «Person»: {renamedFrom: Human, properties: {age: Int, friend: Person?, all: List<Person>}}

            """,
            ["source: type 'Human' is 'Person' now; rename it in code that uses it"])
    }

    @Test("'renamedFrom' has an effect only in the first new type that names a removed type S43 MRT0601")
    func impossibleRenames() throws {
        // If two types name the same removed type, only the first of them counts as its rename.
        try check(
            "objects:\n  «Human»: {properties: {age: Int}}\n",
            """
            objects:
              «Person»: {renamedFrom: Human, properties: {age: Int}}
              Woman: {renamedFrom: Human, properties: {age: Int}}

            """,
            ["source: type 'Human' is 'Person' now; rename it in code that uses it"])
        // A type with the old name still exists.
        try check(
            "objects:\n  Human: {properties: {age: Int}}\n",
            """
            objects:
              Human: {properties: {age: Int}}
              Person: {renamedFrom: Human, properties: {age: Int}}

            """)
        // 'Person' existed before, so its 'renamedFrom' has no effect.
        try check(
            "objects:\n  «Human»: {properties: {age: Int}}\n  Person: {properties: {age: Int}}\n",
            "objects:\n  Person: {renamedFrom: Human, properties: {age: Int}}\n",
            ["data: type 'Human' was removed, and its stored objects cannot be read; declare it again"])
    }

    @Test("an object type that becomes embedded, or the reverse, breaks data S43 MRT0601")
    func embedding() throws {
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            [
                "data: 'Tag' was a top-level type and is an embedded type; change it back, or add a type with another name"
            ])
        try check(
            "objects:\n  Dog: {properties: {tag: Tag?}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {tag: Tag?}}\n  «Tag»: {properties: {text: String}}\n",
            [
                "data: 'Tag' was an embedded type and is a top-level type; change it back, or add a type with another name"
            ])
    }

    @Test("removing 'renamedFrom' breaks the migration of older files S43 MRT0601")
    func removedRenamedFrom() throws {
        try check(
            "objects:\n  Dog:\n    renamedFrom: «Hound»\n    properties: {age: {type: Int, renamedFrom: «years»}}\n",
            "objects:\n  «Dog»:\n    properties: {«age»: Int}\n",
            [
                "query: 'Dog' no longer says that it was 'Hound', so older files are not migrated; "
                    + "keep 'renamedFrom: Hound' while such files may exist",
                "query: 'Dog.age' no longer says that it was 'years', so older files are not migrated; "
                    + "keep 'renamedFrom: years' while such files may exist",
            ])
    }
}
