private enum MessageKind: UInt8 {
    case hello = 1
    case subscribe, upload, mark, token, uploadPart, sums
}

extension ClientMessage {
    /// Encodes the message.
    package func encoded() -> [UInt8] {
        var writer = MessageWriter()
        switch self {
        case .hello(let hello):
            writer.byte(MessageKind.hello.rawValue)
            writer.number(hello.protocolVersion)
            writer.optional(hello.identity) { $0.identity($1) }
            writer.blob(hello.schemaHash)
            writer.optional(hello.position) { $0.position($1) }
            writer.number(hello.acknowledgedUpload)
            writer.number(hello.subscriptionSet)
            writer.queries(hello.queries)
            writer.text(hello.token)
        case .subscribe(let set, let queries):
            writer.byte(MessageKind.subscribe.rawValue)
            writer.number(set)
            writer.queries(queries)
        case .upload(let upload):
            writer.byte(MessageKind.upload.rawValue)
            writer.number(upload.number)
            writer.text(upload.base.text)
            writer.number(upload.time.rawValue)
            writer.list(upload.operations) { $0.operation($1) }
        case .mark(let number):
            writer.byte(MessageKind.mark.rawValue)
            writer.number(number)
        case .token(let token):
            writer.byte(MessageKind.token.rawValue)
            writer.text(token)
        case .uploadPart(let operations):
            writer.byte(MessageKind.uploadPart.rawValue)
            writer.list(operations) { $0.operation($1) }
        case .sums(let audit, let sums):
            writer.byte(MessageKind.sums.rawValue)
            writer.number(audit)
            writer.optional(sums) { $0.sums($1) }
        }
        return writer.bytes
    }

    /// Decodes a message. Throws for bytes that `encoded()` never returns.
    package init(_ bytes: [UInt8], limits: MessageLimits = MessageLimits()) throws(MalformedMessage) {
        var reader = try MessageReader(bytes, limits: limits)
        let number = try reader.byte()
        guard let kind = MessageKind(rawValue: number) else {
            throw MalformedMessage("a message has the unknown kind \(number)")
        }
        switch kind {
        case .hello: self = .hello(try reader.hello())
        case .subscribe:
            self = .subscribe(set: try reader.number(), try reader.queries())
        case .upload:
            self = .upload(
                Upload(
                    number: try reader.number(), base: SyncCursor(try reader.text()),
                    time: HybridTimestamp(rawValue: try reader.number()),
                    operations: try reader.operations()))
        case .mark: self = .mark(try reader.number())
        case .token: self = .token(try reader.text())
        case .uploadPart: self = .uploadPart(try reader.operations())
        case .sums:
            self = .sums(
                audit: try reader.number(),
                try reader.optional { reader throws(MalformedMessage) in try reader.sums() })
        }
        try reader.requireEnd()
    }
}

extension MessageWriter {
    mutating func identity(_ identity: ClientIdentity) {
        number(identity.id)
        blob(identity.secret)
    }

    fileprivate mutating func queries(_ queries: [SubscribedQuery]) {
        list(queries) { writer, query in
            writer.count(query.type)
            writer.blob(query.condition)
        }
    }

    mutating func position(_ position: SyncPosition) {
        text(position.epoch)
        text(position.cursor.text)
    }
}

extension MessageReader {
    mutating func identity() throws(MalformedMessage) -> ClientIdentity {
        ClientIdentity(id: try number(), secret: try blob())
    }

    fileprivate mutating func operations() throws(MalformedMessage) -> [SyncOperation] {
        try list { reader throws(MalformedMessage) in try reader.operation() }
    }

    fileprivate mutating func queries() throws(MalformedMessage) -> [SubscribedQuery] {
        try list { reader throws(MalformedMessage) in
            SubscribedQuery(type: try reader.index(), condition: try reader.blob())
        }
    }

    fileprivate mutating func hello() throws(MalformedMessage) -> ClientMessage.Hello {
        ClientMessage.Hello(
            protocolVersion: try number(),
            identity: try optional { reader throws(MalformedMessage) in try reader.identity() },
            schemaHash: try blob(),
            position: try optional { reader throws(MalformedMessage) in
                SyncPosition(epoch: try reader.text(), cursor: SyncCursor(try reader.text()))
            },
            acknowledgedUpload: try number(), subscriptionSet: try number(), queries: try queries(),
            token: try text())
    }
}
