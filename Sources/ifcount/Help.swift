/// The texts of `ifcount help`; each fits into 80 columns.
enum Help {
    /// The text for a command, or for all of them.
    static func text(_ topic: String?, _ style: Style) -> String {
        switch topic {
        case "list": list(style)
        case "show": show
        case "watch": watch
        case "history": history(style)
        case "events": events
        case "import": importing
        case "accounts": accounts(style)
        case "export": export
        case "call": call
        default: general
        }
    }

    private static let general = """
        usage: ifcount [COMMAND] [OPTION]...

        How many bytes went through each network interface, across reconnects.
        Every figure is an estimate of what the kernel counted, never of what a
        provider bills: a tunnel's bytes pass again through the link that carries it.

        commands:
          list              every interface (without a command, too)
          show IFACE...     everything known of an interface
          watch [IFACE...]  live figures; of the default route's interface without IFACE
          history IFACE     by hour, day, month or year
          events [IFACE]    what happened to interfaces
          accounts          what is kept; forget, rename or merge it
          import vnstat     what vnStat counted before, into the history
          export [IFACE...] all that is kept, as lines of JSON
          call METHOD [JSON]  ask the daemon anything, in JSON
          help [COMMAND]    this text, or a command's

        options:
          -j, --json        print the reply as JSON, one document on a line
              --socket PATH the daemon's socket, before IFCOUNT_SOCKET
              --no-color    no colour, as with NO_COLOR
          -h, --help        help
              --version     the version
              --            what follows is no option, as for an interface "-x"

        Without a daemon, list, show and watch read the kernel and count from now;
        the other commands need it.

        exit status: 0 fine, 1 failed, 2 usage, 3 no such interface,
        4 the daemon was asked for and is not reachable

        """

    private static func list(_ style: Style) -> String {
        """
        usage: ifcount list [--all] [--json]

        A table of every interface: rates now in bit/s, and bytes so far.
        "\(style.about) 1.0 KiB": nothing is missing. "\(style.atLeast) 1.0 KiB": something may be missing.

        options:
          -a, --all   also interfaces that are absent now and have a total
          -j, --json  {"readings":[...]} as io.ifcount.List answers it

        """
    }

    private static let show = """
        usage: ifcount show IFACE... [--json]

        Everything known of an interface: totals with their bounds, resets, gaps,
        and the kernel's raw counters. Exit status 3 when there never was one.
        Bytes of a name that are no UTF-8 are written and understood as \\xHH.

        options:
          -j, --json  {"reading":{...}} as io.ifcount.Get answers it, a line for each

        """

    private static let watch = """
        usage: ifcount watch [IFACE...] [--interval DURATION] [--for DURATION] [--json]

        Live figures. An interface that is not there yet is waited for, and one that
        is recreated goes on with its total. Without IFACE: the default route's one,
        or all when there is no default route. Into a pipe, a line for each tick.

        options:
          -i, --interval DURATION  from 100ms to 1h; the daemon's own otherwise
              --for DURATION       end by itself after that time
          -j, --json               replies of io.ifcount.Watch, one on a line

        keys: q, Esc or Ctrl-C quit, p pauses, Ctrl-Z stops

        """

    private static func history(_ style: Style) -> String {
        """
        usage: ifcount history IFACE [--by PERIOD] [--since TIME] [--until TIME]
                       [--limit N] [--timezone ZONE] [--month-starts N]
                       [--json | --csv | --forecast]

        How many bytes went through an interface, by periods of time.
        "\(style.about) 1.0 KiB": nothing is missing. "\(style.atLeast) 1.0 KiB": something may be missing.
        "spread": known for a longer time only, and shared out evenly over it.
        TIME is 2026-11-30, 2026-11-30T12:00, today, yesterday, now, or 7d or 36h for
        so long ago. The daemon keeps the history; exit status 4 without it.

        options:
              --by PERIOD      quarter (of an hour), hour, day, month or year; else day
              --since TIME     only periods that end after it
              --until TIME     only periods that begin before it
          -n, --limit N        the last N periods
              --timezone ZONE  such as Europe/Berlin; else the one here
              --month-starts N the day that months begin on, for a plan that is billed
                               on it; 29 to 31 mean the last day of a shorter month
              --forecast       what the present period may come to, once 5 % is over
          -j, --json           the reply of io.ifcount.GetHistory
              --csv            comma-separated, exact, with times in UTC

        """
    }

