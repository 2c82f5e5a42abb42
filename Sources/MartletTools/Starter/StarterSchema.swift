import MartletCompiler

/// The schema of a new package. It uses the common features of the schema language, and lint reports no findings for
/// it.
public enum StarterSchema {
    public static let fileName = "Schema.yaml"

    public static let text = """
        # The model classes of this package. All '.yaml' files of a schema folder are one schema, in any order.
        #
        # Lines that begin with '##' are documentation and reach the Swift code; those with a single '#' do not.
        # 'martlet lint' says what is wrong with a schema, 'martlet explain CODE' what a finding means.

        enums:
          ## How urgent something is.
          Urgency: [low, normal, high]

        objects:
          ## A piece of work.
          Todo:
            primaryKey: id
            # Properties by which queries often search or sort.
            index: [dueDate]
            properties:
              # Each object gets a new UUID.
              id: UUID = new
              ## What is to be done.
              title: String = ""
              urgency: Urgency = normal
              # The question mark makes the value optional.
              dueDate: Date?
              ## Who does it. Links to other objects are always optional.
              assignee: Person?

          ## A person who works here.
          Person:
            primaryKey: id
            properties:
              id: UUID = new
              name: String = ""
              ## The postal address.
              address: Address?
              ## The todos whose assignee is this person. This list cannot be set: it always follows the links.
              todos: LinkingObjects<Todo.assignee>

        embedded:
          ## A place that belongs to one object and is deleted with it.
          Address:
            properties:
              street: String = ""
              city: String = ""

        projections:
          ## What a row of the list shows.
          TodoRow:
            of: Todo
            properties:
              title: title
              assigneeName: assignee.name
              city: assignee.address.city

        """

    /// Instructions for the author of the package. They say how to change the manifest to compile the schemas of a
    /// folder in each build.
    ///
    /// - Parameter folder: the path of the folder relative to the package.
    public static func advice(for folder: String) -> String {
        let parts = folder.split(separator: "/").filter { $0 != "." }
        let isInTarget = parts.count > 1 && parts[0] == "Sources"
        let target = isInTarget ? String(parts[1]) : "App"
        var text = """
            Add to Package.swift:

                dependencies: [
                    .package(url: "https://github.com/OWNER/martlet", from: "\(Compiler.version)"),
                ],
                targets: [
                    .target(
                        name: "\(target)",
                        dependencies: [.product(name: "Martlet", package: "martlet")],
                        plugins: [.plugin(name: "MartletPlugin", package: "martlet")]),
                ]

            The plugin compiles all '.yaml' files in the folder of the target and its subfolders. The target must also
            contain a Swift file.

            """
        if !isInTarget, !parts.isEmpty {
            let name = parts[parts.count - 1]
            let source = (folder.hasPrefix("/") ? "/" : "../../") + parts.joined(separator: "/")
            text += """
                The schema is outside of the target's folder, so create a symbolic link to it:

                    ln -s \(source) Sources/\(target)/\(name)

                """
        }
        return text
    }
}
