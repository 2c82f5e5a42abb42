#if Sync
    import Foundation
    import JWTKit
    import Synchronization

    /// The signature algorithms that the service accepts.
    enum TokenAlgorithm: String, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// The keys that verify tokens. Each key has one fixed algorithm, so the header of a token cannot choose another
    /// algorithm for the key.
    final class TokenKeys: Sendable {
        /// One key.
        struct Key: Sendable {
            /// The `kid` of the key in the key set; nil for the secret, and for a key without `kid`. A key without
            /// `kid` is used only for tokens without `kid`.
            let id: String?
            let algorithm: TokenAlgorithm
            let verifier: JWTKeyCollection
        }

        /// The keys of the key set, and the modification time of its file.
        private struct File {
            var keys: [Key]
            var modified: Date
        }

        /// RFC 7518 requires a key of at least this length for HS256, because a shorter key weakens the signature.
        static let minimumSecretBytes = 32
        /// Each character of Base64 represents 6 bits.
        private static let minimumModulusCharacters = 2_048 / 6

        private let secretKeys: [Key]
        private let path: String?
        private let file: Mutex<File?>
        private let log: @Sendable (String) -> Void

        /// - Parameters:
        ///   - secret: the key of HS256.
        ///   - path: a file with a JSON Web Key Set. The file is read again when its modification time has changed.
        ///   - log: called if the file has changed and cannot be used. The earlier keys then stay in use.
        init(secret: [UInt8]?, path: String?, log: @escaping @Sendable (String) -> Void) async throws(TokenError) {
            guard secret != nil || path != nil else {
                throw TokenError("no key for tokens; configure a secret or a file with a key set")
            }
            if let secret {
                guard secret.count >= Self.minimumSecretBytes else {
                    throw TokenError(
                        "the secret for tokens has \(secret.count) bytes; use at least \(Self.minimumSecretBytes)")
                }
                let verifier = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
                secretKeys = [Key(id: nil, algorithm: .hs256, verifier: verifier)]
            } else {
                secretKeys = []
            }
            self.path = path
            self.log = log
            file = Mutex(nil)
            if let path {
                let loaded = try await Self.load(path)
                file.withLock { $0 = loaded }
            }
        }

        /// The keys that can verify a token with this algorithm and this `kid`. For HS256, the only key is the secret,
        /// which has no `kid`. For a token without `kid`, the result has all keys of the algorithm.
        func keys(_ algorithm: TokenAlgorithm, id: String?) async -> [Key] {
            if algorithm == .hs256 { return secretKeys }
            await reload()
            let keys = file.withLock { $0?.keys ?? [] }.filter { $0.algorithm == algorithm }
            guard let id else { return keys }
            return keys.filter { $0.id == id }
        }

        var algorithms: [TokenAlgorithm] {
            TokenAlgorithm.allCases.filter { $0 == .hs256 ? !secretKeys.isEmpty : path != nil }
        }

        private func reload() async {
            guard let path else { return }
            let modified = Self.modified(path)
            let isChanged = file.withLock { file in
                // The modification time is stored even if the file cannot be used, so that the error is reported only
                // once.
                guard let modified, modified != file?.modified else { return false }
                file?.modified = modified
                return true
            }
            guard isChanged else { return }
            do throws(TokenError) {
                let loaded = try await Self.load(path)
                file.withLock { $0 = loaded }
            } catch {
                log(error.description)
            }
        }

        private static func modified(_ path: String) -> Date? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }

        // MARK: Key sets

        private static func load(_ path: String) async throws(TokenError) -> File {
            guard let modified = modified(path), let data = FileManager.default.contents(atPath: path) else {
                throw TokenError("the key set '\(path)' cannot be read")
            }
            guard let entries = ClaimValue(bytes: Array(data))?["keys"]?.list else {
                throw TokenError("the key set '\(path)' is not JSON with a list 'keys'")
            }
            var keys: [Key] = []
            for (number, entry) in entries.enumerated() {
                if let key = try await key(entry, "key \(number + 1) of the key set '\(path)'") { keys.append(key) }
            }
            guard !keys.isEmpty else {
                throw TokenError("the key set '\(path)' has no key for RS256 or ES256")
            }
            return File(keys: keys, modified: modified)
        }

        // Returns nil for a key that has another algorithm or another use.
        private static func key(_ entry: ClaimValue, _ place: String) async throws(TokenError) -> Key? {
            guard let algorithm = algorithm(entry), entry["use"]?.text ?? "sig" == "sig" else { return nil }
            if algorithm == .rs256, (entry["n"]?.text ?? "").utf8.count < minimumModulusCharacters {
                throw TokenError("\(place) has less than 2,048 bits")
            }
            let id = entry["kid"]?.text
            // The file may contain private keys, but the service needs only their public parts.
            var fields: [String: String] = ["alg": algorithm.rawValue, "kid": id ?? "default"]
            for name in ["kty", "n", "e", "x", "y", "crv"] { fields[name] = entry[name]?.text }
            do {
                let data = try JSONEncoder().encode(fields)
                let jwk = try JSONDecoder().decode(JWK.self, from: data)
                let verifier = try await JWTKeyCollection().add(jwk: jwk, isDefault: true)
                return Key(id: id, algorithm: algorithm, verifier: verifier)
            } catch {
                throw TokenError("\(place) cannot be read")
            }
        }

        private static func algorithm(_ entry: ClaimValue) -> TokenAlgorithm? {
            let named = entry["alg"]?.text
            switch (entry["kty"]?.text, entry["crv"]?.text) {
            case ("RSA", _) where named ?? "RS256" == "RS256": return .rs256
            case ("EC", "P-256") where named ?? "ES256" == "ES256": return .es256
            default: return nil
            }
        }
    }
#endif
