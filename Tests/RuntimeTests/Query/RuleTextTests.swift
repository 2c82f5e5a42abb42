import Martlet
import Testing

/// The facts of generated classes contain the rules of the schema as query texts. The texts of this test are those
/// that `Tests/CompilerTests/Frontend/RuleTests.swift` expects the compiler to write.
@Suite("query texts: rules of a schema")
struct RuleTextTests {
    @Test(
        "the canonical texts of rules are parsed as query texts S54",
        arguments: [
            "id == 1 AND age == 2 AND id == 3", "id == 1 OR age == 2 AND (id == 3 OR age == 4)",
            "NOT (id == 1 OR age == 2)", "NOT id == 1", "isGood == true", "TRUEPREDICATE", "NOT FALSEPREDICATE",
            "name == 'it\\'s'", "name == 'a\\u000a\\u00e6\\ud83d\\ude00\\\\'", "nick != nil", "country IN {'DE', nil}",
            "level == -2", "place.level == 1", "owner.id == $user.sub", "$user.a.b == 'x'", "'x' IN $user.roles",
            "id IN $user.ids", "#in == 1 AND #in == 2", "#none == 1", "weight < 1000.50", "weight < 1E3",
            "price >= 5.0",
            "key == uuid(00010203-0405-0607-0809-0a0b0c0d0e0f)", "code == oid(507f1f77bcf86cd799439011)", "id IN {}",
            "title IN {'a', 'b', $user.name}", "$user.isAdmin == true", "NOT 'editor' IN $user.roles",
        ])
    func texts(_ text: String) throws { _ = try Realm.Predicate(parsing: text) }
}
