import MartletSchema

/// Writes a JUnit report with one suite for each file. An error or a warning is a failed test, and a note is a passed
/// test.
struct JUnitReport: ReportWriter {
    func text(of report: Report) -> String {
        let findings = report.findings
        let byPath = Dictionary(grouping: findings, by: \.path)
        let suites = paths(report, findings).map { suite(of: $0, byPath[$0] ?? []) }
        let attributes = [
            ("name", "martlet"), ("tests", String(suites.reduce(0) { $0 + $1.children.count })),
            ("failures", String(findings.count(where: isFailure))), ("errors", "0"),
        ]
        return XMLTag("testsuites", attributes, children: suites).document
    }

    /// The paths of the files that were read, and the names of schemas that have findings without a location.
    private func paths(_ report: Report, _ findings: [LocatedFinding]) -> [String] {
        let read = report.paths
        var seen = Set(read)
        return read + findings.map(\.path).filter { seen.insert($0).inserted }
    }

    private func suite(of path: String, _ findings: [LocatedFinding]) -> XMLTag {
        // A file without findings gets one passed test, because programs that read JUnit reports ignore empty suites.
        let name = path.withVisibleBytes
        let clean = XMLTag("testcase", [("name", "no findings"), ("classname", name), ("file", name)])
        let cases = findings.isEmpty ? [clean] : findings.map(testCase)
        let attributes = [
            ("name", name), ("tests", String(cases.count)), ("failures", String(findings.count(where: isFailure))),
            ("errors", "0"), ("skipped", "0"),
        ]
        return XMLTag("testsuite", attributes, children: cases)
    }

    private func testCase(of finding: LocatedFinding) -> XMLTag {
        let path = finding.path.withVisibleBytes
        let location = finding.location.map { "\($0.start.line):\($0.start.column)" }
        var attributes = [
            ("name", finding.code + (location.map { " at " + $0 } ?? "")), ("classname", path), ("file", path),
        ]
        if let line = finding.location?.start.line { attributes.append(("line", String(line))) }
        let start = finding.path.printable + (location.map { ":" + $0 } ?? "")
        let head = "\(start): \(finding.severity.rawValue): \(finding.messageWithHelp)"
        let body = (["\(head) [\(finding.code)]"] + finding.noteLines).joined(separator: "\n")
        let outcome =
            isFailure(finding)
            ? XMLTag(
                "failure", [("type", finding.severity.rawValue), ("message", finding.messageWithHelp)], text: body)
            : XMLTag("system-out", text: body)
        return XMLTag("testcase", attributes, children: [outcome])
    }

    private func isFailure(_ finding: LocatedFinding) -> Bool { finding.severity > .note }
}
