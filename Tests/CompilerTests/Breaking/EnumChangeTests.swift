import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: enums")
struct EnumChangeTests {
    /// Returns a schema with this enum and with a property that stores it.
    private func stored(_ size: String) -> String {
        "enums:\n  \(size)\nobjects:\n  Dog: {properties: {a: Size?}}\n"
    }

    @Test("a removed or renamed enum breaks code S43 MRT0601")
    func names() throws {
        try check(
            "enums:\n  «Size»: [small]\n  Height: [low]\n", "enums:\n  Height: [low]\n",
            ["source: enum 'Size' was removed; declare it again"])
        try check(
            "enums:\n  «Size»: [small]\nobjects:\n  Dog: {properties: {a: Size, b: List<Size>}}\n",
            """
            enums:
              «Height»: {renamedFrom: Size, cases: [small]}
            objects:
              Dog: {properties: {a: Height, b: List<Height>}}

            """,
            ["source: enum 'Size' is 'Height' now; rename it in code that uses it"])
    }

    @Test("a changed raw type breaks data if a property stores the enum, and otherwise only code S43 MRT0601")
    func rawType() throws {
        let old = "«Size»: {raw: Int, cases: {small: 1}}"
        let new = "«Size»: {raw: String, cases: {small: s}}"
        let message =
            "enum 'Size' was stored as 'Int' and is 'String'; keep the raw type, or add an enum with another name"
        try check("enums:\n  \(old)\n", "enums:\n  \(new)\n", ["source: " + message])
        try check(stored(old), stored(new), ["data: " + message])
    }

    @Test("a removed case breaks data if a property stores the enum, and otherwise only code S43 MRT0601")
    func goneCase() throws {
        try check(
            stored("Size: [small, «large»]"), stored("«Size»: [small]"),
            ["data: case 'Size.large' was removed, and its stored values match no case; declare it again"])
        try check(
            "enums:\n  Size: [small, «large»]\n", "enums:\n  «Size»: [small]\n",
            ["source: case 'Size.large' was removed; declare it again"])
    }

    @Test("a changed raw type breaks only code if no property of the new schema stores the enum S43 MRT0601")
    func otherEnumOfProperty() throws {
        let enums = { (size: String) in "enums:\n  \(size)\n  Height: [small, large]\n" }
        let old = "objects:\n  Dog: {properties: {a: «Size?»}}\n"
        let new = "objects:\n  Dog: {properties: {a: «Height?»}}\n"
        try check(
            enums("«Size»: [small, large]") + old, enums("«Size»: {raw: Int, cases: {small: 1, large: 2}}") + new,
            [
                "source: enum 'Size' was stored as 'String' and is 'Int'; keep the raw type, or add an enum with "
                    + "another name",
                "source: property 'Dog.a' was 'Size?' and is 'Height?'; keep the type",
            ])
    }

    @Test("a renamed case with the same raw value breaks only code S43 MRT0601")
    func renamedCase() throws {
        try check(
            stored("Size: [small, «large»]"), stored("Size: {cases: {small: small, «big»: large}}"),
            ["source: case 'Size.large' is 'big' now; rename it in code that uses it"])
        let change = try SchemaChange(stored("Size: [small, «large»]"), stored("«Size»: [small, «big»]"))
        #expect(
            change.findings().map(\.help) == [
                "if 'big' is its new name, keep what is stored: write 'big: large'", nil,
            ])
        #expect(change.findings().map(\.severity) == [.error, .error])
    }

    @Test("a changed raw value breaks data if a property stores the enum, and otherwise changes queries S43 MRT0601")
    func rawValue() throws {
        try check(
            stored("Size: {raw: Int, cases: {«small»: 1, «large»: 2}}"),
            stored("Size: {raw: Int, cases: {«small»: 2, «large»: 1}}"),
            [
                "data: the raw value of case 'Size.small' was '1' and is '2'; write 'small: 1'",
                "data: the raw value of case 'Size.large' was '2' and is '1'; write 'large: 2'",
            ])
        try check(
            "enums:\n  Size: {cases: {«small»: s}}\n", "enums:\n  Size: {cases: {«small»: t}}\n",
            ["query: the raw value of case 'Size.small' was 's' and is 't'; write 'small: s'"])
    }

    @Test("a new case breaks a 'switch'; the order of cases does not matter S43 MRT0601")
    func newCase() throws {
        try check(
            stored("Size: [small, large]"), stored("Size: [large, «huge», small]"),
            [
                "source: case 'Size.huge' is new, and a 'switch' without it stops compiling; add it there, or write "
                    + "'default:'"
            ])
    }

    @Test("a changed case for unknown values changes queries; removing the key 'unknown' breaks data S43 MRT0601")
    func unknown() throws {
        try check(
            stored("Size: {cases: [small, large], unknown: «small»}"),
            stored("Size: {cases: [small, large], unknown: «large»}"),
            ["query: unknown values of 'Size' were read as 'small' and are read as 'large'; keep 'unknown: small'"])
        try check(
            stored("Size: {cases: [small], unknown: «small»}"), stored("«Size»: {cases: [small]}"),
            [
                "data: unknown values of 'Size' were read as 'small'; now an optional property reads them as nil, and any "
                    + "other read of them stops the program; keep 'unknown: small'"
            ])
        try check(stored("Size: {cases: [small]}"), stored("Size: {cases: [small], unknown: small}"))
    }
}
