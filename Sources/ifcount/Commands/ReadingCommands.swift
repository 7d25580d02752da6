internal import SystemCalls
internal import Wire

/// `ifcount list` and `ifcount show`.
enum ReadingCommands {
    /// Prints every interface.
    static func list(_ source: inout any ReadingSource, all: Bool, isJSON: Bool, _ output: Output) throws {
        let readings = try source.list(all: all)
        if isJSON { return try output.write(json: Frame.json(List.Reply(readings: readings))) }
        let width = output.width
        try output.write(ListView.lines(readings, width: width, now: Clock.wall, output.style), width: width)
    }

    /// Prints each of the interfaces that there is, and tells of those there are not.
    ///
    /// - Throws: a `Failure` with `.noSuchInterface` when any is missing, after the others were printed.
    static func show(_ source: inout any ReadingSource, _ names: [String], isJSON: Bool, _ output: Output) throws {
        var missing: [String] = []
        var isFirst = true
        for name in names {
            guard let reading = try source.get(name) else {
                missing.append(name)
                continue
            }
            if isJSON {
                try output.write(json: Frame.json(Get.Reply(reading: reading)))
            } else {
                let lines = ShowView.lines(reading, output.style)
                try output.write(isFirst ? lines : [Line()] + lines)
            }
            isFirst = false
        }
        if missing.isEmpty { return }
        let quoted = missing.map { "\"\($0)\"" }.joined(separator: ", ")
        let message = "no interface \(quoted) here; \"ifcount list\" shows what there is"
        throw Failure(message: message, status: .noSuchInterface)
    }
}
