import MartletCompiler
import MartletSchema

/// Holds a draft against the schema compiler, and renames or leaves out what it refuses.
struct DraftMender {
    /// The schema compiler refuses something that stands for nothing in Swift: a mistake of this tool.
    struct Fault: Error {
        let message: String
    }

    private(set) var draft: SchemaDraft
    private(set) var findings = FindingList()
    /// What had to be renamed, in the order in which that was found.
    private var renames: [Rename] = []

    private struct Rename {
        let item: DraftItem
        let reason: String
        /// The first is the one in Swift, or what stands for a nested type.
        var refused: [String]
    }

    init(_ draft: SchemaDraft) {
        self.draft = draft
    }

    mutating func mend() throws(Fault) {
        try mendAll()
        for rename in renames {
            guard let span = draft.span(of: rename.item) else { continue }
            let name = draft.names(around: rename.item).own
            findings.warn("\(rename.reason); it becomes '\(name)', so rename it in code that uses it", at: span)
        }
    }

    private mutating func mendAll() throws(Fault) {
        // Each round takes something away or tries another of a few names.
        while !draft.files.allSatisfy(\.isEmpty) {
            let writer = DraftWriter(draft)
            let texts = draft.files.map(writer.write)
            let sources = texts.enumerated().map { number, text in
                SourceText(file: SourceFileID(number), path: "\(number).yaml", text: text.text)
            }.filter { !$0.bytes.isEmpty }
            let options = CompilerOptions(isLinting: false)
            let errors = Compiler.lint(SchemaInput(sources: sources), options: options).diagnostics.filter(\.isError)
            if errors.isEmpty { return }
            var complaints: [Complaint] = []
            for error in errors {
                guard let span = error.span, let place = texts[span.file.index].item(at: span.start) else {
                    throw Fault(message: error.message)
                }
                guard !complaints.contains(where: { $0.item == place.item }) else { continue }
                let isNaming = [.reservedName, .duplicateType].contains(error.code) && place.isName
                complaints.append(Complaint(item: place.item, error: error, isOfName: isNaming && place.item.hasName))
            }
            mend(complaints)
        }
    }

    private struct Complaint {
        let item: DraftItem
        let error: Diagnostic
        let isOfName: Bool
    }

    /// Names first: what leads to them is mended with them.
    private mutating func mend(_ complaints: [Complaint]) {
        let misnamed = complaints.filter(\.isOfName)
        for complaint in misnamed.isEmpty ? complaints : misnamed {
            if complaint.isOfName, let name = anotherName(for: complaint) {
                draft.rename(complaint.item, to: name)
            } else {
                leaveOut(complaint.item, complaint.error)
            }
        }
    }

    // MARK: Renaming

    /// One of a few names that are made of the first; nil when none of them is free and right.
    private mutating func anotherName(for complaint: Complaint) -> String? {
        let item = complaint.item
        let (own, others) = draft.names(around: item)
        let position = renames.firstIndex { $0.item == item } ?? renames.count
        if position == renames.count {
            renames.append(Rename(item: item, reason: complaint.error.reason, refused: []))
        }
        renames[position].refused.append(own)
        let refused = renames[position].refused
        let taken = Set(others.map { $0.lowercased() })
        return candidates(for: item, refused[0]).first { candidate in
            !taken.contains(candidate.lowercased()) && !refused.contains(candidate)
                && candidate.first?.isASCIILetter == true
                && candidate.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == "_" }
        }
    }

    private func candidates(for item: DraftItem, _ own: String) -> [String] {
        let bare = String(own.drop { $0 == "_" })
        if case .type(let key) = item {
            let ending =
                draft.object(key) != nil ? "Object" : draft.enumeration(key) != nil ? "Kind" : "Projection"
            return [bare.capitalizedFirst, bare.capitalizedFirst + ending]
        }
        let owner = (draft.name(of: item.owner) ?? "").lowercasedFirst
        return [bare, owner + bare.capitalizedFirst, "own" + bare.capitalizedFirst]
    }

    // MARK: Leaving out

    private mutating func leaveOut(_ item: DraftItem, _ error: Diagnostic) {
        if let span = draft.span(of: item) {
            findings.warn("\(subject(of: item)) is left out: \(error.message)", at: span)
        }
        draft.remove(item)
    }

    private func subject(of item: DraftItem) -> String {
        switch item {
        case .type(let key): "'\(key)'"
        case .property(_, let name), .ignored(_, let name), .label(_, let name): "'\(name)'"
        case .enumCase(_, let name): "the case '\(name)'"
        case .primaryKey(let owner): "the primary key of '\(owner)'"
        case .index(_, let name): "the index of '\(name)'"
        }
    }
}

extension Diagnostic {
    /// What is wrong, without the mend, which is of the schema and not of the Swift.
    fileprivate var reason: String {
        message.split(separator: ";").dropLast().joined(separator: ";")
    }
}
