/// Divides uploads into messages, because the size of a message is limited.
package enum UploadParts {
    /// The greatest size of the operations in one message, in bytes. A larger operation is sent in a separate message.
    package static let usualBytes = 256 << 10

    /// Returns the messages of an upload in the order in which the client must send them.
    ///
    /// - Parameter maximumBytes: the greatest size of the operations in one message, in bytes.
    package static func messages(
        of upload: ClientMessage.Upload, maximumBytes: Int = usualBytes
    ) -> [ClientMessage] {
        var messages: [ClientMessage] = []
        var (part, partBytes) = ([SyncOperation](), 0)
        for operation in upload.operations {
            let size = operation.encodedSize
            if !part.isEmpty, partBytes + size > maximumBytes {
                messages.append(.uploadPart(part))
                (part, partBytes) = ([], 0)
            }
            part.append(operation)
            partBytes += size
        }
        var last = upload
        last.operations = part
        return messages + [.upload(last)]
    }
}

extension SyncOperation {
    /// The number of bytes of the encoded operation.
    package var encodedSize: Int {
        var writer = MessageWriter()
        writer.operation(self)
        return writer.bytes.count
    }
}
