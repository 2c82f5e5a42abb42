import ConformanceModels
import Foundation
import Testing

@testable import Martlet

@Suite struct FullTextMigrationTests {
    private func previousFile(_ edit: (String) -> String) throws -> PreviousFile {
        try PreviousFile([edit("\(Indexed._facts)")]) { create in
            for (id, text) in ["a quick fox", "brown bread"].enumerated() {
                _ = create(
                    "Indexed", ["id": id, "body": text, "code": "\(id)", "row": id, "column": id, "grade": "good"])
            }
        }
    }

    private func found(_ realm: Realm, _ search: String) -> [Int] {
        realm.objects(Indexed.self).where { $0.body.matches(search) }.map(\.id)
    }

    @Test("a property that becomes full-text indexed is searchable with its existing texts O55")
    func added() throws {
        let previous = try previousFile { $0.replacingOccurrences(of: " fullText", with: "") }
        let realm = try previous.migrated([Indexed.self], schemaVersion: 0)
        #expect(found(realm, "fox") == [0] && found(realm, "brown") == [1])
        try realm.write { realm.objects(Indexed.self)[1].body = "fox" }
        #expect(found(realm, "fox") == [0, 1] && found(realm, "brown") == [])
    }

    @Test("a search finds texts that a migration block wrote O55")
    func block() throws {
        let previous = try previousFile { $0 }
        let realm = try previous.migrated([Indexed.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Indexed") { old, new in
                if old?["id"] as? Int == 0 { new?["body"] = "slow tortoise" }
            }
            migration.create("Indexed", value: ["id": 7, "body": "new fox", "grade": "good"])
        }
        #expect(found(realm, "fox") == [7] && found(realm, "tortoise") == [0] && found(realm, "bread") == [1])
    }

    @Test("a type whose table is rebuilt keeps its full-text index O55")
    func rebuilt() throws {
        let previous = try previousFile { $0.replacingOccurrences(of: "count Int?", with: "count String?") }
        let realm = try previous.migrated([Indexed.self])
        #expect(found(realm, "fox") == [0])
        try realm.write { realm.delete(realm.objects(Indexed.self)[0]) }
        #expect(found(realm, "fox") == [])
    }
}
