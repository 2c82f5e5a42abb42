package import MartletSyncProtocol

/// The objects of one upload with changes that the service has reverted.
package struct RevertedUpload: Sendable, Equatable {
    package var number: UInt64
    package var objects: [RevertedObject]

    package init(number: UInt64, objects: [RevertedObject]) {
        self.number = number
        self.objects = objects
    }

    /// The messages that name the objects.
    ///
    /// - Parameter maximumBytes: the greatest size of a message with several objects. A larger object has a message of
    ///   its own.
    package func messages(maximumBytes: Int = 256 << 10) -> [ServiceMessage] {
        var messages: [ServiceMessage] = []
        var (part, bytes) = ([RevertedObject](), 0)
        for object in objects {
            let size = ServiceMessage.reverted(upload: number, [object]).encoded().count
            if !part.isEmpty, bytes + size > maximumBytes {
                messages.append(.reverted(upload: number, part))
                (part, bytes) = ([], 0)
            }
            part.append(object)
            bytes += size
        }
        return part.isEmpty ? messages : messages + [.reverted(upload: number, part)]
    }
}
