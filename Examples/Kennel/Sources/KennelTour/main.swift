import Foundation
import Martlet

// A guided tour with one file for each chapter. The argument is a folder that contains 'last-year.realm', the file that
// chapter 11 migrates. 'make tour' in the root of the repository creates the folder and this file.
guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: KennelTour <folder>\n".utf8))
    exit(2)
}
let folder = URL(fileURLWithPath: path)

say("A kennel, its dogs and their people. The build generated the classes from Schemas/Kennel.")
let realm = try opening(folder)
try writing(realm)
try creating(realm)
try links(realm)
try embeddedObjects(realm)
try collections(realm)
try queries(realm)
try sections(realm)
try coding(realm)
try untypedAccess(realm)
try migrating(folder)
try copies(realm, folder)
try observing(realm)
say(
    "\nThat is the tour. Sources/KennelTour has a file per chapter. Documentation/Misuse.md lists mistakes that stop a program."
)
