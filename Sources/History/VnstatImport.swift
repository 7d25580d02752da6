package import SystemCalls

/// What vnStat counted, as spans: hours where it still has them, before them days, before those months, and years.
///
/// What a day has over its hours passed in the part of it that has no hours any more; so with a month and its days. The
/// sums of a day and of a month stay what they are in vnStat, and no time is booked twice.
package struct VnstatImport: Sendable {
    /// What went through one interface.
    package struct Figures: Hashable, Sendable {
        /// In order, none overlapping another, none empty.
        package var spans: [Span] = []
        /// What vnStat has in a longer period over its shorter ones, although these leave no time of it open: some time in
        /// that period, but nobody knows when.
        package var unplaced: Flow { withoutTime.reduce(Flow()) { $0 + $1.flow } }
        /// The same by the periods that they belong to.
        fileprivate var withoutTime: [Span] = []
        /// What was left out for it passed after the end that was asked for, or would have by its share of the time.
        package var later = Flow()
    }

    private let document: VnstatDocument

    /// - Parameter json: what `vnstat --json` printed.
    /// - Throws: `VnstatError`.
    package init(_ json: [UInt8]) throws(VnstatError) { document = try VnstatDocument(json) }

    /// - Parameter database: the path of vnStat's own file, which is read and not written, also while vnStat runs.
    /// - Throws: `VnstatError`.
    package init(database: String) throws(VnstatError) { document = try VnstatFile(database).document() }

    /// How many bytes at the beginning of a file tell whether it is a database.
    package static let headLength = VnstatFile.mark.count

    /// Whether a file that begins so is a database, for `init(database:)`.
    package static func isDatabase(_ head: [UInt8]) -> Bool { VnstatFile.isDatabase(head) }

    /// The names of the interfaces that there are, in vnStat's order.
    package var interfaces: [String] { document.interfaces.map(\.name) }

    /// What went through one interface.
    ///
    /// - Parameters:
    ///   - interface: its name there.
    ///   - end: where our own counting begins, µs since 1970: nothing later is taken, and of what reaches over it the part
    ///     before.
    ///   - clock: the zone that vnStat ran in, whose dates it writes.
    /// - Returns: spans, and what is in none.
    /// - Throws: `VnstatError`.
    package func figures(
        of interface: String,
        before end: Int = .max,
        clock: borrowing TimeZoneClock
    ) throws(VnstatError) -> Figures {
        guard let found = document.interfaces.first(where: { $0.name == interface }) else {
            throw .noSuchInterface(interface, among: document.interfaces.map(\.name))
        }
        let isFirstVersion = document.version == "1"
        let unit: UInt64 = isFirstVersion ? 1024 : 1
        var figures = Figures()
        var hours: [Span] = []
        for row in found.hours {
            let hour = row.time?.hour ?? (isFirstVersion ? row.id : nil) ?? -1
            hours.append(Self.span(row, unit, try Self.period(ofHour: hour, row.date, clock)))
        }
        figures.fill(with: hours)
        for rows in [found.days, found.months, found.years] {
            var coarse: [Span] = []
            for row in rows { coarse.append(Self.span(row, unit, try Self.period(row.date, clock))) }
            figures.fill(with: coarse)
        }
        let first = try found.created.map { moment throws(VnstatError) in try Self.moment(moment, clock) }
        let last = try found.updated.map { moment throws(VnstatError) in try Self.moment(moment, clock) }
        figures.clip(from: first, to: last)
        figures.cut(before: end)
        return figures
    }

    private static func span(_ row: VnstatDocument.Row, _ unit: UInt64, _ period: Range<Int>) -> Span {
        func bytes(_ count: UInt64) -> UInt64 {
            let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
            return overflow ? UInt64(Int64.max) : min(bytes, UInt64(Int64.max))
        }
        let flow = Flow(rxBytes: bytes(row.rx), txBytes: bytes(row.tx))
        return Span(start: period.lowerBound, end: period.upperBound, flow: flow, isImported: true)
    }

    // MARK: Periods

    private static func period(
        _ date: VnstatDocument.Moment.Date,
        _ clock: borrowing TimeZoneClock
    ) throws(VnstatError) -> Range<Int> {
        let first = try civil(date)
        var next = first
        if date.day != nil {
            next = CivilDate(daysSince1970: first.daysSince1970 + 1)
        } else if date.month != nil, first.month < 12 {
            next.month += 1
        } else {
            next = CivilDate(year: first.year + 1, month: 1, day: 1)
        }
        let start = clock.startOfDay(first)
        return start..<max(start, clock.startOfDay(next))
    }

    /// An hour that the clocks showed twice is one row of vnStat's, and two hours long.
    private static func period(
        ofHour hour: Int,
        _ date: VnstatDocument.Moment.Date,
        _ clock: borrowing TimeZoneClock
    ) throws(VnstatError) -> Range<Int> {
        let day = try civil(date)
        guard date.month != nil, date.day != nil, (0..<24).contains(hour) else {
            throw .impossibleDate("\(day.year)-\(day.month)-\(day.day) \(hour):00")
        }
        let start = start(ofHour: hour, day, clock)
        return start..<max(start, self.start(ofHour: hour + 1, day, clock))
    }

    /// The first moment at which the clocks show an hour of a day, or a later one where they skip it.
    private static func start(ofHour hour: Int, _ day: CivilDate, _ clock: borrowing TimeZoneClock) -> Int {
        let start = clock.startOfDay(day)
        let end = clock.startOfDay(CivilDate(daysSince1970: day.daysSince1970 + 1))
        if hour == 24 { return end }
        if let moment = clock.moment(of: day, hour: hour) { return moment }
        if hour == 0 || clock.local(start).hour >= hour { return start }
        return clock.first(from: start, to: end) { $0.date > day || $0.hour >= hour }
    }

    private static func moment(
        _ moment: VnstatDocument.Moment,
        _ clock: borrowing TimeZoneClock
    ) throws(VnstatError) -> Int {
        let day = try civil(moment.date)
        guard let time = moment.time else { return clock.startOfDay(day) }
        guard (0..<24).contains(time.hour), (0..<60).contains(time.minute) else {
            throw .impossibleDate("\(time.hour):\(time.minute)")
        }
        return clock.moment(of: day, hour: time.hour, minute: time.minute) ?? start(ofHour: time.hour, day, clock)
    }

    private static func civil(_ date: VnstatDocument.Moment.Date) throws(VnstatError) -> CivilDate {
        let day = CivilDate(year: date.year, month: date.month ?? 1, day: date.day ?? 1)
        guard (1970...9998).contains(day.year), (1...12).contains(day.month),
            (1...CivilDate.days(inMonth: day.month, of: day.year)).contains(day.day)
        else { throw .impossibleDate("\(day.year)-\(day.month)-\(day.day)") }
        return day
    }
}

