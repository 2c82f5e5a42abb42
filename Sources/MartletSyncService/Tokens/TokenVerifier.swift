#if Sync
    import Foundation
    import JWTKit

    /// Finds the users of signed tokens (JSON Web Tokens).
    ///
    /// A token must have a valid signature by one of the configured keys, with the algorithm of this key. The header of
    /// the token only selects the key.
    package struct TokenVerifier: Sendable {
        private static let maximumBytes = 16 << 10

        private let keys: TokenKeys
        private let requirements: TokenRequirements
        private let now: @Sendable () -> Double

        /// - Parameters:
        ///   - secret: the key of HS256, at least 32 bytes.
        ///   - keySet: the path of a JSON Web Key Set with public keys for RS256 and ES256. The file is read again when
        ///     it has changed.
        ///   - log: called if the file has changed and cannot be used.
        ///   - now: seconds since 1970.
        /// - Throws: `TokenError` if there is no key, or a key cannot be used.
        package init(
            secret: [UInt8]?, keySet: String?, _ requirements: TokenRequirements = TokenRequirements(),
            log: @escaping @Sendable (String) -> Void = { _ in },
            now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
        ) async throws(TokenError) {
            keys = try await TokenKeys(secret: secret, path: keySet, log: log)
            self.requirements = requirements
            self.now = now
        }

        /// The user of a token.
        ///
        /// - Throws: `TokenError`. Its text contains no part of the token.
        package func user(of token: String) async throws(TokenError) -> AuthenticatedUser {
            guard token.utf8.count <= Self.maximumBytes else {
                throw TokenError("the token has more than \(Self.maximumBytes) bytes")
            }
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let header = TokenText.bytes(base64URL: parts[0]).flatMap(ClaimValue.init(bytes:)),
                let payload = TokenText.bytes(base64URL: parts[1]), !parts[2].isEmpty
            else { throw TokenError("the token is not a JSON Web Token with a signature") }
            // `crit` names extensions that the verifier must support. This code supports none.
            guard header["crit"] == nil else { throw TokenError("the token needs an extension ('crit')") }
            let accepted = keys.algorithms
            guard let algorithm = (header["alg"]?.text).flatMap(TokenAlgorithm.init), accepted.contains(algorithm)
            else {
                let names = accepted.map(\.rawValue).joined(separator: ", ")
                throw TokenError("the token has another algorithm than the service accepts (\(names))")
            }
            let candidates = await keys.keys(algorithm, id: header["kid"]?.text)
            guard !candidates.isEmpty else { throw TokenError("the token was signed with an unknown key ('kid')") }
            guard await Self.isSigned(token, candidates) else {
                throw TokenError("the signature of the token is wrong")
            }
            return try TokenClaims(payload).user(requirements, now: now())
        }

        /// The library verifies only the signature. `TokenClaims` checks the content.
        private struct UncheckedClaims: JWTPayload {
            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }

        private static func isSigned(_ token: String, _ keys: [TokenKeys.Key]) async -> Bool {
            for key in keys where (try? await key.verifier.verify(token, as: UncheckedClaims.self)) != nil {
                return true
            }
            return false
        }
    }
#endif
