import MartletSQLite
import MartletValues

/// The right side of `IN`. Up to `limit` values are bound one by one. More values are bound as one list for each type,
/// because SQLite limits the number of parameters. The lists are JSON arrays, except the list of reals.
struct ValueSet {
    private var integers: [Int64] = []
    /// In a JSON array, a text or blob is represented by the hexadecimal digits of its bytes. The SQL compares these
    /// digits.
    private var texts: [String] = []
    private var blobs: [[UInt8]] = []
    private var reals: [Double] = []

    static let limit = 256

    init(_ values: [SQLValue]) {
        for value in values {
            switch value {
            case .null: break
            case .integer(let number): integers.append(number)
            // No value equals NaN, so NaN is omitted.
            case .real(let number): if !number.isNaN { reals.append(number) }
            case .text(let text): texts.append(text)
            case .blob(let bytes): blobs.append(bytes)
            }
        }
    }

    /// SQL conditions on the left operand of `IN`. `IN` is true if at least one of these conditions is true.
    func conditions(_ operand: String, _ compiler: inout QueryCompiler) -> [String] {
        let isSmall = integers.count + texts.count + blobs.count + reals.count <= Self.limit
        var single: [SQLValue] = []
        var conditions: [String] = []
        if isSmall {
            single += integers.map(SQLValue.integer) + texts.map(SQLValue.text) + blobs.map(SQLValue.blob)
            single += reals.map(SQLValue.real)
        } else {
            // Reals are encoded like the elements of a chunk, because JSON cannot represent infinity.
            if !reals.isEmpty {
                let list = compiler.bind(.blob(ElementCodec.encode(reals.map(SQLValue.real))))
                let count = compiler.bind(.integer(Int64(reals.count)))
                conditions.append("\(operand) IN (SELECT v FROM martlet_elements(\(list), \(count), 0))")
            }
            if !integers.isEmpty {
                let list = compiler.bind(.text("[\(integers.map(String.init).joined(separator: ","))]"))
                conditions.append("\(operand) IN (SELECT value FROM json_each(\(list)))")
            }
            conditions += hexadecimal(operand, "text", texts.map { Array($0.utf8) }, &compiler)
            conditions += hexadecimal(operand, "blob", blobs, &compiler)
        }
        if !single.isEmpty {
            let marks = single.map { compiler.bind($0) }
            conditions.append("\(operand) IN (\(marks.joined(separator: ", ")))")
        }
        return conditions
    }

    private func hexadecimal(
        _ operand: String, _ type: String, _ values: [[UInt8]], _ compiler: inout QueryCompiler
    ) -> [String] {
        guard !values.isEmpty else { return [] }
        let digits = Array("0123456789ABCDEF".utf8)
        var json: [UInt8] = Array("[".utf8)
        for (offset, bytes) in values.enumerated() {
            if offset > 0 { json.append(UInt8(ascii: ",")) }
            json.append(UInt8(ascii: "\""))
            for byte in bytes { json += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
            json.append(UInt8(ascii: "\""))
        }
        json.append(UInt8(ascii: "]"))
        let list = compiler.bind(.text(String(decoding: json, as: UTF8.self)))
        return ["(typeof(\(operand)) = '\(type)' AND hex(\(operand)) IN (SELECT value FROM json_each(\(list))))"]
    }
}
