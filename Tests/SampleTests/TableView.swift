import Foundation
import Testing

/// What a screen's table does with batch updates, without a screen: it keeps the text of every row it shows, asks for no
/// row that nobody told it of, and fails on every update that does not fit its data, as the real one does.
final class TableView {
    enum RowAnimation { case automatic }

    weak var controller: (any TableViewSource)?
    /// The rows as they stand on the screen.
    private(set) var shown: [String] = []
    private(set) var reloads = 0
    private var depth = 0
    private var deletions: [Int] = []
    private var insertions: [Int] = []
    private var modifications: [Int] = []

    func reloadData() {
        reloads += 1
        guard let controller else { return }
        shown = (0..<controller.numberOfRows).map { controller.text(ofRow: $0) }
    }

    func beginUpdates() { depth += 1 }

    func endUpdates() {
        depth -= 1
        if depth == 0 { apply() }
    }

    func performBatchUpdates(_ updates: () -> Void, completion: (Bool) -> Void) {
        beginUpdates()
        updates()
        endUpdates()
        completion(true)
    }

    func deleteRows(at paths: [IndexPath], with animation: RowAnimation) {
        update { $0.deletions += paths.map(\.row) }
    }

    func insertRows(at paths: [IndexPath], with animation: RowAnimation) {
        update { $0.insertions += paths.map(\.row) }
    }

    func reloadRows(at paths: [IndexPath], with animation: RowAnimation) {
        update { $0.modifications += paths.map(\.row) }
    }

    private func update(_ body: (TableView) -> Void) {
        beginUpdates()
        body(self)
        endUpdates()
    }

    private func apply() {
        guard let controller else { return }
        let rows = controller.numberOfRows
        defer { (deletions, insertions, modifications) = ([], [], []) }
        let old = 0..<shown.count
        #expect(
            Set(deletions).count == deletions.count && deletions.allSatisfy(old.contains), "rows that are not there")
        #expect(Set(modifications).isDisjoint(with: deletions) && modifications.allSatisfy(old.contains))
        #expect(Set(insertions).count == insertions.count && insertions.allSatisfy((0..<rows).contains))
        // The sentence that everybody who ever updated a table knows.
        #expect(
            shown.count - deletions.count + insertions.count == rows,
            "the number of rows after the update must be that before it, less those deleted, plus those inserted")
        guard shown.count - deletions.count + insertions.count == rows else { return }
        var texts: [String?] = shown
        for row in modifications { texts[row] = nil }
        for row in deletions.sorted(by: >) { texts.remove(at: row) }
        for row in insertions.sorted() { texts.insert(nil, at: row) }
        // Only new and reloaded rows are asked for: a change that nobody told of stays on the screen as it was.
        shown = texts.enumerated().map { $1 ?? controller.text(ofRow: $0) }
    }
}

/// Where a table takes its rows from.
protocol TableViewSource: AnyObject {
    var numberOfRows: Int { get }
    func text(ofRow row: Int) -> String
}

extension IndexPath {
    init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    var row: Int { self[1] }
}
