import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: key paths and projections")
struct PathChangeTests {
    private func keyPath(_ entry: String, name: String = "Dog") -> String {
        dog("a: Int, b: Int, c: Bool, d: Dog?", entry.isEmpty ? "" : "keypaths: {\(entry)}", name: name)
    }

    @Test("key paths that are removed, change their type or lead to another property are reported S43 MRT0601")
    func keyPaths() throws {
        try check(
            keyPath("«x»: a"), keyPath("", name: "«Dog»"),
            ["source: key path 'Dog.x' was removed; declare it again"])
        try check(
            keyPath("x: «a»"), keyPath("x: «c»"),
            ["source: key path 'Dog.x' led to 'Int' and leads to 'Bool'; add one with another name"])
        try check(
            keyPath("x: «a»"), keyPath("x: «d.a»"),
            ["source: key path 'Dog.x' led to 'Int' and leads to 'Int?'; add one with another name"])
        try check(
            keyPath("«x»: a"), keyPath("«x»: b"),
            ["query: key path 'Dog.x' leads to another property than before; add one with another name"])
        try check(
            keyPath("«x»: a"), keyPath("«x»: [a]"),
            ["source: key path 'Dog.x' was one path and is a list; change it back"])
        try check(
            keyPath("«x»: [a, b]"), keyPath("«x»: [a, c]"),
            ["query: key path 'Dog.x' leads to another property than before; add one with another name"])
        try check(keyPath("x: a"), keyPath("y: a, x: a"))
    }

    @Test("a path is not reported as changed if only its types and properties are renamed S43 MRT0601")
    func renamedPath() throws {
        let projection = { (root: String, path: String) in
            "projections:\n  Card: {of: \(root), properties: {x: \(path)}}\n"
        }
        try check(
            "objects:\n  «Dog»: {properties: {a: Int, «mate»: Dog?}, keypaths: {x: mate.a}}\n"
                + projection("Dog", "mate.a"),
            """
            objects:
              «Hound»:
                renamedFrom: Dog
                properties: {a: Int, «friend»: {type: Hound?, renamedFrom: mate}}
                keypaths: {x: friend.a}

            """ + projection("Hound", "friend.a"),
            [
                "source: type 'Dog' is 'Hound' now; rename it in code that uses it",
                "source: property 'Hound.friend' was 'mate'; rename it in code that uses it",
            ])
    }

    private func card(_ labels: String, of root: String = "Dog", name: String = "Card") -> String {
        """
        objects:
          Dog: {properties: {a: Int, b: Int, d: Dog?, all: List<Dog>, ages: List<Int>}}
          Cat: {properties: {a: Int}}
        projections:
          \(name): {of: \(root), properties: {\(labels)}}
          Other: {of: Dog, properties: {a: a}}

        """
    }

    @Test("projections and labels that are removed or read another property are reported S43 MRT0601")
    func projections() throws {
        try check(
            card("x: a", name: "«Card»"), card("x: a", name: "Sheet"),
            ["source: projection 'Card' was removed; declare it again"])
        try check(
            card("x: a", of: "«Dog»"), card("x: a", of: "«Cat»"),
            [
                "source: projection 'Card' was a projection of 'Dog' and is one of 'Cat'; "
                    + "add a projection with another name"
            ])
        try check(
            card("x: a, «y»: b"), card("x: a", name: "«Card»"),
            ["source: projection property 'Card.y' was removed; declare it again"])
        try check(
            card("x: «all.a»"), card("x: «ages»"),
            [
                "source: projection property 'Card.x' was 'collection of Int' and is 'List<Int>'; "
                    + "add one with another name"
            ])
        try check(
            card("x: «a»"), card("x: «b»"),
            ["query: projection property 'Card.x' reads another property than before; add one with another name"])
    }

    @Test("a label that is no longer writable is reported S43 MRT0601")
    func writable() throws {
        let schema = { (path: String) in
            "objects:\n  Dog: {properties: {a: Int?, b: Int, c: Dog?}}\n"
                + "projections:\n  Card: {of: Dog, properties: {x: \(path)}}\n"
        }
        // The label is of type Int? in both schemas.
        try check(
            schema("«a»"), schema("«c.b»"),
            ["source: projection property 'Card.x' cannot be set any more; keep the path 'a'"])
        try check(
            schema("«a»"), schema("«c.a»"),
            ["query: projection property 'Card.x' reads another property than before; add one with another name"])
    }
}
