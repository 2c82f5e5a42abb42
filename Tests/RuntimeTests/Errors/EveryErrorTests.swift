import ConformanceModels
import Foundation
import Testing

@testable import Martlet

/// Every code of `Realm.Error`, provoked by what causes it. Afterwards the file has all that was committed.
@Suite("every error") struct EveryErrorTests {
    @Test("O66 D3 a fault is thrown with its code, says what to do, and loses nothing", arguments: Fault.all)
    func fault(_ fault: Fault) throws {
        let bench = try FaultBench()
        let error = #expect(throws: Realm.Error.self) { try fault.provoke(bench) }
        #expect(error?.code == fault.code, "\(error?.description ?? "nothing was thrown")")
        #expect(error?.message.contains(fault.says) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains(fault.code.rawValue) == true)
        try fault.cure(bench)
        let kept = try bench.nodes()
        let mayBeThere = fault.code == .commitOutcomeUnknown && kept == [1, 2, 3, 4]
        #expect(kept == [1, 2, 3] || mayBeThere)
        try bench.open().write { try bench.open().add(Node(id: 9)) }
        #expect(try bench.nodes().last == 9)
    }

    @Test("O66 messages begin in lower case or with a name, and end without a full stop", arguments: Fault.all)
    func style(_ fault: Fault) throws {
        let bench = try FaultBench()
        let error = #expect(throws: Realm.Error.self) { try fault.provoke(bench) }
        let message = error?.message ?? ""
        #expect(message.first.map { $0.isLowercase || $0.isNumber || $0 == "'" } == true, "\(message)")
        #expect(!message.hasSuffix(".") && (error?.path != nil || fault.code == .invalidInput))
        try fault.cure(bench)
    }

    @Test("O66 every code has a fault that provokes it") func completeness() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let source = root.appending(path: "Sources/Martlet/Objects/RealmError.swift")
        let declared = try String(contentsOf: source, encoding: .utf8)
            .matches(of: /public static let (\w+) = Code\(rawValue: "(\w+)"\)/)
        #expect(declared.count > 10 && declared.allSatisfy { $0.1 == $0.2 })
        let codes = Set(declared.map { String($0.1) })
        #expect(codes.subtracting(Fault.all.map(\.code.rawValue)) == [], "provoke it in a 'Fault'")
        #expect(Set(Fault.all.map(\.code.rawValue)).subtracting(codes) == [])
    }

    @Test("O66 D53 without permission a file is refused with what would help, and is as it was afterwards")
    func permission()
        async
    {
        await #expect(processExitsWith: .success) {
            let bench = try FaultBench()
            for suffix in ["", "-wal", "-shm", ".lock"] { chmod(bench.url.path + suffix, 0o444) }
            chmod(bench.folder.path, 0o755)
            // Root may do everything: go on as nobody.
            if getuid() == 0 { seteuid(65_534) }
            do {
                try bench.write {}
                exit(2)
            } catch let error as Realm.Error where error.code == .fileAccess {
                guard error.message.contains("'readOnly'") else { exit(3) }
            }
            guard try bench.open({ $0.readOnly = true }).objects(Node.self).count == 3 else { exit(4) }
        }
    }
}
