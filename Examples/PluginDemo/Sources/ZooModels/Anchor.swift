// SwiftPM leaves out a target that has no Swift file of its own. The others are made from Schemas/Zoo by MartletPlugin.
