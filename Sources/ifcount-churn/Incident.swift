/// What is done to links and to the daemon, by the words of the report.
enum Incident: String, CaseIterable {
    case created = "links created"
    case recreated = "links recreated"
    case sameIndex = "links recreated with the same ifindex"
    case closed = "links closed by their program"
    case deleted = "links deleted by rtnetlink"
    case renamed = "links renamed"
    case swapped = "names swapped"
    case lowered = "links set down"
    case raised = "links set up"
    case left = "links moved to another namespace"
    case returned = "links moved back"
    case arrived = "links moved in from elsewhere, with bytes"
    case resized = "MTUs changed"
    case multiplied = "bursts of links created"
    case stalled = "daemon stopped for a moment (SIGSTOP)"
    case overran = "netlink buffer overrun"
    case watched = "watchers came and went"
    case ended = "daemon ended (SIGTERM)"
    case killed = "daemon killed (SIGKILL)"
    case killedAtStart = "daemon killed at its start"

    /// What is done to links at any time, and how often, compared with the others.
    static let common: [(incident: Incident, weight: Int)] = [
        (.recreated, 10), (.sameIndex, 3), (.created, 5), (.closed, 4), (.deleted, 2), (.renamed, 5), (.swapped, 2),
        (.lowered, 3), (.raised, 5), (.left, 3), (.returned, 5), (.arrived, 1), (.resized, 3), (.multiplied, 1),
    ]
}
