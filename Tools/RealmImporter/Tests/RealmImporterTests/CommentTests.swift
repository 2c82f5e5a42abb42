import Testing

@Suite("comments and deprecations")
struct CommentTests {
    @Test("documentation of types, properties and cases is imported, and other comments are ignored")
    func documentation() throws {
        let sample = try Sample(
            """
            // A private remark.

            /// A dog.
            ///
            ///   - Note: it barks.
            class Dog: Object {
                // MARK: Stored

                /// The name it knows.
                @Persisted var name: String  // really
                /**
                 Years since it was born.

                   Indented.
                 */
                @Persisted var age: Int
                /** In one line. */
                @Persisted var size: Size
            }
            enum Size: String, PersistableEnum {
                /// Below the knee.
                case small
                case large
            }
            """)
        #expect(
            sample.yaml == """
                enums:
                  Size:
                    cases:
                      ## Below the knee.
                      - small
                      - large

                objects:
                  ## A dog.
                  ##
                  ##   - Note: it barks.
                  Dog:
                    properties:
                      ## The name it knows.
                      name: String
                      ## Years since it was born.
                      ##
                      ##   Indented.
                      age: Int
                      ## In one line.
                      size: Size

                """)
        #expect(sample.findings.isEmpty)
    }

    @Test("characters that are invalid in schema files are removed from documentation")
    func oddCharacters() throws {
        let sample = try Sample(
            "class Dog: Object {\n/// A\u{202E}b\u{7}c\td # e: f\n@Persisted var name: String\n}")
        #expect(sample.yaml.contains("      ## Abc\td # e: f\n      name: String\n"))
    }

    @Test("deprecations keep their message, and 'renamed:' becomes a message")
    func deprecations() throws {
        let sample = try Sample(
            """
            @available(*, deprecated, renamed: "Dog")
            class Hound: Object {
                @available(*, deprecated, message: "Use \\"name\\": it is better.")
                @Persisted var title: String
                @available(*, deprecated)
                @Persisted var old: Int = 5
                @available(iOS 16, *)
                @Persisted var new: Int
            }
            """)
        #expect(
            sample.yaml == """
                objects:
                  Hound:
                    deprecated: Use Dog.
                    properties:
                      title:
                        type: String
                        deprecated: "Use \\"name\\": it is better."
                      old:
                        type: Int = 5
                        deprecated: true
                      new: Int

                """)
    }
}
