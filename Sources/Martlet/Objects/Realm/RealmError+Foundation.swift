public import Foundation
import MartletEngine

extension Realm.Error: LocalizedError, CustomNSError {
    /// The message, which is also the `localizedDescription`.
    public var errorDescription: String? { message }

    /// The file to which the error belongs; nil if the error belongs to no file.
    public var fileURL: URL? { path.map { URL(fileURLWithPath: $0) } }

    /// The domain of `NSError`.
    public static var errorDomain: String { "Martlet.Realm.Error" }

    /// The number of the code, which is the same in every version of Martlet.
    public var errorCode: Int { code.number }

    /// The message and the file under the keys that Foundation defines.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let path { info[NSFilePathErrorKey] = path }
        if let fileURL { info[NSURLErrorKey] = fileURL }
        return info
    }
}

extension Realm.Error.Code {
    /// The numbers of the codes. They never change, because logs of programs may contain them.
    private static let numbers: [String: Int] = [
        "fileNotFound": 1, "fileAccess": 2, "incompatibleConfiguration": 3, "schemaMismatch": 4,
        "schemaVersionNewer": 5, "notADatabase": 6, "fileCorrupted": 7, "unsupportedFileFormat": 8, "outOfDiskSpace": 9,
        "inputOutput": 10, "busy": 11, "invalidInput": 12, "tooManyVersions": 13, "commitOutcomeUnknown": 14,
        "uniqueViolation": 15, "fileExists": 16, "deletionDenied": 17, "logFull": 18, "alreadyOpen": 19,
        "fileReplaced": 20, "wrongUser": 21, "subscriptionRefused": 22, "syncTimedOut": 23,
    ]

    /// The code of `NSError`. A code that is not in the table gets a number that depends only on its name.
    var number: Int {
        Self.numbers[rawValue]
            ?? rawValue.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }.numberOutsideTable
    }
}

extension UInt32 {
    // The numbers in the table are less than 1000.
    fileprivate var numberOutsideTable: Int { 1_000 + Int(self % 1_000_000) }
}

extension InvalidText: LocalizedError, CustomNSError {
    /// The invalid text and the expected format, which are also the `localizedDescription`.
    public var errorDescription: String? { description }

    /// The domain of `NSError`.
    public static var errorDomain: String { "Martlet.InvalidText" }

    /// The code of `NSError`. All errors of this type have this code.
    public var errorCode: Int { 1 }

    /// The description, under the key that Foundation defines.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
