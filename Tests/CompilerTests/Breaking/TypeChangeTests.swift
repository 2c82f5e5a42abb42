import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: types")
struct TypeChangeTests {
    @Test("S43 MRT0601 the same schema, a new type, a moved type and other documentation break nothing")
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

    @Test("S43 MRT0601 a type that is gone takes its objects with it")
    func gone() throws {
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\n  «Cat»: {properties: {name: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\n",
            ["data: type 'Cat' is gone, and with it the objects stored of it; declare it again"])
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\nenums:\n  Tag: [small]\n",
            ["data: type 'Tag' is gone, and with it the objects stored of it; declare it again"])
    }

    @Test("S43 MRT0601 a renamed type breaks code and no data")
    func renamed() throws {
        try check(
            "objects:\n  «Human»: {properties: {age: Int, friend: Human?, all: List<Human>}}\n",
            """
            objects:
              «Person»: {renamedFrom: Human, properties: {age: Int, friend: Person?, all: List<Person>}}

            """,
            ["source: type 'Human' is 'Person' now; rename it in code that uses it"])
    }

    @Test("S43 MRT0601 a rename counts as the runtime counts it: from a free name, once, and to a new one")
    func impossibleRenames() throws {
        // The first of two that claim a name gets it.
        try check(
            "objects:\n  «Human»: {properties: {age: Int}}\n",
            """
            objects:
              «Person»: {renamedFrom: Human, properties: {age: Int}}
              Woman: {renamedFrom: Human, properties: {age: Int}}

            """,
            ["source: type 'Human' is 'Person' now; rename it in code that uses it"])
        // The name is still there.
        try check(
            "objects:\n  Human: {properties: {age: Int}}\n",
            """
            objects:
              Human: {properties: {age: Int}}
              Person: {renamedFrom: Human, properties: {age: Int}}

            """)
        // The type was there before, so that it takes over nothing.
        try check(
            "objects:\n  «Human»: {properties: {age: Int}}\n  Person: {properties: {age: Int}}\n",
            "objects:\n  Person: {renamedFrom: Human, properties: {age: Int}}\n",
            ["data: type 'Human' is gone, and with it the objects stored of it; declare it again"])
    }

    @Test("S43 MRT0601 objects that become embedded, and embedded ones that become objects")
    func embedding() throws {
        try check(
            "objects:\n  Dog: {properties: {age: Int}}\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {age: Int}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            [
                "data: 'Tag' is an embedded type and was a top-level type; keep what it is, or add a type with another name"
            ])
        try check(
            "objects:\n  Dog: {properties: {tag: Tag?}}\nembedded:\n  «Tag»: {properties: {text: String}}\n",
            "objects:\n  Dog: {properties: {tag: Tag?}}\n  «Tag»: {properties: {text: String}}\n",
            [
                "data: 'Tag' is a top-level type and was an embedded type; keep what it is, or add a type with another name"
            ])
    }

    @Test("S43 MRT0601 a 'renamedFrom' that is taken out leaves older files behind")
    func forgotten() throws {
        try check(
            "objects:\n  Dog:\n    renamedFrom: «Hound»\n    properties: {age: {type: Int, renamedFrom: «years»}}\n",
            "objects:\n  «Dog»:\n    properties: {«age»: Int}\n",
            [
                "query: 'Dog' no longer says that it was 'Hound', so older files are not migrated; "
                    + "keep 'renamedFrom: Hound' as long as such files may exist",
                "query: 'Dog.age' no longer says that it was 'years', so older files are not migrated; "
                    + "keep 'renamedFrom: years' as long as such files may exist",
            ])
    }
}
