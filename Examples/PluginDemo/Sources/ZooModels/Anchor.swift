// SwiftPM ignores a target that has no Swift file of its own. MartletPlugin generates the others from Schemas/Zoo.
