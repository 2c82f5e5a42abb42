/// Divides uploads into messages, because the size of a message is limited.
package enum UploadParts {
    /// The greatest size of the operations in one message, in bytes. An operation that is larger has a message of its
    /// own.
    package static let usualBytes = 256 << 10

    /// The messages of an upload, in the order in which they are sent, and the size of all of its operations in bytes.
    ///
    /// - Parameter maximumBytes: the greatest size of the operations in one message, in bytes.
    package static func messages(
        of upload: ClientMessage.Upload, maximumBytes: Int = usualBytes
    ) -> (messages: [ClientMessage], bytes: Int) {
        var messages: [ClientMessage] = []
        var (part, partBytes, bytes) = ([SyncOperation](), 0, 0)
        for operation in upload.operations {
            let size = operation.encodedSize
            if !part.isEmpty, partBytes + size > maximumBytes {
                messages.append(.uploadPart(part))
                (part, partBytes) = ([], 0)
            }
            part.append(operation)
            partBytes += size
            bytes += size
        }
        var last = upload
        last.operations = part
        return (messages + [.upload(last)], bytes)
    }
}

extension SyncOperation {
    /// The number of bytes of the encoding.
    package var encodedSize: Int {
        var writer = MessageWriter()
        writer.operation(self)
        return writer.bytes.count
    }
}
