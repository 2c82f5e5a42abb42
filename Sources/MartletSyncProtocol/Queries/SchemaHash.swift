#if Sync
    import Crypto
#endif

#if Postgres
    /// Identifies the schema on which a client and the service agreed.
    package enum SchemaHash {
        /// Returns the SHA-256 hash of the text `AgreedSchema.agreement`, encoded in UTF-8.
        package static func of(_ schema: AgreedSchema) -> [UInt8] { of(agreement: schema.agreement) }

        #if Sync
            static func of(agreement: String) -> [UInt8] { Array(SHA256.hash(data: Array(agreement.utf8))) }
        #else
            // The trait 'Postgres' without 'Sync' is used only by tests that build the client and the service together.
            // Such a build has no library of hash functions, so it uses the text instead of its hash.
            static func of(agreement: String) -> [UInt8] { Array(agreement.utf8) }
        #endif
    }
#endif
