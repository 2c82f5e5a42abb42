import Foundation
import Testing

/// A table view without a screen. It keeps the text of every row, and reads a text again only when the row is inserted
/// or reloaded. Like a table view of UIKit, it fails if a batch update does not match the data source.
final class TableView {
    enum RowAnimation { case automatic }

    weak var dataSource: (any TableViewSource)?
    /// The texts of the rows.
    private(set) var shown: [String] = []
    private(set) var reloads = 0
    private var depth = 0
    private var deletions: [Int] = []
    private var insertions: [Int] = []
    private var modifications: [Int] = []

    func reloadData() {
        reloads += 1
        guard let dataSource else { return }
        shown = (0..<dataSource.numberOfRows).map { dataSource.text(ofRow: $0) }
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
        guard let dataSource else { return }
        let rows = dataSource.numberOfRows
        defer { (deletions, insertions, modifications) = ([], [], []) }
        let old = 0..<shown.count
        #expect(
            Set(deletions).count == deletions.count && deletions.allSatisfy(old.contains), "invalid deleted rows")
        #expect(Set(modifications).isDisjoint(with: deletions) && modifications.allSatisfy(old.contains))
        #expect(Set(insertions).count == insertions.count && insertions.allSatisfy((0..<rows).contains))
        // UIKit raises an exception if the number of rows does not match the update.
        #expect(
            shown.count - deletions.count + insertions.count == rows,
            "the number of rows must change by the inserted rows minus the deleted rows")
        guard shown.count - deletions.count + insertions.count == rows else { return }
        var texts: [String?] = shown
        for row in modifications { texts[row] = nil }
        for row in deletions.sorted(by: >) { texts.remove(at: row) }
        for row in insertions.sorted() { texts.insert(nil, at: row) }
        // Only inserted and reloaded rows are read. If a change is not reported, its row keeps the old text.
        shown = texts.enumerated().map { $1 ?? dataSource.text(ofRow: $0) }
    }
}

/// The data source of a table view.
protocol TableViewSource: AnyObject {
    var numberOfRows: Int { get }
    func text(ofRow row: Int) -> String
}

extension IndexPath {
    init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    var row: Int { self[1] }
}