    private static let events = """
        usage: ifcount events [IFACE] [--since TIME] [--limit N] [--follow] [--json]

        What happened to an interface, or to all: created, recreated, renamed, removed,
        and where bytes may be missing. The oldest first, in local time. The daemon
        keeps the events; exit status 4 without it.

        options:
              --since TIME  2026-11-30, 2026-11-30T12:00, today, yesterday, 7d or 36h
          -n, --limit N     the last N
          -f, --follow      go on with what happens, also when the daemon restarts
          -j, --json        replies of io.ifcount.Events, one on a line

        """

    private static func accounts(_ style: Style) -> String {
        """
        usage: ifcount accounts [--json]
               ifcount accounts forget IFACE [--yes] [--json]
               ifcount accounts rename IFACE NEW [--yes] [--json]
               ifcount accounts merge IFACE INTO [--yes] [--json]

        All that is kept, by name: also of interfaces that are gone.
        "\(style.about) 1.0 KiB": nothing is missing. "\(style.atLeast) 1.0 KiB": something may be missing.

        forget  removes the total, the history and the events of an interface; one that
                is here is counted anew from then on
        rename  gives them to a name that has none, for a link that has another name now
        merge   adds them to those of another interface; not for a link that another
                one carries: the same bytes would be there twice

        rename and merge are for interfaces that are gone. Each asks before it is done,
        and keeps a copy of the history as it was. Only root and the daemon's own user
        may change anything: use sudo.

        options:
          -y, --yes   do not ask
          -j, --json  {"readings":[...]}, or {"backup":"..."} when something was changed

        """
    }

    private static let importing = """
        usage: ifcount import vnstat [FILE] [--interface NAME] [--timezone ZONE]
                       [--dry-run] [--json]

        Books what vnStat counted before ifcount's first look at an interface, as spans
        of the history that are marked as imported; totals stay what ifcount has seen.
        Imported again, it takes the place of what was imported before. Only root and
        the daemon's own user may import: use sudo.
        FILE is the output of "vnstat --json", - for standard input, or the database of
        vnStat 2, which is only read, also while vnStat runs. Without FILE, vnstat is
        run; where it is not installed, /var/lib/vnstat/vnstat.db is read. Interfaces
        that ifcount has never seen are skipped; exit status 1 when nothing was
        imported.

        options:
              --interface NAME  only this one
              --timezone ZONE   the zone that vnStat ran in, UTC where it was set to
                                UseUTC; else the one here
              --dry-run         only say what would be imported
          -j, --json            what was imported, as one document

        """

    private static let export = """
        usage: ifcount export [IFACE...] [--json]

        All that is kept of these interfaces, or of all, as JSON, one document on a
        line. The first says what this is: {"format":"ifcount-export","version":1,...}.
        Then one for each interface, with its reading and events as io.ifcount.Get and
        io.ifcount.Events answer them (the last 50,000 events), and with the rows of
        io.ifcount.GetHistory for each quarter of an hour that has bytes or gaps.
        Counting goes on meanwhile: a later row may be newer than the reading.

        options:
          -j, --json  as without it: there is no other form

        """

    private static let call = """
        usage: ifcount call METHOD [JSON] [--more]

        Calls a Varlink method of the daemon and prints the reply's parameters.
          ifcount call io.ifcount.Get '{"interface":"eth0"}'
          ifcount call io.ifcount.Watch --more
          ifcount call org.varlink.service.GetInfo
        An error goes to standard error with its parameters; exit status 1, or 3 for
        io.ifcount.NoSuchInterface.

        options:
          --more  ask for a stream, and print each reply as it comes

        """
}
