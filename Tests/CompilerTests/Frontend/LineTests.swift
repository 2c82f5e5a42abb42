import MartletSchema
import Testing

@testable import MartletFrontend

@Suite("lines of a schema")
struct LineTests {
    @Test(
        "the content of a line ends before a comment; a '#' begins a comment only at the start or after a blank",
        arguments: [
            ("  a: b # c", "a: b"), ("a: b#c", "a: b#c"), ("# a", ""), ("\t# a", ""), ("a\t#b", "a"),
            ("a: '# b' # c", "a: '# b'"), ("a: \"\\\" # b\" # c", "a: \"\\\" # b\""), ("a  ", "a"), ("", ""),
        ])
    func content(_ line: String, _ content: String) {
        let lines = TextLines(Array("x\n\(line)\ny".utf8))
        #expect(String(decoding: lines.bytes[lines.content(1)], as: UTF8.self) == content)
        #expect(lines.isBlankOrComment(1) == content.isEmpty)
    }

    @Test("each Unicode space is recognized, and no other character")
    func spaces() throws {
        let spaces = Set([0xA0, 0x1680, 0x202F, 0x205F, 0x3000] + Array(0x2000...0x200A as ClosedRange<UInt32>))
        for value in 0x80...0xFFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let bytes = Array(String(Character(scalar)).utf8)
            #expect((UnicodeSpace(bytes, at: 0) != nil) == spaces.contains(value), "U+\(String(value, radix: 16))")
        }
    }
}
