import Foundation
import Martlet

// A guided tour, one chapter a file. It needs a folder to work in, with the file of last year that chapter 11 migrates:
// 'make tour' in the root of the repository makes both.
guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: KennelTour <folder>\n".utf8))
    exit(2)
}
let folder = URL(fileURLWithPath: path)

say("A kennel, its dogs and their people. The classes were generated from Schemas/Kennel when this was built.")
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
    "\nThat is the tour. Sources/KennelTour has a file for each chapter; Documentation/Misuse.md lists what stops a program."
)
