import MartletSchema

/// Parses types in the syntax of other languages. These functions report each such type, usually with a fix, and return
/// the equivalent type of a schema.
extension TypeExpressionParser {
    /// Parses a type with a question mark before its name, as in `?String`.
    mutating func readLeadingOptional() -> TypeSyntax? {
        let start = index
        index += 1
        let mark = scalar.span(of: start..<index)
        guard let name = readName() else { return refuse(from: start, "expected the name of a type") }
        let right = "\(ForeignTypes.rightSpelling(of: name.value))?"
        report(
            .unknownType, "the '?' follows the type; write '\(right)'", start..<index, replacement: right)
        return finish(.single, name, optional: mark, outer: nil, start: start)
    }

    /// Parses the text after the name in `String | null`, and returns the range of this text. The result is nil if
    /// other text follows the name.
    mutating func readOrNull(_ name: Spanned<String>) -> SourceSpan? {
        let start = index
        let nameStart = start - name.value.utf8.count
        skipBlanks()
        guard peek == UInt8(ascii: "|") else {
            index = start
            return nil
        }
        index += 1
        skipBlanks()
        guard let word = readName(), ["null", "nil", "None", "undefined"].contains(word.value) else {
            index = start
            return nil
        }
        let right = "\(ForeignTypes.rightSpelling(of: name.value))?"
        report(
            .unknownType, "a value that may be missing has a '?' after its type; write '\(right)'", nameStart..<index,
            replacement: right)
        return scalar.span(of: start..<index)
    }

    /// Parses `LinkingObjects(Dog, owner)`. A path instead of one property, as in `LinkingObjects<Dog.owner.name>`, is
    /// reported without a fix.
    mutating func parseForeignLink(
        _ container: Spanned<String>, _ element: Spanned<String>, member: Spanned<String>?, close: UInt8, start: Int
    ) -> TypeSyntax? {
        let isPath = peek == Byte.dot
        guard let end = bytes[index...].firstIndex(of: close) else {
            return refuseUnclosed(container, close, from: index, start: start)
        }
        if isPath, let member {
            return refuse(
                from: index, to: end,
                "linking objects name one property, the link itself; write 'LinkingObjects<\(element.value).\(member.value)>'"
            )
        }
        index += 1
        skipBlanks()
        let name = readName()
        skipBlanks()
        guard member == nil, let name, index == end else {
            return refuse(
                from: start, to: end + 1,
                "linking objects name a type and its property; write 'LinkingObjects<\(element.value).property>'")
        }
        index = end + 1
        let right = "LinkingObjects<\(element.value).\(name.value)>"
        reportReplacement(start..<index, with: right, "a '.' separates the type and its property;")
        return finish(.linkingObjects(name), element, optional: nil, outer: readOptional(), start: start)
    }

    /// Parses the text after the opening parenthesis in `LinkingObjects(fromType: Dog.self, property: "owner")`.
    mutating func readLabeledLink(close: UInt8, start: Int) -> TypeSyntax? {
        guard let end = bytes[index...].firstIndex(of: close) else { return nil }
        var words: [Spanned<String>] = []
        let first = index
        while index < end {
            if let word = readName() { words.append(word) } else { index += 1 }
        }
        guard words.map(\.value).filter({ $0 != "self" }).count == 4, words[0].value == "fromType",
            let label = words.dropFirst(2).first(where: { $0.value != "self" }), label.value == "property"
        else {
            index = first
            return nil
        }
        index = end + 1
        reportReplacement(
            start..<index, with: "LinkingObjects<\(words[1].value).\(words[words.count - 1].value)>",
            "a type and its property are written between '<' and '>';")
        return finish(.linkingObjects(words[words.count - 1]), words[1], optional: nil, outer: nil, start: start)
    }

