// swift-tools-version: 6.2

import PackageDescription

/// Every Swift target is held to the same rules, and a warning is an error.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let strictC: [CSetting] = [
    .define("_GNU_SOURCE"),
    .enableWarning("all"),
    .enableWarning("extra"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "ifcount",
    products: [
        .executable(name: "ifcount", targets: ["ifcount"]),
        .executable(name: "ifcountd", targets: ["ifcountd"]),
    ],
    targets: [
        // The way of a byte: kernel, readings, rules, wire.
        .target(name: "CLinkStats", cSettings: strictC, linkerSettings: [.linkedLibrary("mnl")]),
        .target(name: "LinkStats", dependencies: ["CLinkStats", "Ledger", "SystemCalls"], swiftSettings: strict),
        .target(name: "Ledger", swiftSettings: strict),
        .systemLibrary(name: "CSQLite"),
        .target(name: "History", dependencies: ["CSQLite", "Ledger", "SystemCalls"], swiftSettings: strict),
        .target(name: "Wire", swiftSettings: strict),
        .target(
            name: "Daemon",
            dependencies: ["History", "LinkStats", "Ledger", "Wire", "SystemCalls"],
            swiftSettings: strict
        ),
        .target(name: "IfcountClient", dependencies: ["Wire", "SystemCalls"], swiftSettings: strict),

        // The ground everything stands on.
        .target(name: "CLinux", cSettings: strictC),
        .target(name: "SystemCalls", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "Options", swiftSettings: strict),

        // The programs.
        .executableTarget(
            name: "ifcountd",
            dependencies: ["Daemon", "LinkStats", "Options", "SystemCalls", "Wire"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ifcount",
            dependencies: [
                "Daemon", "History", "IfcountClient", "Ledger", "LinkStats", "Options", "SystemCalls", "Wire",
            ],
            swiftSettings: strict
        ),

        // Test support, built beside the programs and never installed.
        .executableTarget(
            name: "ifcount-replay",
            dependencies: ["Ledger", "LinkStats", "Options", "SystemCalls"],
            swiftSettings: strict
        ),
        .target(name: "CTestLinks", cSettings: strictC, linkerSettings: [.linkedLibrary("mnl")]),
        .target(name: "TestLinks", dependencies: ["CTestLinks", "SystemCalls"], swiftSettings: strict),
        .executableTarget(
            name: "ifcount-demo",
            dependencies: ["Options", "TestLinks", "SystemCalls"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ifcount-churn",
            dependencies: ["IfcountClient", "Options", "SystemCalls", "TestLinks", "Wire"],
            swiftSettings: strict
        ),

        // Tests, by the room they look into.
        .testTarget(name: "OptionsTests", dependencies: ["Options"]),
        .testTarget(
            name: "CLinkStatsTests",
            dependencies: ["CLinkStats", "SystemCalls", "TestLinks"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TestLinksTests",
            dependencies: ["TestLinks", "SystemCalls", "ifcount-demo"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LedgerTests",
            dependencies: ["Ledger", "TestLinks", "ifcount-replay"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinkStatsTests",
            dependencies: ["LinkStats", "Ledger", "TestLinks"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HistoryTests",
            dependencies: ["History", "Ledger", "SystemCalls", "TestLinks"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "Daemon", "History", "LinkStats", "SystemCalls", "TestLinks", "Wire", "ifcount", "ifcountd",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ifcountTests",
            dependencies: ["ifcount", "IfcountClient", "Options", "SystemCalls", "Wire"]
        ),
    ]
)

// Fuzzers need libFuzzer, which only a build for fuzzing links: `make fuzz`.
if Context.environment["IFCOUNT_FUZZ"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "fuzz/driver", cSettings: strictC),
        .executableTarget(
            name: "fuzz-requests",
            dependencies: ["CFuzzer", "Daemon", "LinkStats", "SystemCalls", "Wire"],
            path: "fuzz/requests",
            swiftSettings: strict
        ),
        // A program cannot be linked into another, so the command's sources are part of this one.
        .executableTarget(
            name: "fuzz-arguments",
            dependencies: [
                "CFuzzer", "Daemon", "History", "IfcountClient", "Ledger", "LinkStats", "Options", "SystemCalls",
                "Wire",
            ],
            path: "fuzz/arguments",
            exclude: ["command/Main.swift"],
            swiftSettings: strict
        ),
    ]
}
