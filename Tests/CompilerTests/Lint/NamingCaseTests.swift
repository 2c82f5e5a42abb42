import MartletSchema
import Testing

// In the schema below, a line `suggested` contains the replacement of the marked text, followed by the further edits of
// the fix-it. Each further edit is written as @line:column+length "text", or as @column+length "text" if it is on the
// line of the finding.
@Suite("Lint: NamingCase")
struct NamingCaseTests {
    @Test("names that do not follow Swift's conventions are reported, with the kind of the name MRT0401")
    func findings() throws {
        try expectFindings(
            of: .namingCase,
            #"""
            enums:
              size: [Small, very_large, fine, x2]
            #~^^^^ warning MRT0401: type 'size' is not UpperCamelCase; write 'Size'
            #~  help write 'Size'
            #~  suggested "Size", @8:13+4 "Size"
            #~       ^^^^^ warning MRT0401: case 'Small' is not lowerCamelCase; write 'small'
            #~  help write 'small', and 'Small' as its stored value if data is stored already
            #~              ^^^^^^^^^^ warning MRT0401: case 'very_large' is not lowerCamelCase; write 'veryLarge'
            #~  help write 'veryLarge', and 'very_large' as its stored value if data is stored already
              Level: {raw: Int, cases: {LOW: 1, high: 2}}
            #~                          ^^^ warning MRT0401: case 'LOW' is not lowerCamelCase; write 'low'
            #~  help write 'low'
            #~  suggested "low"
            objects:
              big_dog:
            #~^^^^^^^ warning MRT0401: type 'big_dog' is not UpperCamelCase; write 'BigDog'
            #~  help write 'BigDog' with 'renamedFrom: big_dog' if data is stored already
            #~  suggested "BigDog", @6:5+0 "renamedFrom: big_dog\n    ", @16:9+7 "BigDog"
                properties:
                  First_name: String
            #~    ^^^^^^^^^^ warning MRT0401: property 'First_name' is not lowerCamelCase; write 'firstName'
            #~  help write 'firstName' with 'renamedFrom: First_name' if data is stored already
            #~  suggested "firstName", @19+0 "{type: ", @25+0 ", renamedFrom: First_name}", @13:14+10 "firstName", @17:25+10 "firstName"
                  fine: size = Small
                  HTTPName: String
            #~    ^^^^^^^^ warning MRT0401: property 'HTTPName' is not lowerCamelCase; write 'httpName'
            #~  help write 'httpName' with 'renamedFrom: HTTPName' if data is stored already
            #~  suggested "httpName", @17+0 "{type: ", @23+0 ", renamedFrom: HTTPName}", @17:43+8 "httpName"
                ignored:
                  Selected: Bool = false
            #~    ^^^^^^^^ warning MRT0401: property 'Selected' is not lowerCamelCase; write 'selected'
            #~  help write 'selected'
            #~  suggested "selected"
                keypaths:
                  Card: [First_name, fine]
            #~    ^^^^ warning MRT0401: key path 'Card' is not lowerCamelCase; write 'card'
            #~  help write 'card'
            #~  suggested "card"
            projections:
              dogCard:
            #~^^^^^^^ warning MRT0401: type 'dogCard' is not UpperCamelCase; write 'DogCard'
            #~  help write 'DogCard'
            #~  suggested "DogCard"
                of: big_dog
                properties: {Title: First_name, name: HTTPName}
            #~               ^^^^^ warning MRT0401: label 'Title' is not lowerCamelCase; write 'title'
            #~  help write 'title'
            #~  suggested "title"

            """#)
    }
}
