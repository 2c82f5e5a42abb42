import CMartletYAML
import MartletSchema

/// Reads the events of libyaml into a tree with exact source ranges. No other file uses libyaml.
///
/// libyaml reports positions in Unicode scalars, and `ScalarIndex` converts them to byte offsets. The limits are
/// checked at each event, so that reading a deeply nested file ends early. Aliases are not expanded.
struct YAMLReader {
    static let maximumDepth = 16
    static let maximumScalarBytes = 64 << 10
    static let maximumKeyBytes = 128

    private enum ReadingError: Error {
        /// libyaml found a syntax error.
        case failed
        /// A limit is exceeded, and the rest of the file is not read.
        case abandoned
    }

    private let text: PatchedText
    private let index: ScalarIndex
    private var parser = yaml_parser_t()
    private var subset = SubsetFindings()
    private var result = YAMLReading()

    static func read(_ text: PatchedText) -> YAMLReading {
        var reader = YAMLReader(text)
        return reader.read()
    }

    private init(_ text: PatchedText) {
        self.text = text
        index = ScalarIndex(text.bytes)
    }

    private mutating func read() -> YAMLReading {
        text.bytes.withUnsafeBufferPointer { buffer in
            guard yaml_parser_initialize(&parser) == 1 else {
                result.isAbandoned = true
                return
            }
            defer { yaml_parser_delete(&parser) }
            yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            do {
                result.root = try readStream()
            } catch ReadingError.failed {
                result.failure = currentFailure()
            } catch {
                result.isAbandoned = true
            }
        }
        subset.report(into: &result.diagnostics)
        return result
    }

    private mutating func readStream() throws -> YAMLNode? {
        var root: YAMLNode?
        var documents = 0
        while true {
            var event = try nextEvent()
            defer { yaml_event_delete(&event) }
            switch event.type {
            case YAML_STREAM_END_EVENT: return root
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                if event.data.document_start.version_directive != nil
                    || event.data.document_start.tag_directives.start != event.data.document_start.tag_directives.end
                {
                    let start = offset(event.start_mark)
                    let end = text.bytes[start...].firstIndex(where: \.isLineBreak) ?? text.bytes.count
                    let place = text.span(start, end)
                    subset.report(
                        "directives are not part of the schema language; remove the line", at: place,
                        fixes: [Fix("remove the line", .suggested, [Edit(place, "")])])
                }
                if documents == 2 {
                    let start = offset(event.start_mark)
                    subset.report(
                        "a schema file is one YAML document; move what follows to its own file",
                        at: text.span(start, min(start + 3, text.bytes.count)), label: "second document begins here")
                    return root
                }
            case YAML_DOCUMENT_END_EVENT, YAML_STREAM_START_EVENT: continue
            default: root = try readNode(&event, depth: 1)
            }
        }
    }

    private mutating func nextEvent() throws -> yaml_event_t {
        var event = yaml_event_t()
        guard yaml_parser_parse(&parser, &event) == 1 else { throw ReadingError.failed }
        return event
    }

    private mutating func readNode(_ event: inout yaml_event_t, depth: Int) throws -> YAMLNode {
        switch event.type {
        case YAML_SCALAR_EVENT: return readScalar(event)
        case YAML_ALIAS_EVENT:
            let place = span(event)
            subset.report(
                .alias, "aliases are not part of the schema language; write the value out", fixes: { _ in [] },
                at: { place })
            return .broken(place)
        case YAML_SEQUENCE_START_EVENT:
            let data = event.data.sequence_start
            reportAnchorOrTag(event, anchor: data.anchor, tag: data.tag)
            let isFlow = data.style == YAML_FLOW_SEQUENCE_STYLE
            return try .sequence(readSequence(from: event, isFlow: isFlow, depth: depth))
        default:
            let data = event.data.mapping_start
            reportAnchorOrTag(event, anchor: data.anchor, tag: data.tag)
            let isFlow = data.style == YAML_FLOW_MAPPING_STYLE
            return try .mapping(readMapping(from: event, isFlow: isFlow, depth: depth))
        }
    }

    private mutating func readSequence(from event: yaml_event_t, isFlow: Bool, depth: Int) throws -> YAMLSequence {
        let start = offset(event.start_mark)
        try checkDepth(depth, at: start)
        var items: [YAMLNode] = []
        while true {
            var next = try nextEvent()
            defer { yaml_event_delete(&next) }
            if next.type == YAML_SEQUENCE_END_EVENT {
                let place = collectionSpan(from: start, end: next, isFlow: isFlow, lastChild: items.last?.span)
                return YAMLSequence(span: place, items: items, isFlow: isFlow)
            }
            items.append(try readNode(&next, depth: depth + 1))
        }
    }

