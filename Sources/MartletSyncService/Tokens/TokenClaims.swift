#if Sync
    import Foundation

    /// The reason why a token or a key is not accepted. The text contains no part of the token.
    package struct TokenError: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The requirements for the claims of a token.
    package struct TokenRequirements: Sendable {
        /// The required value of `iss`; nil if every value is accepted.
        package var issuer: String?
        /// The value that `aud` must contain; nil if every value is accepted.
        package var audience: String?
        /// The claim that identifies the user.
        package var userClaim = "sub"
        /// The number of seconds by which the clock of the server that issues tokens may be ahead of the clock of the
        /// service.
        package var toleranceSeconds = 30.0

        package init() {}
    }

    /// The content of a token with a verified signature.
    struct TokenClaims {
        private static let maximumUserBytes = 256

        private let claims: ClaimValue

        init(_ payload: [UInt8]) throws(TokenError) {
            guard let claims = ClaimValue(bytes: payload), claims.isObject else {
                throw TokenError("the token has no JSON object")
            }
            // PostgreSQL, which evaluates rules, refuses texts with NUL.
            guard !claims.containsNUL else { throw TokenError("a claim of the token contains the character NUL") }
            self.claims = claims
        }

        /// The user of the token.
        ///
        /// - Parameter now: seconds since 1970.
        func user(_ requirements: TokenRequirements, now: Double) throws(TokenError) -> AuthenticatedUser {
            guard let expiration = claims["exp"]?.number else {
                throw TokenError("the token has no expiration ('exp')")
            }
            guard expiration > now else { throw TokenError("the token has expired") }
            if claims["nbf"] != nil {
                guard let start = claims["nbf"]?.number, start <= now + requirements.toleranceSeconds else {
                    throw TokenError("the token is not valid yet ('nbf')")
                }
            }
            if let issuer = requirements.issuer, claims["iss"]?.text != issuer {
                throw TokenError("the token has another issuer than the service expects ('iss')")
            }
            if let audience = requirements.audience, !audiences.contains(audience) {
                throw TokenError("the token is for another audience than the service expects ('aud')")
            }
            guard let id = claims[requirements.userClaim]?.text, !id.isEmpty,
                id.utf8.count <= Self.maximumUserBytes
            else { throw TokenError("the token does not name its user ('\(requirements.userClaim)')") }
            // A token can contain a claim twice. The claims are encoded again without duplicates, so that PostgreSQL
            // reads the same value as this code.
            guard let json = claims.encoded else { throw TokenError("the token has no JSON object") }
            return AuthenticatedUser(id: id, claims: json, expiration: UInt64(min(expiration, 1e12) * 1_000))
        }

        private var audiences: [String] {
            claims["aud"]?.list?.compactMap(\.text) ?? [claims["aud"]?.text].compactMap { $0 }
        }
    }

    /// Decodes the parts of a token.
    enum TokenText {
        /// Decodes a text in Base64 with the alphabet for URLs and without padding. Returns nil for other texts.
        static func bytes(base64URL text: Substring) -> [UInt8]? {
            guard
                text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
            else { return nil }
            var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
            base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            return Data(base64Encoded: base64).map { Array($0) }
        }
    }
#endif
