// This file exists because SwiftPM ignores a target without Swift files. MartletPlugin generates the other files of the
// target from Schemas/Zoo.
