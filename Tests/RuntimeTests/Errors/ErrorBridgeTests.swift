import Foundation
import Testing

@testable import Martlet

@Suite struct ErrorBridgeTests {
    @Test("as an NSError, every error has its message, a stable number and the path of the file O66")
    func bridge() throws {
        for fault in Fault.all {
            let fixture = try FaultFixture()
            let thrown = #expect(throws: Realm.Error.self) { try fault.provoke(fixture) }
            try fault.repair(fixture)
            let error = try #require(thrown)
            let bridged = error as NSError
            #expect((error as any Error).localizedDescription == error.message)
            #expect(bridged.localizedDescription == error.message && bridged.domain == "Martlet.Realm.Error")
            #expect(error.fileURL?.path == error.path && bridged.userInfo[NSURLErrorKey] as? URL == error.fileURL)
            #expect(bridged.userInfo[NSFilePathErrorKey] as? String == error.path)
            #expect(bridged.code == error.errorCode && error.errorCode > 0)
        }
        let invalidText = #expect(throws: InvalidText.self) { try ObjectId(string: "x") }
        #expect(
            (invalidText as (any Error)?)?.localizedDescription == "'x' cannot be read: expected 24 hexadecimal digits")
        let bridged = invalidText.map { $0 as NSError }
        #expect(bridged?.domain == "Martlet.InvalidText" && bridged?.code == 1)
    }

    @Test("codes have different numbers, and the numbers of existing codes never change O66") func numbers() {
        let codes = Set(Fault.all.map(\.code))
        #expect(Set(codes.map(\.number)).count == codes.count)
        #expect(codes.filter { $0.number >= 1_000 }.isEmpty, "a code has no entry in 'numbers'")
        #expect(Realm.Error.fileNotFound.number == 1 && Realm.Error.schemaMismatch.number == 4)
        #expect(Realm.Error.uniqueViolation.number == 15 && Realm.Error.fileExists.number == 16)
        #expect(Realm.Error.Code(rawValue: "addedLater").number >= 1_000)
    }
}
