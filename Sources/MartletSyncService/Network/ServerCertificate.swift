#if Sync
    import NIOCore
    import NIOSSL

    /// The certificate of a server, for connections with TLS 1.2 or later.
    package struct ServerCertificate: Sendable {
        private let context: NIOSSLContext

        /// - Parameters:
        ///   - chainPath: a file in PEM format with the certificate, followed by the intermediate certificates.
        ///   - keyPath: a file with the key of the certificate in PEM format.
        /// - Throws: if a file cannot be read, or if the key does not belong to the certificate.
        package init(chainPath: String, keyPath: String) throws {
            let chain = try NIOSSLCertificate.fromPEMFile(chainPath)
            let key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            context = try NIOSSLContext(configuration: configuration)
        }

        /// Adds TLS to a connection.
        func add(to channel: any Channel) throws {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }
    }
#endif
