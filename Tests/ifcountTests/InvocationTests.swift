import Options
import SystemCalls
import Testing

@testable import Wire
@testable import ifcount

@Suite struct InvocationTests {
    @Test(
        arguments: [
            ([], .list(all: false)),
            (["list", "--all"], .list(all: true)),
            (["show", "a", "b"], .show(["a", "b"])),
            (["show", "--", "-x"], .show(["-x"])),
            (["show", #"\xFF\x41\x5Cx"#], .show([#"\xffA\x"#])),
            (["watch"], .watch([], intervalUSec: nil, duration: nil)),
            (["watch", "a", "a", "-i", "500ms"], .watch(["a"], intervalUSec: 500_000, duration: nil)),
            (["watch", "--for=2m"], .watch([], intervalUSec: nil, duration: 120_000_000)),
            (["history", "a"], .history(HistoryCommand(interface: "a"))),
            (
                [
                    "history", #"\xFF"#, "--by=month", "--month-starts", "15", "--since", "yesterday", "--until=7d",
                    "-n5",
                ],
                .history(
                    HistoryCommand(
                        interface: #"\xff"#,
                        resolution: .month,
                        since: .day(-1),
                        until: .ago(604_800_000_000),
                        limit: 5,
                        monthStarts: 15
                    )
                )
            ),
            (
                ["history", "a", "--timezone", "Europe/Berlin", "--forecast"],
                .history(HistoryCommand(interface: "a", timezone: "Europe/Berlin", form: .table(forecast: true)))
            ),
            (["history", "a", "--csv"], .history(HistoryCommand(interface: "a", form: .csv))),
            (["history", "a", "-j"], .history(HistoryCommand(interface: "a", form: .json))),
            (["events"], .events(EventsCommand())),
            (
                ["events", "a", "-f", "-n", "3", "-j", "--since", "36h"],
                .events(
                    EventsCommand(interface: "a", since: .ago(129_600_000_000), limit: 3, follows: true, isJSON: true)
                )
            ),
            (["import", "vnstat"], .importing(ImportCommand())),
            (["import", "vnstat", "-", "-j"], .importing(ImportCommand(file: "-", isJSON: true))),
            (
                ["import", "vnstat", "f", "--interface", #"\xFF"#, "--timezone=Asia/Tokyo", "--dry-run"],
                .importing(ImportCommand(file: "f", interface: #"\xff"#, timezone: "Asia/Tokyo", isDry: true))
            ),
            (["export"], .export(ExportCommand(interfaces: []))),
            (["export", "b", "a", "b", "--json"], .export(ExportCommand(interfaces: ["b", "a"]))),
            (["call", "a.B"], .call(method: "a.B", parameters: .object([:]), more: false)),
            (
                ["call", "a.B", #"{"n":1}"#, "--more"],
                .call(method: "a.B", parameters: .object(["n": .integer(1)]), more: true)
            ),
            (["help"], .help(topic: nil)),
            (["help", "watch"], .help(topic: "watch")),
            (["watch", "-h"], .help(topic: "watch")),
            (["--help"], .help(topic: nil)),
            (["--version"], .version),
        ] as [([String], Invocation.Command)]
    )
    func understands(_ arguments: [String], _ command: Invocation.Command) throws {
        #expect(try Invocation(arguments).command == command)
    }

    @Test func takesTheOptionsOfAllCommands() throws {
        let invocation = try Invocation(["--socket", "/s", "list", "-j", "--no-color"])
        #expect(invocation.socket == "/s")
        #expect(invocation.isJSON)
        #expect(!invocation.wantsColor)
    }

    @Test(arguments: [
        (["wacth"], "unknown command 'wacth'; did you mean 'watch'?"),
        (["histroy"], "unknown command 'histroy'; did you mean 'history'?"),
        (["history"], "the interface whose history to show is missing"),
        (["history", "a", "b"], "'b' is one argument too many"),
        (
            ["history", "a", "--by", "monht"],
            "option '--by': 'monht' is none of quarter, hour, day, month, year; did you mean 'month'?"
        ),
        (["history", "a", "--limit", "0"], "option '--limit': '0' is no number from 1 to 100000"),
        (
            ["history", "a", "--month-starts", "32", "--by=month"],
            "option '--month-starts': '32' is no number from 1 to 31"
        ),
        (["history", "a", "--month-starts", "3"], "option '--month-starts': it needs '--by month' or '--by year'"),
        (["history", "a", "--json", "--csv"], "option '--csv': not together with '--json'"),
        (["history", "a", "--csv", "--forecast"], "option '--forecast': not together with '--csv'"),
        (
            ["history", "a", "--timezone", ":/etc/passwd"],
            "option '--timezone': no time zone ':/etc/passwd' here; names are those of the tz database, such as UTC"
        ),
        (["history", "a", "--follow"], "option '--follow' does not belong to 'history'"),
        (["show", "a", "--since", "7d"], "option '--since' does not belong to 'show'"),
        (["events", "a", "b"], "'b' is one argument too many"),
        (["events", "--timezone", "UTC"], "option '--timezone' does not belong to 'events'"),
        (["import"], "what to import from, 'vnstat', is missing"),
        (["import", "vnstt"], "unknown command 'import vnstt'; did you mean 'import vnstat'?"),
        (["import", "vnstat", "a", "b"], "'b' is one argument too many"),
        (["import", "vnstat", "--interval", "1s"], "option '--interval' does not belong to 'import'"),
        (
            ["import", "vnstat", "--timezone", "Mars"],
            "option '--timezone': no time zone 'Mars' here; names are those of the tz database, such as UTC"
        ),
        (["export", "--csv"], "option '--csv' does not belong to 'export'"),
        (["list", "--dry-run"], "option '--dry-run' does not belong to 'list'"),
        (["list", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["list", "eth0"], "'eth0' is one argument too many"),
        (["show"], "the interface to show is missing"),
        (["show", "a", "--all"], "option '--all' does not belong to 'show'"),
        (["watch", "--interval", "1ms"], "option '--interval': '1ms' is not between 100ms and 1h"),
        (["call"], "the method to call, such as io.ifcount.Get, is missing"),
        (["call", "a.B", "[1]"], #"'[1]' is no JSON object, such as '{"interface":"eth0"}'"#),
        (["call", "a.B", "{}", "x"], "'x' is one argument too many"),
        (["help", "lst"], "unknown command 'lst'; did you mean 'list'?"),
    ])
    func saysWhatIsWrong(_ arguments: [String], _ sentence: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(arguments) }
        #expect(error?.description == sentence)
    }

    @Test(arguments: [nil, "list", "show", "watch", "history", "events", "import", "export", "call"])
    func helpFitsAScreen(_ topic: String?) {
        let lines = Help.text(topic, Fixture.ascii).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.count <= 34)
        #expect(lines.last == "")
    }
}

@Suite struct PlaceTests {
    @Test(
        arguments: [
            ("/a", ["IFCOUNT_SOCKET": "/b"], false, "/a", true),
            ("unix:/a;mode=0666", [:], false, "/a", true),
            (nil, ["IFCOUNT_SOCKET": "unix:/b"], false, "/b", true),
            (
                nil, ["IFCOUNT_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/1"], false, "/run/user/1/ifcount/io.ifcount",
                false
            ),
            (nil, ["XDG_RUNTIME_DIR": "relative"], false, "/run/ifcount/io.ifcount", false),
            (nil, ["XDG_RUNTIME_DIR": "/run/user/1"], true, "/run/ifcount/io.ifcount", false),
            (nil, [:], false, "/run/ifcount/io.ifcount", false),
        ] as [(String?, [String: String], Bool, String, Bool)]
    )
    func findsTheSocket(
        _ option: String?,
        _ environment: [String: String],
        _ isRoot: Bool,
        _ path: String,
        _ isExplicit: Bool
    ) {
        let choice = SocketPath.resolve(option: option, environment: { environment[$0] }, isRoot: isRoot) { _ in false }
        #expect(choice == SocketPath(path: path, isExplicit: isExplicit))
    }

    @Test func prefersTheSystemsSocketWhereThereIsOne() {
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1"]
        let choice = SocketPath.resolve(option: nil, environment: { environment[$0] }, isRoot: false) {
            $0 == "/run/ifcount/io.ifcount"
        }
        #expect(choice == SocketPath(path: "/run/ifcount/io.ifcount", isExplicit: false))
        let daemon = SocketPath.resolveForDaemon(option: nil, environment: { environment[$0] }, isRoot: false)
        #expect(daemon?.path == "/run/user/1/ifcount/io.ifcount")
        #expect(SocketPath.resolveForDaemon(option: nil, environment: { _ in nil }, isRoot: false) == nil)
        #expect(
            SocketPath.resolveForDaemon(option: nil, environment: { _ in nil }, isRoot: true)?.path == SocketPath.system
        )
    }

    @Test(arguments: [
        (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false),
        (["LANG": "C", "LC_CTYPE": "en_US.UTF-8"], true), (["LC_ALL": "", "LANG": "en_US.UTF-8@x"], true),
        (["LANG": "de_DE"], false), ([:], false),
    ])
    func knowsTheCharacterSet(_ environment: [String: String], _ isUTF8: Bool) {
        #expect(ThisProcess.isUTF8 { environment[$0] } == isUTF8)
    }
}

@Suite struct DefaultRouteTests {
    private static let heading =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT                        \n"

    @Test(arguments: [
        ("", nil),
        ("eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", "eth0"),
        // The least metric wins, in whichever order they stand.
        (
            "wlan0\t00000000\t0100000A\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                + "eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", "eth0"
        ),
        // OpenVPN's halves lie over the default route.
        (
            "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
                + "tun0\t00000000\t0100000A\t0003\t0\t0\t50\t00000080\t0\t0\t0\n"
                + "tun0\t00000080\t0100000A\t0003\t0\t0\t50\t00000080\t0\t0\t0\n", "tun0"
        ),
        // A route that rejects leads nowhere, one that is down neither.
        ("lo\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n", nil),
        ("eth0\t00000000\t00000000\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", nil),
        ("eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", nil),
        ("eth0\t00000000\nnonsense\n\n\t\t\t\n", nil),
    ])
    func readsIPv4(_ rows: String, _ name: String?) {
        #expect(DefaultRoute.interface(ipv4: Array((Self.heading + rows).utf8)) == name)
    }

    @Test func escapesAHostileName() {
        let row = [0xFF] + Array("\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n".utf8)
        #expect(DefaultRoute.interface(ipv4: Array(Self.heading.utf8) + row) == #"\xff"#)
    }

    @Test func readsIPv6() {
        let none = String(repeating: "0", count: 32)
        func row(_ name: String, prefix: String = "00", metric: String, flags: String) -> String {
            "\(none) \(prefix) \(none) 00 fe800000000000000000000000000001 \(metric) 00000001 00000000 \(flags) \(name)\n"
        }
        let file =
            row("lo", metric: "ffffffff", flags: "00200200") + row("wlan0", metric: "00000400", flags: "00450003")
            + row("eth0", metric: "00000064", flags: "00450003")
            + row("sit0", prefix: "60", metric: "00000001", flags: "1")
        #expect(DefaultRoute.interface(ipv6: Array(file.utf8)) == "eth0")
        #expect(DefaultRoute.interface(ipv6: []) == nil)
    }
}
