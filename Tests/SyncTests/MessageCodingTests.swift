import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncProtocol

@Suite("messages between client and service")
struct MessageCodingTests {
    @Test("a message is unchanged after encoding and decoding, and has the same bytes when it is encoded again")
    func roundTrip() throws {
        var random = SeededRandom(seed: 9)
        for _ in 0..<3_000 {
            let client = RandomMessages.client(&random)
            let bytes = client.encoded()
            #expect(try ClientMessage(bytes) == client)
            #expect(try ClientMessage(bytes).encoded() == bytes)
            let service = RandomMessages.service(&random)
            #expect(try ServiceMessage(service.encoded()) == service)
        }
    }

    @Test("damaged bytes are either refused, or they are the exact encoding of another message")
    func damaged() {
        var random = SeededRandom(seed: 10)
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = RandomMessages.client(&random).encoded()
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            default:
                bytes.insert(
                    UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
            }
            guard let message = try? ClientMessage(bytes) else {
                refused += 1
                continue
            }
            #expect(message.encoded() == bytes)
        }
        #expect(refused > 5_000)
    }

    @Test("a message is refused if it is too large, or if a list in it claims more elements than there are bytes")
    func limits() throws {
        var limits = MessageLimits()
        limits.messageBytes = 100
        let long = ClientMessage.token(String(repeating: "x", count: 100)).encoded()
        let tooLarge = #expect(throws: MalformedMessage.self) { try ClientMessage(long, limits: limits) }
        #expect(tooLarge?.description == "the message has 102 bytes, at most 100 are allowed")
        var writer = MessageWriter()
        writer.byte(2)
        writer.number(1)
        writer.number(.max)
        let bytes = writer.bytes
        #expect(throws: MalformedMessage.self) { try ClientMessage(bytes) }
    }

    @Test("embedded objects that are nested too deeply are refused, before the stack overflows")
    func deep() throws {
        let address = ObjectAddress(type: 0, key: .integer(1))
        func upload(_ depth: Int) -> [UInt8] {
            var value = SyncValue.null
            for _ in 0..<depth { value = .embedded([value]) }
            let operation = SyncOperation.update(address, [ValuePath(0): value])
            let cursor = SyncCursor("1:1:")
            return ClientMessage.upload(.init(number: 1, base: cursor, time: .zero, operations: [operation])).encoded()
        }
        #expect(throws: Never.self) { try ClientMessage(upload(256)) }
        #expect(throws: MalformedMessage.self) { try ClientMessage(upload(257)) }
        let deep = Array([[UInt8]](repeating: [6, 1], count: 100_000).joined()) + [0]
        #expect(throws: MalformedMessage.self) {
            var reader = try MessageReader(deep)
            return try reader.syncValue()
        }
    }
}

/// Random messages with all kinds of values.
enum RandomMessages {
    static func client(_ random: inout SeededRandom) -> ClientMessage {
        switch Int.random(in: 0..<7, using: &random) {
        case 6: .sums(audit: number(&random), Bool.random(using: &random) ? sums(&random) : nil)
        case 0:
            .hello(
                .init(
                    identity: Bool.random(using: &random) ? identity(&random) : nil,
                    schemaHash: bytes(&random),
                    position: Bool.random(using: &random)
                        ? SyncPosition(epoch: text(&random), cursor: SyncCursor(text(&random))) : nil,
                    acknowledgedUpload: number(&random), subscriptionSet: number(&random),
                    queries: queries(&random), token: text(&random)))
        case 1:
            .subscribe(
                set: number(&random), queries(&random))
        case 2: .mark(number(&random))
        case 3: .token(text(&random))
        case 4: .uploadPart(list(&random, operation))
        default:
            .upload(
                .init(
                    number: number(&random), base: SyncCursor(text(&random)),
                    time: HybridTimestamp(rawValue: number(&random)), operations: list(&random, operation)))
        }
    }

    static func queries(_ random: inout SeededRandom) -> [SubscribedQuery] {
        list(&random) { SubscribedQuery(type: Int.random(in: 0...300, using: &$0), condition: bytes(&$0)) }
    }