    private mutating func readMapping(from event: yaml_event_t, isFlow: Bool, depth: Int) throws -> YAMLMapping {
        let start = offset(event.start_mark)
        try checkDepth(depth, at: start)
        var entries: [YAMLEntry] = []
        var keys = DuplicateKeyFinder()
        var lastChild: SourceSpan?
        while true {
            var next = try nextEvent()
            defer { yaml_event_delete(&next) }
            if next.type == YAML_MAPPING_END_EVENT {
                keys.report(into: &result.diagnostics)
                let place = collectionSpan(from: start, end: next, isFlow: isFlow, lastChild: lastChild)
                return YAMLMapping(span: place, entries: entries, isFlow: isFlow)
            }
            let key = try readNode(&next, depth: depth + 1)
            var valueEvent = try nextEvent()
            defer { yaml_event_delete(&valueEvent) }
            let value = try readNode(&valueEvent, depth: depth + 1)
            lastChild = value.span.isEmpty ? key.span : value.span
            if let scalar = accept(key: key), keys.insert(scalar) {
                entries.append(YAMLEntry(key: scalar, value: value))
            }
        }
    }

    private mutating func readScalar(_ event: yaml_event_t) -> YAMLNode {
        let data = event.data.scalar
        reportAnchorOrTag(event, anchor: data.anchor, tag: data.tag)
        let style: YAMLScalar.Style =
            switch data.style {
            case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
            case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
            case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
            default: .plain
            }
        let bytes = UnsafeBufferPointer(start: data.value, count: data.length)
        let start = offset(event.start_mark)
        let end = offset(event.end_mark)
        let place = text.span(start, end)
        if event.end_mark.line != event.start_mark.line || bytes.contains(Byte.hash) {
            result.spansWithoutComments.append(place)
        }
        if bytes.count > Self.maximumScalarBytes {
            result.diagnostics.append(
                Diagnostic(
                    .limitExceeded, "text of \(bytes.count) bytes, more than the 65536 allowed; shorten it",
                    at: place.beginning))
            return .broken(place)
        }
        let quotes = style == .plain ? 0 : 1
        let isVerbatim =
            style != .block && place.end - place.start == bytes.count + 2 * quotes
            && end - start == bytes.count + 2 * quotes
            && text.bytes[(start + quotes)..<(end - quotes)].elementsEqual(bytes)
        return .scalar(
            YAMLScalar(
                text: String(decoding: bytes, as: UTF8.self), span: place, style: style,
                contentStart: isVerbatim ? place.start + quotes : nil))
    }

    /// Checks that a key is a scalar within the length limit. Merge keys are rejected.
    private mutating func accept(key: YAMLNode) -> YAMLScalar? {
        switch key {
        case .broken: return nil
        case .sequence, .mapping:
            subset.report("a key is a name here, not \(key.shape)", at: key.span)
            return nil
        case .scalar(let scalar):
            if scalar.isPlain, scalar.text == "<<" {
                subset.report("merge keys are not part of the schema language; write the keys out", at: scalar.span)
                return nil
            }
            if scalar.text.utf8.count > Self.maximumKeyBytes {
                let count = scalar.text.utf8.count
                result.diagnostics.append(
                    Diagnostic(
                        .limitExceeded, "a key of \(count) bytes, more than the 128 allowed; shorten it",
                        at: scalar.span))
                return nil
            }
            return scalar
        }
    }

    private mutating func checkDepth(_ depth: Int, at start: Int) throws {
        guard depth > Self.maximumDepth else { return }
        result.diagnostics.append(
            Diagnostic(
                .limitExceeded, "nested deeper than the 16 levels allowed; remove levels, a schema needs five",
                at: text.span(start, min(start + 1, text.bytes.count)), label: "level 17 begins here"))
        throw ReadingError.abandoned
    }

    private mutating func reportAnchorOrTag(
        _ event: yaml_event_t, anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?
    ) {
        guard anchor != nil || tag != nil else { return }
        let start = offset(event.start_mark)
        let (text, kind) = (self.text, anchor != nil ? SubsetFindings.Kind.alias : .tag)
        let message =
            anchor != nil
            ? "anchors are not part of the schema language; remove this one, and write the value out where it is used"
            : "tags are not part of the schema language; remove this one"
        // An anchor or tag can be as long as the file. Its end is therefore computed only for the few occurrences that
        // are shown.
        subset.report(kind, message) { _ in
            var end = text.wordEnd(from: start)
            while end < text.bytes.count, text.bytes[end].isBlank { end += 1 }
            return [Fix("remove it", .suggested, [Edit(text.span(start, end), "")])]
        } at: {
            text.span(start, text.wordEnd(from: start))
        }
    }

    /// The source range of a collection. A block collection ends with its last child, because libyaml reports the end
    /// of a block collection only at the next token.
    private func collectionSpan(from start: Int, end: yaml_event_t, isFlow: Bool, lastChild: SourceSpan?) -> SourceSpan
    {
        if isFlow { return text.span(start, offset(end.end_mark)) }
        let beginning = text.span(start, start)
        return lastChild.map { beginning.union($0) } ?? beginning
    }

    private func span(_ event: yaml_event_t) -> SourceSpan {
        text.span(offset(event.start_mark), offset(event.end_mark))
    }

    private func offset(_ mark: yaml_mark_t) -> Int {
        index.offset(ofScalar: mark.index)
    }

    private func currentFailure() -> YAMLFailure {
        let problem = parser.problem.map { String(cString: $0) } ?? "unreadable"
        let context = parser.context.map { String(cString: $0) } ?? ""
        return YAMLFailure(
            problem: problem, context: context, offset: offset(parser.problem_mark),
            contextOffset: context.isEmpty ? nil : offset(parser.context_mark))
    }
}
