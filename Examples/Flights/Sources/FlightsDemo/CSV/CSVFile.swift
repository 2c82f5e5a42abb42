import Foundation

/// Reads a CSV file row by row, in the format of RFC 4180. Fields can have quotes and contain doubled quotes. Lines end
/// with LF or CRLF. A byte-order mark at the beginning of the file is skipped.
///
/// The reader throws an error if a row and the header have different numbers of fields, if text precedes or follows a
/// quoted field, or if a quote is not closed.
struct CSVFile {
    let name: String
    /// The size of the file in bytes.
    var byteCount: Int { bytes.count }
    /// The number of bytes that have been read.
    private(set) var position = 0

    private let bytes: Data
    private let header: [String]
    private var line = 1
    private var fields: [CSVField] = []

    init(folder: URL, name: String) throws {
        let url = folder.appendingPathComponent(name)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CSVError(
                file: folder.path, line: nil, message: "there is no such folder: name the folder of \(name)")
        }
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CSVError(file: url.path, line: nil, message: "there is no such file")
        }
        do {
            bytes = try Data(contentsOf: url, options: .mappedIfSafe)
        } catch {
            throw CSVError(file: url.path, line: nil, message: "cannot be read: \(error.localizedDescription)")
        }
        self.name = name
        header = try Self.header(of: bytes, in: name)
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        _ = try readFields()
    }

    private static func header(of bytes: Data, in name: String) throws -> [String] {
        var scanner = CSVScanner(start: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        var fields: [CSVField] = []
        if let problem = bytes.withUnsafeBytes({ scanner.scanRow($0, into: &fields) }) {
            throw CSVError(file: name, line: 1, message: problem)
        }
        let header = bytes.withUnsafeBytes { bytes in fields.map { $0.text(in: bytes) } }
        guard header != [""], !header.isEmpty else {
            throw CSVError(file: name, line: nil, message: "is empty: expected a header and rows")
        }
        return header
    }

    /// Returns the column with the given name. The header can contain the columns in any order.
    func column(_ name: String) throws -> CSVColumn {
        guard let index = header.firstIndex(of: name) else {
            throw CSVError(
                file: self.name, line: 1,
                message: "no column '\(name)': the header begins with \(header.prefix(4).joined(separator: ", "))")
        }
        return CSVColumn(index: index, name: name)
    }

    /// Returns the next row; nil at the end of the file.
    mutating func next() throws -> CSVRow? {
        let first = line
        guard try readFields() else { return nil }
        guard fields.count == header.count else {
            throw CSVError(
                file: name, line: first, message: "expected \(header.count) fields, found \(fields.count)")
        }
        return CSVRow(file: name, line: first, bytes: bytes, fields: fields)
    }

    private mutating func readFields() throws -> Bool {
        guard position < bytes.count else { return false }
        var scanner = CSVScanner(start: position)
        fields.removeAll(keepingCapacity: true)
        if let problem = bytes.withUnsafeBytes({ scanner.scanRow($0, into: &fields) }) {
            throw CSVError(file: name, line: line, message: problem)
        }
        position = scanner.position
        line += scanner.lines
        return true
    }
}

/// A column of a file.
struct CSVColumn {
    let index: Int
    let name: String
}
