import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@Suite("Lint: comments that silence findings")
struct IgnoreTests {
    /// Enables all rules, and compares the findings with the expected findings in the lines that begin with `#~`.
    private func expect(_ marked: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let schema = FixtureSchema(name: "", text: marked)
        let input = schema.input()
        let found = schema.rendered(Compiler.lint(input, options: schema.options).diagnostics, input)
        #expect(found == marked, sourceLocation: sourceLocation)
    }

    @Test("an ignore comment applies to its line and to the next line that is not documentation S3 MRT0003")
    func lines() {
        expect(
            """
            objects:
              # martlet:ignore MRT0501
              ## Barks.
              Dog:
                properties: {Name: Int} # martlet:ignore MRT0401
              ## Purrs.
              Cat: # martlet:ignore MRT0501
                properties: {Name: Int}
            #~               ^^^^ warning MRT0401: property 'Name' is not lowerCamelCase; write 'name'
            #~  help write 'name' with 'renamedFrom: Name' if data is stored already
            #~  suggested "name", @24+0 "{type: ", @27+0 ", renamedFrom: Name}"
              ## Sings.
              # martlet:ignore MRT0501
            #~                 ^^^^^^^ warning MRT0003: 'martlet:ignore MRT0501' silences nothing; remove it

              Bird:
            #~^^^^ warning MRT0501: 'Bird' has no primary key; write 'primaryKey:' with the property that identifies it
            #~  help write 'primaryKey: id' and 'id: ObjectId = new'
            #~^^^^ note MRT0504: 'Bird' has no documentation; write a '##' line above it
                properties: {name: Int}

            """)
    }

    @Test("an ignore comment above the first line applies to the whole file S3 MRT0003")
    func head() {
        expect(
            """

            # martlet:ignore MRT0501, MRT0504
            # martlet:ignore MRT0403
            #~               ^^^^^^^ warning MRT0003: 'martlet:ignore MRT0403' silences nothing; remove it
            objects:
              Dog:
                properties: {name: Int}
              Cat:
                properties: {name: Int}

            """)
    }

    @Test("a comment cannot silence an error, and a comment with the code of an error is reported MRT0003")
    func errors() {
        expect(
            """
            objects:
              Dog:
                properties:
                  name: Strng # martlet:ignore MRT0203
            #~          ^^^^^ error MRT0203: unknown type 'Strng'
            #~  help did you mean 'String'?
            #~  suggested "String"
            #~                                 ^^^^^^^ warning MRT0003: 'MRT0203' is an error and cannot be silenced; fix the error

            """)
    }

    @Test("findings about comments cannot be silenced by a comment, and the message says what to write instead MRT0003")
    func ownCode() {
        expect(
            """
            # martlet:ignore MRT0003
            #~               ^^^^^^^ warning MRT0003: a comment cannot silence 'MRT0003'; remove it, or write 'MRT0003: off' below 'lint:' and 'rules:' in 'martlet.yaml'
            objects:
              ## Barks.
              # martlet:ignore MRT0003, MRT9999
            #~                 ^^^^^^^ warning MRT0003: a comment cannot silence 'MRT0003'; remove it, or write 'MRT0003: off' below 'lint:' and 'rules:' in 'martlet.yaml'
            #~                          ^^^^^^^ warning MRT0003: unknown code 'MRT9999'; write one such as 'MRT0501'
              Dog:
                primaryKey: id
                properties: {id: Int}

            """)
    }

    @Test("text in quotes or in a block scalar is not a comment S6")
    func scalars() {
        expect(
            """
            objects:
              ## Barks.
              Dog:
                primaryKey: id
                properties:
                  id: {type: Int, doc: "a # martlet:ignore MRT0501"} # martlet:ignore MRT0401
            #~                                                                        ^^^^^^^ warning MRT0003: 'martlet:ignore MRT0401' silences nothing; remove it
                  name:
                    type: String
                    doc: |
                      Text.
                      # martlet:ignore MRT0501

            """)
    }
}
