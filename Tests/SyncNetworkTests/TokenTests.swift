#if Sync
    import Crypto
    import CryptoExtras
    import Foundation
    import MartletSyncService
    import Synchronization
    import Testing

    /// Creates tokens, including invalid ones.
    private struct TokenMaker {
        static func base64(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }

        static func token(_ header: String, _ payload: String, _ sign: (Data) throws -> Data) rethrows -> String {
            let text = base64(header.utf8) + "." + base64(payload.utf8)
            return text + "." + base64(try sign(Data(text.utf8)))
        }

        static func hmac(_ secret: [UInt8]) -> (Data) -> Data {
            { Data(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: secret))) }
        }
    }

    @Suite("tokens")
    struct TokenTests {
        private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        private static let now = 1_000_000.0
        private static let header = #"{"alg":"HS256","typ":"JWT"}"#
        private static let payload = #"{"sub":"ada","exp":1000060,"roles":["editor"]}"#

        private func verifier(
            _ adjust: (inout TokenRequirements) -> Void = { _ in }
        ) async throws -> TokenVerifier {
            var requirements = TokenRequirements()
            adjust(&requirements)
            return try await TokenVerifier(secret: Self.secret, keySet: nil, requirements, now: { Self.now })
        }

        private func token(_ payload: String = payload, header: String = header) -> String {
            TokenMaker.token(header, payload, TokenMaker.hmac(Self.secret))
        }

        /// Returns the reason why a token is refused. Expects that the reason contains no part of the token.
        private func refusal(_ token: String, _ verifier: TokenVerifier) async throws -> String {
            let error = try #require(await #expect(throws: TokenError.self) { try await verifier.user(of: token) })
            for part in token.split(separator: ".") where part.count > 3 { #expect(!error.description.contains(part)) }
            #expect(!error.description.contains("ada"))
            return error.description
        }

        @Test("a token that is signed with the secret is accepted, and its user, claims and expiration are read")
        func accepted() async throws {
            let user = try await verifier().user(of: token())
            #expect(user.id == "ada" && user.expiration == 1_000_060_000)
            #expect(user.claims == #"{"exp":1000060,"roles":["editor"],"sub":"ada"}"#)
            let other = try await verifier { $0.userClaim = "name" }.user(of: token(#"{"name":"ben","exp":1000060}"#))
            #expect(other.id == "ben")
        }

        @Test(
            "a token with a wrong or incomplete payload is refused with a reason",
            arguments: [
                (#"{"sub":"ada"}"#, "no expiration"), (#"{"sub":"ada","exp":1000000}"#, "has expired"),
                (#"{"sub":"ada","exp":"1000060"}"#, "no expiration"), (#"{"sub":"ada","exp":true}"#, "no expiration"),
                (#"{"exp":1000060}"#, "does not name its user"), (#"{"sub":"","exp":1000060}"#, "does not name"),
                (#"{"sub":7,"exp":1000060}"#, "does not name its user"),
                (#"{"sub":"ada","exp":1000060,"nbf":1000031}"#, "not valid yet"),
                (#"{"sub":"ada","exp":1000060,"nbf":"x"}"#, "not valid yet"),
                (#"{"sub":"ada","exp":1000060,"a":["\u0000"]}"#, "character NUL"), ("[]", "no JSON object"),
            ])
        func contents(payload: String, reason: String) async throws {
            #expect(try await refusal(token(payload), verifier()).contains(reason))
        }

        @Test("a new token is accepted even if the clock of the service is half a minute behind")
        func tolerance() async throws {
            _ = try await verifier().user(of: token(#"{"sub":"ada","exp":1000060,"nbf":1000030}"#))
        }

        @Test("the issuer and the audience are checked if they are configured")
        func issuer() async throws {
            let verifier = try await verifier {
                $0.issuer = "https://issuer"
                $0.audience = "app"
            }
            func token(_ issuer: String, _ audience: String) -> String {
                self.token(#"{"sub":"ada","exp":1000060,"iss":"\#(issuer)","aud":\#(audience)}"#)
            }
            _ = try await verifier.user(of: token("https://issuer", #""app""#))
            _ = try await verifier.user(of: token("https://issuer", #"["other","app"]"#))
            #expect(try await refusal(token("https://other", #""app""#), verifier).contains("another issuer"))
            #expect(try await refusal(token("https://issuer", #"["other"]"#), verifier).contains("another audience"))
            #expect(try await refusal(self.token(), verifier).contains("another issuer"))
        }

        @Test("forged and damaged tokens are refused")
        func forged() async throws {
            let verifier = try await verifier()
            let valid = token()
            let parts = valid.split(separator: ".")
            let other = TokenMaker.base64(#"{"sub":"eve","exp":1000060}"#.utf8)
            #expect(try await refusal("\(parts[0]).\(other).\(parts[2])", verifier).contains("signature"))
            #expect(try await refusal("\(parts[0]).\(parts[1]).", verifier).contains("not a JSON Web Token"))
            let wrong = TokenMaker.token(Self.header, Self.payload, TokenMaker.hmac(Array(repeating: 1, count: 32)))
            #expect(try await refusal(wrong, verifier).contains("signature"))
            for algorithm in ["none", "None", "HS512", "RS256", "ES256", ""] {
                let token = token(header: #"{"alg":"\#(algorithm)"}"#)
                #expect(try await refusal(token, verifier).contains("algorithm"), "\(algorithm)")
            }
            #expect(
                try await refusal(token(header: #"{"alg":"HS256","crit":["b64"]}"#), verifier).contains("extension"))
            for text in ["", "a", "a.b.c", "..", String(repeating: "a", count: 20_000)] {
                _ = try await refusal(text, verifier)
            }
        }

        @Test("a verifier with a short secret and a verifier without keys are refused")
        func shortSecret() async throws {
            let error = await #expect(throws: TokenError.self) {
                try await TokenVerifier(secret: Array("secret".utf8), keySet: nil)
            }
            #expect(error?.description == "the secret for tokens has 6 bytes; use at least 32")
            await #expect(throws: TokenError.self) { try await TokenVerifier(secret: nil, keySet: nil) }
        }
    }

    /// A temporary file with a key set.
    private final class KeyFile: Sendable {
        let path = NSTemporaryDirectory() + "martlet-keys-\(UInt64.random(in: .min ... .max)).json"

        init(_ keys: [String]) throws { try write(keys) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// - Parameter secondsAgo: the age of the modification date. The verifier reads the file again if it has
        ///   another modification date than before.
        func write(_ keys: [String], secondsAgo: Double = 0) throws {
            try Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8).write(to: URL(filePath: path))
            let date = Date(timeIntervalSinceNow: -secondsAgo)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
    }

    @Suite("tokens that are signed with a key of a key set")
    struct KeySetTests {
        private let elliptic = P256.Signing.PrivateKey()
        private static let payload = #"{"sub":"ada","exp":4000000000}"#

        private func ellipticKey(_ key: P256.Signing.PrivateKey, _ id: String, _ more: String = "") -> String {
            let point = key.publicKey.rawRepresentation
            return #"{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(TokenMaker.base64(point.prefix(32)))","#
                + #""y":"\#(TokenMaker.base64(point.suffix(32)))"\#(more)}"#
        }

        private func rsaKey(_ key: _RSA.Signing.PrivateKey, _ id: String) throws -> String {
            let primitives = try key.publicKey.getKeyPrimitives()
            return #"{"kty":"RSA","use":"sig","kid":"\#(id)","n":"\#(TokenMaker.base64(primitives.modulus))","#
                + #""e":"\#(TokenMaker.base64(primitives.publicExponent))"}"#
        }

        private func token(_ key: P256.Signing.PrivateKey, _ header: String = #"{"alg":"ES256","kid":"a"}"#) throws
            -> String
        {
            try TokenMaker.token(header, Self.payload) { try key.signature(for: $0).rawRepresentation }
        }

        @Test("tokens with the algorithms ES256 and RS256 are accepted, with and without the id of the key")
        func algorithms() async throws {
            let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let file = try KeyFile([ellipticKey(elliptic, "a"), rsaKey(rsa, "b")])
            let verifier = try await TokenVerifier(secret: nil, keySet: file.path)
            for header in [#"{"alg":"ES256","kid":"a"}"#, #"{"alg":"ES256"}"#] {
                #expect(try await verifier.user(of: token(elliptic, header)).id == "ada")
            }
            for header in [#"{"alg":"RS256","kid":"b"}"#, #"{"alg":"RS256"}"#] {
                let token = try TokenMaker.token(header, Self.payload) { data in
                    try rsa.signature(for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5).rawRepresentation
                }
                #expect(try await verifier.user(of: token).id == "ada")
            }
            // The header contains the algorithm ES256 and the id of the RSA key.
            await #expect(throws: TokenError.self) {
                try await verifier.user(of: token(elliptic, #"{"alg":"ES256","kid":"b"}"#))
            }
        }

        @Test("a token with the algorithm HS256 is refused if its secret is a public key of the set")
        func algorithmConfusion() async throws {
            let file = try KeyFile([ellipticKey(elliptic, "a")])
            let publicKey = elliptic.publicKey
            for secret in [nil, Array("0123456789abcdef0123456789abcdef".utf8)] as [[UInt8]?] {
                let verifier = try await TokenVerifier(secret: secret, keySet: file.path)
                for bytes in [Array(publicKey.pemRepresentation.utf8), Array(publicKey.rawRepresentation)] {
                    let forged = TokenMaker.token(
                        #"{"alg":"HS256","kid":"a"}"#, Self.payload, TokenMaker.hmac(bytes))
                    await #expect(throws: TokenError.self) { try await verifier.user(of: forged) }
                }
            }
        }

        @Test(
            "keys that cannot verify tokens are ignored, and a key set without a usable key is refused")
        func otherKeys() async throws {
            let unusable = [
                ellipticKey(elliptic, "a", #","use":"enc""#), ellipticKey(elliptic, "a", #","alg":"ES384""#),
                #"{"kty":"oct","k":"AAAA","kid":"a"}"#, #"{"kty":"EC","crv":"P-384","x":"","y":""}"#,
            ]
            let file = try KeyFile(unusable)
            await #expect(throws: TokenError.self) { try await TokenVerifier(secret: nil, keySet: file.path) }
            let other = try KeyFile(unusable + [ellipticKey(elliptic, "c")])
            let verifier = try await TokenVerifier(secret: nil, keySet: other.path)
            await #expect(throws: TokenError.self) { try await verifier.user(of: token(elliptic)) }
            _ = try await verifier.user(of: token(elliptic, #"{"alg":"ES256","kid":"c"}"#))
            let weak = try KeyFile([#"{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"a"}"#])
            await #expect(throws: TokenError.self) { try await TokenVerifier(secret: nil, keySet: weak.path) }
        }

        @Test("a changed key file is read again; if it contains no usable keys, the previous keys stay valid")
        func reloading() async throws {
            let newer = P256.Signing.PrivateKey()
            let file = try KeyFile([ellipticKey(elliptic, "a")])
            let messages = Mutex<[String]>([])
            let verifier = try await TokenVerifier(
                secret: nil, keySet: file.path,
                log: { text in
                    messages.withLock { $0.append(text) }
                })
            await #expect(throws: TokenError.self) { try await verifier.user(of: token(newer)) }
            try file.write([ellipticKey(newer, "a")], secondsAgo: 100)
            _ = try await verifier.user(of: token(newer))
            await #expect(throws: TokenError.self) { try await verifier.user(of: token(elliptic)) }
            try file.write([], secondsAgo: 200)
            for _ in 0..<2 { _ = try await verifier.user(of: token(newer)) }
            #expect(messages.withLock { $0.count } == 1)
        }
    }
#endif
