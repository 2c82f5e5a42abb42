import Foundation
import Testing

@testable import Martlet

@Suite struct ErrorBridgeTests {
    @Test("an error that is converted to NSError has its message, its number and the path of the file O66")
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

    @Test("each error code has a number that never changes O66") func numbers() {
        let numbers: [String: Int] = [
            "fileNotFound": 1, "fileAccess": 2, "incompatibleConfiguration": 3, "schemaMismatch": 4,
            "schemaVersionNewer": 5, "notADatabase": 6, "fileCorrupted": 7, "unsupportedFileFormat": 8,
            "outOfDiskSpace": 9, "inputOutput": 10, "busy": 11, "invalidInput": 12, "tooManyVersions": 13,
            "commitOutcomeUnknown": 14, "uniqueViolation": 15, "fileExists": 16, "deletionDenied": 17, "logFull": 18,
            "alreadyOpen": 19, "fileReplaced": 20, "wrongUser": 21, "subscriptionRefused": 22, "syncTimedOut": 23,
        ]
        for (name, number) in numbers { #expect(Realm.Error.Code(rawValue: name).number == number, "\(name)") }
        #expect(Set(Fault.all.map(\.code.rawValue)).subtracting(numbers.keys).isEmpty, "codes without a number")
        #expect(Realm.Error.Code(rawValue: "addedLater").number >= 1_000)
    }
}
