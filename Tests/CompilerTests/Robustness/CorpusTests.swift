import CompilerInvariants
import Foundation
import ModelTesting
import Testing

/// Checks the invariants that the fuzzer checks, for every file of its corpus and for 100 random mutations of these
/// files. `make fuzz-schema` checks more inputs. Each input for which it finds a violation is added to the corpus.
@Suite("Fuzzer corpus")
struct CorpusTests {
    private static let folder = Repository.root.appending(path: "Tests/SchemaFuzzer/Corpus")
    private static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()

    private static func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    @Test("every invariant holds for every file of the corpus S10 S11 S13 S42", arguments: names)
    func corpus(_ name: String) throws {
        #expect(SchemaInvariants.violations(of: try Self.bytes(of: name)) == [])
    }

    @Test("every invariant holds for 100 random mutations S10 S11 S13 S42")
    func mutations() throws {
        let texts = try Self.names.map(Self.bytes).filter { !$0.isEmpty && $0.count < 1500 }
        try #require(texts.count > 20)
        var random = SeededRandom(seed: 10)
        for run in 0..<100 {
            let bytes = mutated(texts, using: &random)
            let violations = SchemaInvariants.violations(of: bytes)
            if !violations.isEmpty {
                Issue.record("run \(run): \(violations.prefix(3)) in\n\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    /// Returns one of the texts with one to five random changes. A change inserts a special character of YAML or a part
    /// of another text, replaces a byte, or removes up to eight bytes.
    private func mutated(_ texts: [[UInt8]], using random: inout SeededRandom) -> [UInt8] {
        let signs = Array(" \n\n\t:?-[]{}<>\"'#&*!|=,.@%\\\r".utf8) + [0x00, 0x80, 0xC3, 0xFF]
        var bytes = texts[Int.random(in: 0..<texts.count, using: &random)]
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.insert(signs[Int.random(in: 0..<signs.count, using: &random)], at: place)
            case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
            case 2 where place < bytes.count: bytes[place] = signs[Int.random(in: 0..<signs.count, using: &random)]
            default:
                let other = texts[Int.random(in: 0..<texts.count, using: &random)]
                let start = Int.random(in: 0..<other.count, using: &random)
                let end = min(other.count, start + Int.random(in: 1...60, using: &random))
                bytes.insert(contentsOf: other[start..<end], at: place)
            }
        }
        return bytes
    }
}
