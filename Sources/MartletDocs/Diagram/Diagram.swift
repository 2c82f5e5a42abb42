public import MartletSchema

/// Draws diagrams of a schema.
public enum Diagram {
    /// The diagram in a text format. The result does not depend on the order of the files.
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