    /// Parses the square brackets in `String[]` and `List[String]`.
    mutating func readTrailingBrackets(_ name: Spanned<String>, start: Int) -> TypeSyntax? {
        guard let close = bytes[index...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let inside = String(decoding: bytes[(index + 1)..<close], as: UTF8.self)
        let containerName = ContainerName(name.value)
        var element = name
        if let containerName, [.list, .set, .map].contains(containerName.kind) {
            guard inside.isName else { return nil }
            element = Spanned(inside, scalar.span(of: index + 1..<close))
        } else if !inside.isEmpty {
            return nil
        }
        index = close + 1
        // The result drops a '?' after a collection, because a collection is never optional.
        _ = readOptional()
        let spelling = containerName?.spelling ?? "List"
        let right = "\(spelling)<\(ForeignTypes.rightSpelling(of: element.value))>"
        reportReplacement(start..<index, with: right, "square brackets are not part of a type;")
        let shape: TypeSyntax.Shape = spelling == "Set" ? .set : spelling == "Map" ? .map : .list
        return finish(shape, element, optional: nil, outer: nil, start: start)
    }

    /// Reports a generic wrapper, such as `Persisted<Int>` or `RealmOptional<Int>`, and returns the wrapped type.
    mutating func readWrapper(
        _ container: Spanned<String>, _ element: Spanned<String>, _ optional: SourceSpan?, start: Int
    ) -> TypeSyntax? {
        guard let isOptional = ForeignTypes.wrappers[container.value.asciiLowercased] else { return nil }
        let right = ForeignTypes.rightSpelling(of: element.value) + (isOptional || optional != nil ? "?" : "")
        reportReplacement(start..<index, with: right, "'\(container.value)<\(element.value)>'")
        return TypeSyntax(
            shape: .single, name: element, optional: isOptional ? container.span : optional, outerOptional: nil,
            span: scalar.span(of: start..<index))
    }

    /// Reports a word or module name before the type, as in `let String`, `'@Persisted Int'` or `RealmSwift.List<Dog>`.
    /// Parsing continues after this prefix.
    mutating func skipForeignPrefix() {
        let start = index
        if peek == UInt8(ascii: "@") { index += 1 }
        guard let word = readName() else {
            index = start
            return
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        let isModule = peek == Byte.dot && ForeignTypes.modules.contains(word.value)
        let isWord =
            peek?.isBlank == true
            && (ForeignTypes.introducers.contains(text) || ForeignTypes.attributes.contains(text))
        let end = index
        if isModule { index += 1 } else { skipBlanks() }
        guard isModule || isWord, peek?.isLetter == true else {
            index = start
            return
        }
        let reason = isModule ? "a type is named without its module" : "'\(text)' is not part of a type"
        report(
            .unknownType, "\(reason); remove '\(text)\(isModule ? "." : "")'", start..<(isModule ? index : end),
            replacing: start..<index, with: "")
    }

    /// Replaces each byte of a Unicode space with an ASCII space, so that offsets stay valid. The text of a default is
    /// not changed.
    mutating func replaceUnicodeBlanks() {
        guard bytes.contains(where: UnicodeSpace.isLead) else { return }
        var place = 0
        var isAfterEqualsSign = false
        while place < bytes.count, !isAfterEqualsSign || bytes[place].isBlank || UnicodeSpace(bytes, at: place) != nil,
            bytes[place] != Byte.doubleQuote, bytes[place] != Byte.singleQuote
        {
            guard let blank = UnicodeSpace(bytes, at: place) else {
                if bytes[place] == UInt8(ascii: "=") { isAfterEqualsSign = true }
                place += 1
                continue
            }
            let range = place..<place + blank.length
            let advice = "write a space"
            let span = scalar.span(of: range)
            diagnostics.append(
                Diagnostic(
                    .yamlMistake, "\(blank.name) is in this type; \(advice)", at: span, label: "looks like a space",
                    help: advice, fixes: scalar.contentStart == nil ? [] : [Fix(advice, .safe, [Edit(span, " ")])]))
            for index in range { bytes[index] = Byte.space }
            place = range.upperBound
        }
    }
}
