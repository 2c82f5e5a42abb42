import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

@Suite struct FullTextSearchTests {
    private let texts = [
        "The quick brown fox", "Résumé of a FOX", "foxes and \"hounds\"", "", "brown bread", "a AND b OR c NOT d*",
        "x'); DROP",
    ]

    private func filled() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            for (id, text) in texts.enumerated() {
                test.realm.add(
                    Indexed(id: id, code: "\(id)", row: id, column: id, body: text, summary: id == 3 ? nil : text))
            }
        }
        return test
    }

    private func ids(_ test: TestRealm, _ search: String) -> [Int] {
        let all = test.realm.objects(Indexed.self)
        let found = all.where { $0.body.matches(search) }.map(\.id)
        #expect(all.filter("body TEXT %@", search).map(\.id) == found)
        return found
    }

    @Test("a search for a prefix in an open write does not damage the index O55", arguments: [false, true])
    func prefixInWrite(isDeleted: Bool) throws {
        let test = try TestRealm()
        let all = test.realm.objects(Indexed.self)
        let indexed = Indexed(id: 1, summary: "alpha beta")
        try test.realm.write { test.realm.add(indexed) }
        try test.realm.write {
            if isDeleted { test.realm.delete(indexed) } else { indexed.summary = nil }
            #expect(all.where { $0.summary.matches("al*") }.isEmpty)
            if isDeleted {
                test.realm.add(Indexed(id: 1, summary: "alpha gamma alpha"))
            } else {
                indexed.summary = "alpha gamma alpha"
            }
        }
        #expect(all.where { $0.summary.matches("alpha") }.map(\.id) == [1])
        #expect(all.where { $0.summary.matches("al*") }.map(\.id) == [1])
        #expect(all.where { $0.summary.matches("beta") }.isEmpty)
    }

    @Test("a search matches all words in any order, and ignores case and diacritics O55") func words() throws {
        let test = try filled()
        #expect(ids(test, "fox") == [0, 1] && ids(test, "FOX brown") == [0] && ids(test, "brown fox") == [0])
        #expect(ids(test, "fox*") == [0, 1, 2] && ids(test, "resume") == [1] && ids(test, "résumé") == [1])
        #expect(
            ids(test, "brown -fox") == [4] && ids(test, "-fox") == [2, 3, 4, 5, 6]
                && ids(test, "-fox -brown") == [2, 3, 5, 6])
        #expect(ids(test, "") == [] && ids(test, "  ") == [] && ids(test, "nothing") == [])
        let all = test.realm.objects(Indexed.self)
        #expect(
            all.where { $0.summary.matches("-fox") }.map(\.id) == [2, 4, 5, 6],
            "nil does not match a search for the absence of a word")
        #expect(all.where { $0.body.matches("brown") && $0.id > 0 }.map(\.id) == [4])
    }

    @Test("SQLite interprets no part of a search as syntax O55 O56") func syntaxIsNotInterpreted() throws {
        let test = try filled()
        #expect(ids(test, "AND") == [2, 5] && ids(test, "OR") == [5] && ids(test, "NOT d") == [5])
        #expect(ids(test, "\"hounds\"") == [2] && ids(test, "hounds\"") == [2] && ids(test, "body:fox") == [])
        for search in [
            "\"", "*", "-", "--", "(", ")", "^fox", "{a b}", "NEAR(a b)", "a\0b", "\u{301}", "x'); DROP", "+",
        ] {
            _ = ids(test, search)
        }
        #expect(ids(test, "fox") == [0, 1])
    }

    @Test("symbols between the words of a search are ignored O55") func symbols() throws {
        let test = try filled()
        #expect(
            ids(test, "quick & fox") == [0] && ids(test, "fox + quick") == [0] && ids(test, "fox \u{1F98A}") == [0, 1])
        #expect(ids(test, "fox -&") == [0, 1] && ids(test, "&* fox") == [0, 1] && ids(test, "\u{301} fox") == [0, 1])
        #expect(ids(test, "& -fox") == ids(test, "-fox") && ids(test, "&") == [] && ids(test, "-&") == [])
        #expect(ids(test, "d*") == [5, 6] && ids(test, "'hounds'") == [2])
    }

    @Test("the full-text index is updated by every change, and restored by a rollback O55") func changes() throws {
        let test = try filled()
        let all = test.realm.objects(Indexed.self)
        try test.realm.write {
            all[4].body = "a fox after all"
            #expect(ids(test, "fox") == [0, 1, 4], "the search includes changes of the open write")
            all[0].body = "gone"
            test.realm.delete(all[1])
        }
        #expect(ids(test, "fox") == [4] && ids(test, "gone") == [0] && ids(test, "resume") == [])
        try test.realm.beginWrite()
        all[0].body = "fox"
        test.realm.cancelWrite()
        #expect(ids(test, "fox") == [4])
        try test.realm.write { all[0].summary = nil }
        #expect(all.where { $0.summary.matches("quick") }.isEmpty)
        try test.realm.write {
            test.realm.create(Indexed.self, value: ["id": 0, "summary": "quick again"], update: .modified)
        }
        #expect(all.where { $0.summary.matches("again") }.map(\.id) == [0])
        try test.realm.write { test.realm.deleteAll() }
        #expect(ids(test, "fox") == [])
    }

    @Test("observed results of a search report changes O55 N27") func observed() throws {
        let test = try filled()
        let foxes = test.realm.objects(Indexed.self).where { $0.body.matches("fox") }
        var changes: [RealmCollectionChange<Results<Indexed>>] = []
        let token = foxes.observe { changes.append($0) }
        while changes.isEmpty && test.scheduler.waitForWork() { test.scheduler.run() }
        try test.onNewThread { realm in
            try realm.write {
                realm.object(ofType: Indexed.self, forPrimaryKey: 0)?.body = "none"
                realm.object(ofType: Indexed.self, forPrimaryKey: 4)?.body = "fox"
            }
        }
        test.realm.refresh()
        guard case .update(let now, let deletions, let insertions, _)? = changes.last else {
            Issue.record("no change was delivered")
            return
        }
        #expect(now.map(\.id) == [1, 4] && deletions == [0] && insertions == [1])
        token.invalidate()
    }

    @Test("searching a property without a full-text index traps O55") func undeclared() async {
        let output = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.objects(Indexed.self).where { $0.name.matches("a") }.count
        }
        expectMessage(output, "'name' has no full-text index: declare it with 'fullText: true'")
    }
}
