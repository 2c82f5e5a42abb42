#if Sync
    import Crypto

    /// Identifies the schema on which a client and the service agreed.
    package enum SchemaHash {
        /// The SHA-256 of the agreement, in UTF-8.
        package static func of(_ schema: AgreedSchema) -> [UInt8] { of(agreement: schema.agreement) }

        static func of(agreement: String) -> [UInt8] { Array(SHA256.hash(data: Array(agreement.utf8))) }
    }
#endif
