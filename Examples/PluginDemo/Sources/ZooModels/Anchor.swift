// SwiftPM ignores a target that contains no Swift file. MartletPlugin generates the other files from Schemas/Zoo.
