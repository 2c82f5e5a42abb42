import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: properties")
struct PropertyChangeTests {
    @Test("removing a property breaks data, because its values are lost S43 MRT0601")
    func gone() throws {
        try check(
            dog("age: Int, «name»: String"), "objects:\n  «Dog»: {properties: {age: Int}}\n",
            ["data: property 'Dog.name' was removed, and its stored values with it; declare it again"])
    }

    @Test("linking objects store nothing, so removing them breaks only code S43 MRT0601")
    func linkingObjects() throws {
        try check(
            dog("friend: Dog?, «friends»: LinkingObjects<Dog.friend>"),
            "objects:\n  «Dog»: {properties: {friend: Dog?}}\n",
            ["source: property 'Dog.friends' was removed; declare it again"])
        try check(
            dog("friend: Dog?, foe: Dog?, them: «LinkingObjects<Dog.friend>»"),
            dog("friend: Dog?, foe: Dog?, them: «LinkingObjects<Dog.foe>»"),
            [
                "source: property 'Dog.them' was 'LinkingObjects<Dog.friend>' and is 'LinkingObjects<Dog.foe>'; "
                    + "keep the type"
            ])
        // If a stored property replaces linking objects, no data is lost. If linking objects replace a stored property,
        // its values are lost.
        try check(
            dog("friend: Dog?, them: «LinkingObjects<Dog.friend>»"), dog("friend: Dog?, them: «List<Dog>»"),
            ["source: property 'Dog.them' was 'LinkingObjects<Dog.friend>' and is 'List<Dog>'; keep the type"])
        try check(
            dog("friend: Dog?, them: «List<Dog>»"), dog("friend: Dog?, them: «LinkingObjects<Dog.friend>»"),
            [
                "data: property 'Dog.them' was 'List<Dog>' and is 'LinkingObjects<Dog.friend>'; "
                    + "keep the type, or add a property with another name"
            ])
    }

    @Test("a renamed property breaks code but not data S43 MRT0601")
    func renamed() throws {
        try check(
            dog("«years»: Int, owner: Dog?, owned: LinkingObjects<Dog.owner>"),
            dog("«age»: {type: Int, renamedFrom: years}, owner: Dog?, owned: LinkingObjects<Dog.owner>"),
            ["source: property 'Dog.age' was 'years'; rename it in code that uses it"])
        // The type of the linking objects changes too, because it contains the name of the link. This change is not
        // reported.
        try check(
            dog("«owner»: Dog?, owned: LinkingObjects<Dog.owner>"),
            dog("«master»: {type: Dog?, renamedFrom: owner}, owned: LinkingObjects<Dog.master>"),
            ["source: property 'Dog.master' was 'owner'; rename it in code that uses it"])
    }

    @Test(
        "changing the type of a property breaks data S43 MRT0601",
        arguments: [
            ("Int", "Int64"), ("Int", "String"), ("Int", "List<Int>"), ("List<Int>", "Set<Int>"),
            ("List<Int>", "Map<Int>"), ("Dog?", "Cat?"), ("Size", "String"), ("Size", "Amount"),
        ])
    func type(_ before: String, _ after: String) throws {
        let rest = "  Cat: {properties: {a: Int}}\nenums:\n  Size: [small]\n  Amount: {raw: Int, cases: {one: 1}}\n"
        try check(
            dog("a: «\(before)»") + rest, dog("a: «\(after)»") + rest,
            [
                "data: property 'Dog.a' was '\(before)' and is '\(after)'; "
                    + "keep the type, or add a property with another name"
            ])
    }

    @Test("making a property required breaks data; making it optional breaks only code S43 MRT0601")
    func optionality() throws {
        try check(
            dog("a: «Int?»"), dog("a: «Int»"),
            ["data: property 'Dog.a' is required now, but a stored value may be nil; keep 'Int?'"])
        try check(
            dog("a: «List<Int?>»"), dog("a: «List<Int>»"),
            ["data: property 'Dog.a' may contain nil, which its type forbids; keep 'List<Int?>'"])
        try check(
            dog("a: «Int»"), dog("a: «Int?»"),
            ["source: property 'Dog.a' was 'Int' and is 'Int?'; keep the type"])
    }

    @Test("a change to another enum breaks only code if it has all raw values of the previous enum S43 MRT0601")
    func otherEnum() throws {
        let enums = "enums:\n  Size: [small, large]\n  Height: [large, small]\n  Width: [small, wide]\n"
        try check(
            dog("a: «Size»") + enums, dog("a: «Height»") + enums,
            ["source: property 'Dog.a' was 'Size' and is 'Height'; keep the type"])
        try check(
            dog("a: «Size»") + enums, dog("a: «Width»") + enums,
            [
                "data: property 'Dog.a' was 'Size' and is 'Width', which has no 'large'; "
                    + "keep the type, or add a property with another name"
            ])
    }

    @Test("ignored properties exist only in code S43 MRT0601")
    func ignored() throws {
        try check(
            "objects:\n  Dog: {properties: {a: Int}, ignored: {b: «Int», «c»: Int, d: Int}}\n",
            "objects:\n  «Dog»: {properties: {a: Int, d: Int}, ignored: {b: «Bool»}}\n",
            [
                "source: property 'Dog.c' was removed; declare it again",
                "source: property 'Dog.b' was 'Int' and is 'Bool'; keep the type",
            ])
        try check(
            dog("a: Int, «b»: Int"), dog("a: Int", "ignored: {«b»: Int}"),
            [
                "data: property 'Dog.b' is ignored now, and its stored values are lost; move it back to 'properties'"
            ])
    }

    @Test("moving a property breaks code; adding a property before others changes queries S43 MRT0601")
    func order() throws {
        try check(
            dog("«a»: Int, b: Int, c: Int"), dog("b: Int, c: Int, «a»: Int"),
            [
                "source: property 'Dog.a' was moved down, and the initializer takes its arguments in "
                    + "this order; move it back"
            ])
        try check(
            dog("a: Int, b: Int"), dog("a: Int, «c»: Int, b: Int, d: Int"),
            [
                "query: property 'Dog.c' was added before others, and 'create' takes the values of an array in this "
                    + "order; move it to the end"
            ])
    }
}