extension VnstatImport.Figures {
    /// Adds coarser figures to finer ones, for the time that these leave open.
    fileprivate mutating func fill(with coarse: [Span]) {
        var added: [Span] = []
        var index = 0
        var done = Int.min
        for whole in coarse.sorted(by: { $0.start < $1.start }) {
            // A period that stands there twice is one.
            if whole.start < done { continue }
            done = whole.end
            while index < spans.count, spans[index].start < whole.start { index += 1 }
            var rest = whole
            // Of the finer figures, the oldest have gone first.
            if index < spans.count { rest.end = min(rest.end, spans[index].start) }
            while index < spans.count, spans[index].start < whole.end {
                rest.flow -= spans[index].flow
                index += 1
            }
            // What found no time among the shorter periods is in this one, too.
            withoutTime.removeAll { (whole.start..<max(whole.start, whole.end)).contains($0.start) }
            if rest.end > rest.start { added.append(rest) } else { withoutTime.append(rest) }
        }
        spans = (spans + added).sorted { $0.start < $1.start }
    }

    /// Takes away the time before vnStat knew the interface and the time that it has not seen yet, where some remains.
    fileprivate mutating func clip(from first: Int?, to last: Int?) {
        for index in spans.indices {
            if let first, first < spans[index].end { spans[index].start = max(spans[index].start, first) }
            if let last, last > spans[index].start { spans[index].end = min(spans[index].end, last) }
        }
    }

    /// Takes away what is later than a moment, and what is nothing.
    fileprivate mutating func cut(before end: Int) {
        spans = spans.compactMap { span in
            var part = span
            if span.end > end {
                part.flow = span.share(from: span.start, to: end)
                part.end = end
            }
            var rest = span.flow
            rest -= part.flow
            later += rest
            return part.start < part.end && part.flow != Flow() ? part : nil
        }
    }
}

extension Flow {
    /// Takes away, and stays at 0 where more would be taken than there is.
    fileprivate static func -= (left: inout Flow, right: Flow) {
        func rest(_ left: UInt64, _ right: UInt64) -> UInt64 { left > right ? left - right : 0 }
        left.rxBytes = rest(left.rxBytes, right.rxBytes)
        left.txBytes = rest(left.txBytes, right.txBytes)
        left.rxPackets = rest(left.rxPackets, right.rxPackets)
        left.txPackets = rest(left.txPackets, right.txPackets)
    }
}
