/// The style sheet of the diagram. Rules contain literal values instead of CSS variables, because some SVG programs do
/// not support variables.
enum SVGStyle {
    /// One color in light and in dark mode.
    private struct Color {
        let selector: String
        let property: String
        let light: String
        let dark: String
    }

    static let text: String = {
        var text = fixed
        text += colors.map { ".martlet-diagram \($0.selector){\($0.property):\($0.light)}\n" }.joined()
        text += "@media (prefers-color-scheme:dark){\n"
        text += colors.map { ".martlet-diagram \($0.selector){\($0.property):\($0.dark)}\n" }.joined()
        return text + "}\n"
    }()

    /// The rules that are equal in light and dark mode.
    private static let fixed = """
        .martlet-diagram text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:11px}
        .martlet-diagram .name{font-size:13px;font-weight:bold}
        .martlet-diagram .kind{font-size:10px;text-anchor:end}
        .martlet-diagram .detail{text-anchor:end}
        .martlet-diagram .frame{stroke-width:1.2}
        .martlet-diagram .projection .frame,.martlet-diagram .deprecated .frame{stroke-dasharray:4 3}
        .martlet-diagram .key text:first-of-type{font-weight:bold}
        .martlet-diagram .old text:first-of-type,.martlet-diagram .deprecated .name{text-decoration:line-through}
        .martlet-diagram .rest text{font-style:italic}
        .martlet-diagram .line path{fill:none}
        .martlet-diagram .stroke{stroke-width:1.4}
        .martlet-diagram .hit-area{stroke:#000;stroke-opacity:0;stroke-width:9}
        .martlet-diagram .use .stroke,.martlet-diagram .projection .stroke{stroke-dasharray:5 3}
        .martlet-diagram .link .stroke{marker-start:url(#martlet-one)}
        .martlet-diagram .link.many .stroke{marker-start:url(#martlet-many)}
        .martlet-diagram .embedding .stroke{marker-end:url(#martlet-whole)}
        .martlet-diagram .embedding.many .stroke{marker-start:url(#martlet-embedded-many)}
        .martlet-diagram .use .stroke{marker-start:url(#martlet-case)}
        .martlet-diagram .use.many .stroke{marker-start:url(#martlet-cases)}
        .martlet-diagram .projection .stroke{marker-start:url(#martlet-root)}
        .martlet-diagram .line:hover .stroke{stroke-width:3}
        .martlet-diagram a:hover .name,.martlet-diagram a:focus .name{text-decoration:underline}
        .martlet-diagram a:focus-visible{outline:2px solid #3b6cf0;outline-offset:2px}

        """

    /// The colors of all elements. The class names of filled markers begin with `sign-`, and those of outlined markers
    /// with `fork-`. The class `sign-key` is an exception: it is the outline of the key symbol.
    private static let colors = [
        Color(selector: ".paper", property: "fill", light: "#ffffff", dark: "#15181f"),
        Color(selector: "text", property: "fill", light: "#1c2233", dark: "#e4e8f2"),
        Color(selector: ".detail", property: "fill", light: "#59627c", dark: "#a3adc6"),
        Color(selector: ".kind", property: "fill", light: "#4d556d", dark: "#bcc4d8"),
        Color(selector: ".frame", property: "fill", light: "#fcfdff", dark: "#1e222c"),
        Color(selector: ".frame", property: "stroke", light: "#8792b5", dark: "#59637f"),
        Color(selector: ".object .head", property: "fill", light: "#dce5fb", dark: "#2b3a63"),
        Color(selector: ".embedded .head", property: "fill", light: "#d5f0e0", dark: "#1f4a36"),
        Color(selector: ".enum .head", property: "fill", light: "#fbeac6", dark: "#54411a"),
        Color(selector: ".projection .head", property: "fill", light: "#e8defa", dark: "#443066"),
        Color(selector: ".link .stroke", property: "stroke", light: "#475582", dark: "#93a4d8"),
        Color(selector: ".embedding .stroke", property: "stroke", light: "#2f7d55", dark: "#6cc497"),
        Color(selector: ".use .stroke", property: "stroke", light: "#98701c", dark: "#d2ab58"),
        Color(selector: ".line.projection .stroke", property: "stroke", light: "#7a4fb5", dark: "#b99ae8"),
        Color(selector: ".sign-link", property: "fill", light: "#475582", dark: "#93a4d8"),
        Color(selector: ".fork-link", property: "stroke", light: "#475582", dark: "#93a4d8"),
        Color(selector: ".sign-embedding", property: "fill", light: "#2f7d55", dark: "#6cc497"),
        Color(selector: ".fork-embedding", property: "stroke", light: "#2f7d55", dark: "#6cc497"),
        Color(selector: ".fork-use", property: "stroke", light: "#98701c", dark: "#d2ab58"),
        Color(selector: ".fork-projection", property: "stroke", light: "#7a4fb5", dark: "#b99ae8"),
        Color(selector: ".fork-projection", property: "fill", light: "#ffffff", dark: "#15181f"),
        Color(selector: ".sign-key", property: "stroke", light: "#9a6b00", dark: "#e0b64c"),
    ]

    /// The markers at line ends. Lines are drawn from the target to the source. The marker of the target is therefore
    /// at the start of the path, and points backwards.
    static let markers: String = {
        let markerAttributes = #"orient="auto-start-reverse" markerUnits="userSpaceOnUse""#
        return """
            <defs>
            <marker id="martlet-one" \(markerAttributes) markerWidth="10" markerHeight="8" refX="9" refY="4">\
            <path class="sign-link" d="M0 0L9.5 4L0 8Z"/></marker>
            \(crowsFoot("martlet-many", "fork-link", markerAttributes))
            <marker id="martlet-whole" \(markerAttributes) markerWidth="13" markerHeight="9" refX="12.5" refY="4.5">\
            <path class="sign-embedding" d="M0.5 4.5L6.5 0.5L12.5 4.5L6.5 8.5Z"/></marker>
            \(crowsFoot("martlet-embedded-many", "fork-embedding", markerAttributes))
            <marker id="martlet-case" \(markerAttributes) markerWidth="9" markerHeight="8" refX="8" refY="4">\
            <path class="fork-use" fill="none" stroke-width="1.4" d="M1 0.7L8 4L1 7.3"/></marker>
            \(crowsFoot("martlet-cases", "fork-use", markerAttributes))
            <marker id="martlet-root" \(markerAttributes) markerWidth="11" markerHeight="10" refX="10" refY="5">\
            <path class="fork-projection" stroke-width="1.2" d="M1 1L9.5 5L1 9Z"/></marker>
            </defs>
            """
    }()

    /// The symbol of a primary key.
    static func key(x: Int, y: Int) -> String {
        """
        <path class="sign-key" fill="none" stroke-width="1.4" transform="translate(\(x) \(y))" \
        d="M4 2.5A2.3 2.3 0 1 0 4 7.1A2.3 2.3 0 1 0 4 2.5M6.3 4.8H12M9.3 4.8V7.3M11.5 4.8V6.8"/>

        """
    }

    /// A marker for many values: a crow's foot that opens toward the box.
    private static func crowsFoot(_ name: String, _ style: String, _ markerAttributes: String) -> String {
        """
        <marker id="\(name)" \(markerAttributes) markerWidth="11" markerHeight="11" refX="10.5" refY="5.5">\
        <path class="\(style)" fill="none" stroke-width="1.4" d="M10.5 0.7L1 5.5L10.5 10.3M1 5.5H10.5"/></marker>
        """
    }
}
