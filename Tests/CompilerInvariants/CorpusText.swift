import MartletCompiler
import MartletSchema

/// The format of corpus files. As in the fixtures of CompilerTests, a line `#~ file <name>` begins a file of the
/// schema, and `#~ file martlet.yaml` begins the configuration.
public enum CorpusText {
    static let configurationPath = "martlet.yaml"
    private static let mark = Array("#~ file ".utf8)
    /// With more files per input, the fuzzer becomes slower and finds nothing new.
    private static let maximumFiles = 8

    static func input(of bytes: [UInt8]) -> SchemaInput {
        var input = SchemaInput(sources: [])
        for (index, part) in parts(of: bytes).enumerated() {
            let path = part.path == configurationPath ? part.path : "\(index)-\(part.path)"
            let source = SourceText(
                file: SourceFileID(index), relativePath: path, displayPath: path, bytes: Array(part.bytes))
            if path == configurationPath {
                input.configuration = source
            } else {
                input.sources.append(source)
            }
        }
        return input
    }

    private static func parts(of bytes: [UInt8]) -> [(path: String, bytes: ArraySlice<UInt8>)] {
        var parts: [(path: String, bytes: ArraySlice<UInt8>)] = []
        var path = "A.yaml"
        var start = 0
        var line = 0
        while line < bytes.count {
            let next = (bytes[line...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count - 1) + 1
            if bytes[line..<next].starts(with: mark), parts.count < maximumFiles - 1 {
                if line > start || !parts.isEmpty { parts.append((path, bytes[start..<line])) }
                path = name(bytes[(line + mark.count)..<next])
                start = next
            }
            line = next
        }
        parts.append((path, bytes[start...]))
        let configurations = parts.indices.filter { parts[$0].path == configurationPath }
        for index in configurations.dropFirst() { parts[index].path = "A.yaml" }
        return parts
    }

    /// Returns the name without all characters except ASCII letters, ASCII digits and `-_./`. The fuzzer tests the
    /// contents of schema files, not their paths.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String {
        let name = String(decoding: bytes, as: UTF8.self).filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-_./".contains($0))
        }
        return name.isEmpty ? "A.yaml" : name
    }
}
