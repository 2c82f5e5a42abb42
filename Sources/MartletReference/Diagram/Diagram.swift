public import MartletSchema

/// Pictures of a schema.
public enum Diagram {
    /// The picture as text, the same for the same schema whatever its files are ordered like.
    public static func text(
        of model: SchemaModel, as format: DiagramFormat, options: DiagramOptions = DiagramOptions()
    ) -> String {
        let diagram = DiagramBuilder.build(model, options: options)
        return switch format {
        case .mermaid: MermaidWriter(diagram).text
        case .dot: DOTWriter(diagram).text
        case .svg: SVGWriter(diagram).document
        }
    }
}
