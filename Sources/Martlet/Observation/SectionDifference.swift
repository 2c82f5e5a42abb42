import Foundation
import MartletEngine

/// The difference between two states of sections.
///
/// Sections that remain keep their order. A section that changes its position among them is deleted and inserted.
/// Elements are compared within each remaining section whose elements changed.
struct SectionDifference<Key: Hashable> {
    /// Old positions.
    private(set) var deletions: [IndexPath] = []
    /// New positions.
    private(set) var insertions: [IndexPath] = []
    /// Old positions.
    private(set) var modifications: [IndexPath] = []
    private(set) var sectionsToInsert = IndexSet()
    private(set) var sectionsToDelete = IndexSet()

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToInsert.isEmpty
            && sectionsToDelete.isEmpty
    }

    // Elements that were modified, and elements that replaced other ones under the same keys.
    private let modified: KeySet
    private let replaced: KeySet

    /// The difference between all sections.
    ///
    /// - Parameters:
    ///   - modified: elements whose modification is reported.
    ///   - replaced: elements that differ from the previous elements with the same keys.
    init(
        _ old: Sections<Key>, _ new: Sections<Key>, modified: KeySet = KeySet(), replaced: KeySet = KeySet()
    ) {
        (self.modified, self.replaced) = (modified, replaced)
        let survivors = new.keys.indices.compactMap { now in old.positions[new.keys[now]].map { (old: $0, new: now) } }
        let stays = IncreasingSubsequence.longest(of: survivors.map(\.old))
        let staying = zip(survivors, stays).filter(\.1).map(\.0)
        sectionsToDelete = IndexSet(old.keys.indices).subtracting(IndexSet(staying.map(\.old)))
        sectionsToInsert = IndexSet(new.keys.indices).subtracting(IndexSet(staying.map(\.new)))
        let differing = differing(new)
        var staysAt: [Int: Int] = [:]
        for section in staying { staysAt[section.new] = section.old }
        for now in new.keys.indices {
            if let before = staysAt[now] {
                if old.members[before] != new.members[now] || differing.contains(now) {
                    compare(old, before, new, now)
                }
            } else {
                insertions += new.members[now].indices.map { [now, $0] }
            }
        }
    }

    /// The difference of the section with one key, regardless of its position among the sections.
    init(
        _ key: Key, _ old: Sections<Key>, _ new: Sections<Key>, modified: KeySet = KeySet(), replaced: KeySet = KeySet()
    ) {
        (self.modified, self.replaced) = (modified, replaced)
        switch (old.positions[key], new.positions[key]) {
        case (nil, nil): break
        case (let before?, nil): sectionsToDelete = [before]
        case (nil, let now?):
            sectionsToInsert = [now]
            insertions = new.members[now].indices.map { [now, $0] }
        case (let before?, let now?): compare(old, before, new, now)
        }
    }

    /// The positions of the sections with modified or replaced elements.
    private func differing(_ new: Sections<Key>) -> Set<Int> {
        let marked = modified.union(replaced)
        if marked.isEmpty { return [] }
        return Set(new.members.indices.filter { new.members[$0].contains { marked.contains($0) } })
    }

    private mutating func compare(_ old: Sections<Key>, _ before: Int, _ new: Sections<Key>, _ now: Int) {
        let rows = CollectionDiff.change(
            from: KeySequence(old.members[before]), to: KeySequence(new.members[now]), modified: modified,
            replaced: replaced)
        #if MARTLET_SEEDED_BUGS
            let before = SeededBug.isOn(.sectionOfDeletions) ? now : before
        #endif
        deletions += rows.deletions.map { [before, $0] }
        insertions += rows.insertions.map { [now, $0] }
        modifications += rows.modifications.map { [before, $0] }
    }
}
