import MartletCompiler
import MartletSchema

/// Checks a draft with the schema compiler, and renames or omits the items that the compiler rejects.
struct DraftFixer {
    /// A bug of this tool: the schema compiler rejects text that does not come from a Swift declaration.
    struct InternalError: Error {
        let message: String
    }

    private(set) var draft: SchemaDraft
    private(set) var findings = FindingList()
    /// The items whose names the compiler has rejected, in the order of the first rejection.
    private var renames: [Rename] = []

    private struct Rename {
        let item: DraftItem
        let reason: String
        /// The rejected names. The first one is the name in Swift, or for a nested type the name from `TypeNames`.
        var rejected: [String]
    }

    init(_ draft: SchemaDraft) {
        self.draft = draft
    }

    mutating func fix() throws(InternalError) {
        try fixAll()
        for rename in renames {
            guard let span = draft.span(of: rename.item) else { continue }
            let name = draft.names(around: rename.item).own
            findings.warn("\(rename.reason); it becomes '\(name)', so rename it in code that uses it", at: span)
        }
    }

    private mutating func fixAll() throws(InternalError) {
        // The loop ends, because each round omits an item or tries the next of a few names.
        while !draft.files.allSatisfy(\.isEmpty) {
            let writer = DraftWriter(draft)
            let texts = draft.files.map(writer.write)
            let sources = texts.enumerated().map { number, text in
                SourceText(file: SourceFileID(number), path: "\(number).yaml", text: text.text)
            }.filter { !$0.bytes.isEmpty }
            let errors = Compiler.check(SchemaInput(sources: sources)).diagnostics.filter(\.isError)
            if errors.isEmpty { return }
            var rejections: [Rejection] = []
            for error in errors {
                guard let span = error.span, let place = texts[span.file.index].item(at: span.start) else {
                    throw InternalError(message: error.message)
                }
                guard !rejections.contains(where: { $0.item == place.item }) else { continue }
                let isNaming = [.reservedName, .duplicateType].contains(error.code) && place.isName
                rejections.append(
                    Rejection(item: place.item, error: error, isOfName: isNaming && place.item.canBeRenamed))
            }
            fix(rejections)
        }
    }

    private struct Rejection {
        let item: DraftItem
        let error: Diagnostic
        /// Whether another name for the item can correct the error.
        let isOfName: Bool
    }

    /// If the compiler rejects names, corrects only the names, because the other errors may be consequences of them.
    private mutating func fix(_ rejections: [Rejection]) {
        let misnamed = rejections.filter(\.isOfName)
        for rejection in misnamed.isEmpty ? rejections : misnamed {
            if rejection.isOfName, let name = anotherName(for: rejection) {
                draft.rename(rejection.item, to: name)
            } else {
                omit(rejection.item, rejection.error)
            }
        }
    }

    // MARK: Renaming

    /// Returns a name that is derived from the first rejected name; nil if no candidate is free and valid.
    private mutating func anotherName(for rejection: Rejection) -> String? {
        let item = rejection.item
        let (own, others) = draft.names(around: item)
        let position = renames.firstIndex { $0.item == item } ?? renames.count
        if position == renames.count {
            renames.append(Rename(item: item, reason: rejection.error.reason, rejected: []))
        }
        renames[position].rejected.append(own)
        let rejected = renames[position].rejected
        let taken = Set(others.map { $0.lowercased() })
        return candidates(for: item, rejected[0]).first { candidate in
            !taken.contains(candidate.lowercased()) && !rejected.contains(candidate)
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

    // MARK: Omitting

    private mutating func omit(_ item: DraftItem, _ error: Diagnostic) {
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
    /// The message without the suggested fix, which applies to the schema and not to the Swift code.
    fileprivate var reason: String {
        message.split(separator: ";").dropLast().joined(separator: ";")
    }
}
