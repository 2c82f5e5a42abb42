import PackagePlugin
@main struct MartletCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {}
}
