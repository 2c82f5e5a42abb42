private enum MessageKind: UInt8 {
    case welcome = 1
    case chunk, complete, refused, changes, mark, reverted, tokenDue, failure, audit
}

extension ServiceMessage {
    /// Encodes the message.
    package func encoded() -> [UInt8] {
        var writer = MessageWriter()
        writer.byte(kind.rawValue)
        switch self {
        case .welcome(let welcome):
            writer.identity(welcome.identity)
            writer.text(welcome.epoch)
            writer.number(welcome.milliseconds)
            writer.number(welcome.storedUpload)
            writer.number(welcome.storedTime)
        case .chunk(let rows, let leaving, let progress):
            writer.rows(rows)
            writer.addresses(leaving)
            writer.number(progress)
        case .complete(let set, let cursor):
            writer.number(set)
            writer.text(cursor.text)
        case .refused(let set, let message):
            writer.number(set)
            writer.text(message)
        case .changes(let changes):
            writer.text(changes.cursor.text)
            writer.number(changes.acknowledgedUpload)
            writer.rows(changes.rows)
            writer.addresses(changes.leaving)
            writer.flag(changes.isLast)
        case .mark(let number): writer.number(number)
        case .reverted(let upload, let objects):
            writer.number(upload)
            writer.list(objects) { writer, object in
                writer.address(object.address)
                writer.byte(object.reason.rawValue)
                writer.text(object.message)
            }
        case .tokenDue: break
        case .failure(let failure):
            writer.byte(failure.action.rawValue)
            writer.text(failure.message)
            writer.number(failure.delayMilliseconds)
        case .audit(let number, let cursor):
            writer.number(number)
            writer.text(cursor.text)
        }
        return writer.bytes
    }

    private var kind: MessageKind {
        switch self {
        case .welcome: .welcome
        case .chunk: .chunk
        case .complete: .complete
        case .refused: .refused
        case .changes: .changes
        case .mark: .mark
        case .reverted: .reverted
        case .tokenDue: .tokenDue
        case .failure: .failure
        case .audit: .audit
        }
    }

    /// Decodes a message. Throws for bytes that `encoded()` never returns.
    package init(_ bytes: [UInt8], limits: MessageLimits = MessageLimits()) throws(MalformedMessage) {
        var reader = try MessageReader(bytes, limits: limits)
        let number = try reader.byte()
        guard let kind = MessageKind(rawValue: number) else {
            throw MalformedMessage("a message has the unknown kind \(number)")
        }
        switch kind {
        case .welcome:
            self = .welcome(
                Welcome(
                    identity: try reader.identity(), epoch: try reader.text(), milliseconds: try reader.number(),
                    storedUpload: try reader.number(), storedTime: try reader.number()))
        case .chunk:
            self = .chunk(rows: try reader.syncRows(), leaving: try reader.addresses(), progress: try reader.number())
        case .complete: self = .complete(set: try reader.number(), SyncCursor(try reader.text()))
        case .refused: self = .refused(set: try reader.number(), message: try reader.text())
        case .changes:
            self = .changes(
                Changes(
                    cursor: SyncCursor(try reader.text()), acknowledgedUpload: try reader.number(),
                    rows: try reader.rows(), leaving: try reader.addresses(), isLast: try reader.flag()))
        case .mark: self = .mark(try reader.number())
        case .reverted: self = .reverted(upload: try reader.number(), try reader.revertedObjects())
        case .tokenDue: self = .tokenDue
        case .failure:
            self = .failure(
                Failure(
                    action: try reader.choice("an action"), message: try reader.text(),
                    delayMilliseconds: try reader.number()))
        case .audit: self = .audit(try reader.number(), SyncCursor(try reader.text()))
        }
        try reader.requireEnd()
    }
}

extension MessageWriter {
    /// Writes a `chunk` message with rows and addresses that other writers have written. The caller then writes the
    /// progress.
    package mutating func chunk(_ rows: MessageWriter, count: Int, leaving: MessageWriter, leavingCount: Int) {
        byte(MessageKind.chunk.rawValue)
        self.count(count)
        append(rows)
        self.count(leavingCount)
        append(leaving)
    }

    package mutating func row(_ row: SyncRow) {
        address(row.address)
        values(row.values)
    }

    fileprivate mutating func rows(_ rows: [SyncRow]) { list(rows) { $0.row($1) } }

    fileprivate mutating func addresses(_ addresses: [ObjectAddress]) { list(addresses) { $0.address($1) } }
}

extension MessageReader {
    fileprivate mutating func rows() throws(MalformedMessage) -> [SyncRow] {
        try list { reader throws(MalformedMessage) in
            SyncRow(address: try reader.address(), values: try reader.values())
        }
    }

    fileprivate mutating func addresses() throws(MalformedMessage) -> [ObjectAddress] {
        try list { reader throws(MalformedMessage) in try reader.address() }
    }

    fileprivate mutating func choice<Choice: RawRepresentable>(
        _ what: String
    ) throws(MalformedMessage) -> Choice where Choice.RawValue == UInt8 {
        let number = try byte()
        guard let choice = Choice(rawValue: number) else { throw MalformedMessage("\(number) is not \(what)") }
        return choice
    }

    fileprivate mutating func revertedObjects() throws(MalformedMessage) -> [RevertedObject] {
        try list { reader throws(MalformedMessage) in
            RevertedObject(
                address: try reader.address(), reason: try reader.choice("a reason"), message: try reader.text())
        }
    }
}
