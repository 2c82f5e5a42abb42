import MartletSchema

/// Adds terminal colors to texts. If `isOn` is false, the texts are unchanged.
struct Palette {
    let isOn: Bool

    func paint(_ text: String, as severity: Severity) -> String {
        let color =
            switch severity {
            case .error: "31"
            case .warning: "33"
            case .note: "36"
            }
        return wrap(text, "1;" + color)
    }

    func bold(_ text: String) -> String { wrap(text, "1") }
    func blue(_ text: String) -> String { wrap(text, "34") }

    private func wrap(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
