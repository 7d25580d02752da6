/// The texts of `ifcount help`; each fits into 80 columns.
enum Help {
    /// The text for a command, or for all of them.
    static func text(_ topic: String?, _ style: Style) -> String {
        switch topic {
        case "list": list(style)
        case "show": show
        case "watch": watch
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
          call METHOD [JSON]  ask the daemon anything, in JSON
          help [COMMAND]    this text, or a command's

        options:
          -j, --json        print the reply as JSON, one document on a line
              --socket PATH the daemon's socket, before IFCOUNT_SOCKET
              --no-color    no colour, as with NO_COLOR
          -h, --help        help
              --version     the version
              --            what follows is no option, as for an interface "-x"

        Without a daemon, list, show and watch read the kernel and count from now.

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
