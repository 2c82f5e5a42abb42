#if Sync
    import Foundation
    import NIOCore
    import NIOSSL

    /// The TLS configuration of a client: version 1.2 or later, with the certificates that the system trusts.
    ///
    /// The environment variable `SSL_CERT_FILE` names a file with further trusted certificates in PEM format. The
    /// variable is needed if a private authority has issued the certificate of the service.
    struct TransportSecurity: Sendable {
        private let context: NIOSSLContext
        private let host: String

        init(host: String) throws {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"] {
                configuration.additionalTrustRoots = [.file(file)]
            }
            context = try NIOSSLContext(configuration: configuration)
            self.host = host
        }

        /// Encrypts a connection, and checks that the certificate belongs to the host.
        func add(to channel: any Channel) throws {
            // The server name that a client sends in TLS must not be an IP address (RFC 6066, section 3).
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }
#endif