    static func service(_ random: inout SeededRandom) -> ServiceMessage {
        switch Int.random(in: 0..<10, using: &random) {
        case 9: .audit(number(&random), SyncCursor(text(&random)))
        case 0:
            .welcome(
                .init(
                    identity: identity(&random), epoch: text(&random), milliseconds: number(&random),
                    storedUpload: number(&random), storedTime: number(&random)))
        case 1: .chunk(rows: SyncRows(list(&random, row)), leaving: list(&random, address), progress: number(&random))
        case 2: .complete(set: number(&random), SyncCursor(text(&random)))
        case 3: .refused(set: number(&random), message: text(&random))
        case 4: .mark(number(&random))
        case 5: .tokenDue
        case 6:
            .reverted(
                upload: number(&random),
                list(&random) { random in
                    RevertedObject(
                        address: address(&random),
                        reason: RevertedObject.Reason.allCases.randomElement(using: &random) ?? .constraint,
                        message: text(&random))
                })
        case 7:
            .failure(
                .init(
                    action: ServiceMessage.Failure.Action.allCases.randomElement(using: &random) ?? .retry,
                    message: text(&random), delayMilliseconds: number(&random)))
        default:
            .changes(
                .init(
                    cursor: SyncCursor(text(&random)), acknowledgedUpload: number(&random), rows: list(&random, row),
                    leaving: list(&random, address), isLast: Bool.random(using: &random)))
        }
    }

    static func sums(_ random: inout SeededRandom) -> RowSums {
        var sums = RowSums()
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let bucket = RowSums.BucketID(
                type: Int.random(in: 0...300, using: &random), number: Int.random(in: 0..<64, using: &random))
            sums.add(bucket, checksum: number(&random))
        }
        return sums
    }

    static func list<Element>(
        _ random: inout SeededRandom, _ make: (inout SeededRandom) -> Element
    ) -> [Element] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in make(&random) }
    }

    static func number(_ random: inout SeededRandom) -> UInt64 {
        [0, 1, 127, 128, .max, UInt64.random(in: 0...(.max), using: &random)].randomElement(using: &random) ?? 0
    }

    static func bytes(_ random: inout SeededRandom) -> [UInt8] {
        list(&random) { UInt8.random(in: 0...255, using: &$0) }
    }

    static func text(_ random: inout SeededRandom) -> String {
        ["", "a", "\0", "e\u{301}", "🐕", "12:17:13,15", "'"].randomElement(using: &random) ?? ""
    }

    static func identity(_ random: inout SeededRandom) -> ClientIdentity {
        ClientIdentity(id: number(&random), secret: bytes(&random))
    }

    static func scalar(_ random: inout SeededRandom) -> SQLValue {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .integer(Int64(bitPattern: number(&random)))
        case 1: .real([0.0, -0.0, .nan, .infinity, 0.1, -1e300].randomElement(using: &random) ?? 0)
        case 2: .text(text(&random))
        default: .blob(bytes(&random))
        }
    }

    static func address(_ random: inout SeededRandom) -> ObjectAddress {
        ObjectAddress(type: Int.random(in: 0...300, using: &random), key: scalar(&random))
    }

    static func value(_ random: inout SeededRandom) -> SyncValue {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .null
        case 1: .link(address(&random))
        case 2: .embedded(list(&random, value))
        default: .scalar(scalar(&random))
        }
    }

    static func path(_ random: inout SeededRandom) -> ValuePath {
        ValuePath([Int.random(in: 0...200, using: &random)] + list(&random) { Int.random(in: 0...3, using: &$0) })
    }

    static func values(_ random: inout SeededRandom) -> [ValuePath: SyncValue] {
        Dictionary(list(&random) { (path(&$0), value(&$0)) }) { first, _ in first }
    }

    static func row(_ random: inout SeededRandom) -> SyncRow {
        SyncRow(address: address(&random), values: values(&random))
    }

    static func operation(_ random: inout SeededRandom) -> SyncOperation {
        let (address, path) = (address(&random), path(&random))
        let position = ListPosition.between(nil, nil, client: number(&random))[0]
        return switch Int.random(in: 0..<11, using: &random) {
        case 0: .create(address, values(&random))
        case 1: .update(address, values(&random))
        case 2: .delete(address)
        case 3: .add(address, path, Int64(bitPattern: number(&random)))
        case 4: .insertElement(address, path, position, value(&random))
        case 5: .removeElement(address, path, position)
        case 6: .insertMember(address, path, value(&random))
        case 7: .removeMember(address, path, value(&random))
        case 8: .setEntry(address, path, key: text(&random), value(&random))
        case 9: .setElement(address, path, position, value(&random))
        default: .removeEntry(address, path, key: text(&random))
        }
    }
}
