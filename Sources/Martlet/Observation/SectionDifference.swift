import Foundation
import MartletEngine

/// The difference between two states of sections.
///
/// A section that changes its position relative to other sections is reported as a deletion and an insertion. All other
/// sections that exist in both states remain, and keep their relative order. Elements are compared within each
/// remaining section whose elements changed.
struct SectionDifference<Key: Hashable> {
    /// The old positions of deleted elements.
    private(set) var deletions: [IndexPath] = []
    /// The new positions of inserted elements.
    private(set) var insertions: [IndexPath] = []
    /// The old positions of modified elements.
    private(set) var modifications: [IndexPath] = []
    private(set) var sectionsToInsert = IndexSet()
    private(set) var sectionsToDelete = IndexSet()

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
            && sectionsToDelete.isEmpty
    }

    // Elements that were modified, and elements that replaced other elements with the same object keys.
    private let modified: KeySet
    private let replaced: KeySet

    /// The difference between all sections.
    ///
    /// - Parameters:
    ///   - modified: elements whose modification is reported.
    ///   - replaced: elements that differ from the previous elements with the same keys.
    ///   - touched: the old positions of the sections whose elements may differ; nil if this is unknown.
    init(
        _ old: Sections<Key>, _ new: Sections<Key>, modified: KeySet = KeySet(), replaced: KeySet = KeySet(),
        touched: Set<Int>? = nil
    ) {
        (self.modified, self.replaced) = (modified, replaced)
        let survivors = new.keys.indices.compactMap { newSection in
            old.positions[new.keys[newSection]].map { (old: $0, new: newSection) }
        }
        let isStaying = IncreasingSubsequence.longest(of: survivors.map(\.old))
        let staying = zip(survivors, isStaying).filter(\.1).map(\.0)
        sectionsToDelete = IndexSet(old.keys.indices).subtracting(IndexSet(staying.map(\.old)))
        sectionsToInsert = IndexSet(new.keys.indices).subtracting(IndexSet(staying.map(\.new)))
        let differing = touched == nil ? differing(new) : []
        var oldPositions: [Int: Int] = [:]
        for section in staying { oldPositions[section.new] = section.old }
        for newSection in new.keys.indices {
            if let oldSection = oldPositions[newSection] {
                let mayDiffer =
                    touched?.contains(oldSection)
                    ?? (old.members[oldSection] != new.members[newSection] || differing.contains(newSection))
                if mayDiffer { compare(old, oldSection, new, newSection) }
            } else {
                insertions += (0..<new.members[newSection].count).map { [newSection, $0] }
            }
        }
    }

    /// The difference of the section with the given key, regardless of its position among the sections.
    init(
        _ key: Key, _ old: Sections<Key>, _ new: Sections<Key>, modified: KeySet = KeySet(),
        replaced: KeySet = KeySet(), touched: Set<Int>? = nil
    ) {
        (self.modified, self.replaced) = (modified, replaced)
        switch (old.positions[key], new.positions[key]) {
        case (nil, nil): break
        case (let oldSection?, nil): sectionsToDelete = [oldSection]
        case (nil, let newSection?):
            sectionsToInsert = [newSection]
            insertions = (0..<new.members[newSection].count).map { [newSection, $0] }
        case (let oldSection?, let newSection?):
            if touched?.contains(oldSection) ?? true { compare(old, oldSection, new, newSection) }
        }
    }

    /// The positions of the sections with modified or replaced elements.
    private func differing(_ new: Sections<Key>) -> Set<Int> {
        let marked = modified.union(replaced)
        if marked.isEmpty { return [] }
        return Set(new.members.indices.filter { new.members[$0].contains { marked.contains($0) } })
    }

    private mutating func compare(_ old: Sections<Key>, _ oldSection: Int, _ new: Sections<Key>, _ newSection: Int) {
        let rows = CollectionDiff.change(
            from: old.members[oldSection], to: new.members[newSection], modified: modified, replaced: replaced)
        #if MARTLET_SEEDED_BUGS
            let oldSection = SeededBug.isOn(.sectionOfDeletions) ? newSection : oldSection
        #endif
        deletions += rows.deletions.map { [oldSection, $0] }
        insertions += rows.insertions.map { [newSection, $0] }
        modifications += rows.modifications.map { [oldSection, $0] }
    }
}
