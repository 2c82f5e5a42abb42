import ConformanceModels
import Foundation
import Testing

@testable import Martlet

@Suite struct WordMigrationTests {
    private func past(_ edit: (String) -> String) throws -> PastProgram {
        try PastProgram([edit("\(Indexed._facts)")]) { create in
            for (id, text) in ["a quick fox", "brown bread"].enumerated() {
                _ = create(
                    "Indexed", ["id": id, "body": text, "code": "\(id)", "row": id, "column": id, "grade": "good"])
            }
        }
    }

    private func found(_ realm: Realm, _ search: String) -> [Int] {
        realm.objects(Indexed.self).where { $0.body.matches(search) }.map(\.id)
    }

    @Test("O55 a property that becomes searchable is, with the texts that are there")
    func added() throws {
        let past = try past { $0.replacingOccurrences(of: " fullText", with: "") }
        let realm = try past.migrated([Indexed.self], schemaVersion: 0)
        #expect(found(realm, "fox") == [0] && found(realm, "brown") == [1])
        try realm.write { realm.objects(Indexed.self)[1].body = "fox" }
        #expect(found(realm, "fox") == [0, 1] && found(realm, "brown") == [])
    }

    @Test("O55 a search knows what a migration block has written")
    func block() throws {
        let past = try past { $0 }
        let realm = try past.migrated([Indexed.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Indexed") { old, new in
                if old?["id"] as? Int == 0 { new?["body"] = "slow tortoise" }
            }
            migration.create("Indexed", value: ["id": 7, "body": "new fox", "grade": "good"])
        }
        #expect(found(realm, "fox") == [7] && found(realm, "tortoise") == [0] && found(realm, "bread") == [1])
    }

    @Test("O55 a type that is renamed, or made anew, keeps its words")
    func rebuilt() throws {
        let renamed = try past { $0.replacingOccurrences(of: "count Int?", with: "count String?") }
        let realm = try renamed.migrated([Indexed.self])
        #expect(found(realm, "fox") == [0])
        try realm.write { realm.delete(realm.objects(Indexed.self)[0]) }
        #expect(found(realm, "fox") == [])
    }
}
