import CWorkload

/// The rows of a CSV file. The C code in `CWorkload` splits the rows into fields. All compared programs use this code,
/// so splitting takes the same time in each of them.
public struct CSVRows: ~Copyable {
    private var csv: workload_csv
    private var fields: [workload_field]

    public init(folder: String, name: String, columns: Int) {
        csv = workload_csv_open(folder, name)
        fields = Array(repeating: workload_field(), count: columns)
    }

    deinit {
        var csv = csv
        workload_csv_close(&csv)
    }

    /// Advances to the next row. Returns false at the end of the file.
    public mutating func next() -> Bool {
        workload_csv_next(&csv, &fields, Int32(fields.count))
    }

    public func string(_ column: Int) -> String {
        let field = fields[column]
        return String(
            decoding: UnsafeRawBufferPointer(start: field.text, count: Int(field.length)), as: UTF8.self)
    }

    public func optionalString(_ column: Int) -> String? {
        workload_field_is_missing(fields[column]) ? nil : string(column)
    }

    public func int(_ column: Int) -> Int { Int(workload_field_integer(fields[column])) }

    public func optionalInt(_ column: Int) -> Int? {
        workload_field_is_missing(fields[column]) ? nil : int(column)
    }

    public func double(_ column: Int) -> Double { workload_field_double(fields[column]) }

    public func optionalDouble(_ column: Int) -> Double? {
        workload_field_is_missing(fields[column]) ? nil : double(column)
    }

    /// Returns the time in a column as seconds since 1970.
    public func seconds(_ column: Int) -> Int { Int(workload_field_seconds(fields[column])) }
}
