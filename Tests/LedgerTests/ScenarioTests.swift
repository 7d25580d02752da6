import FoundationEssentials
import Testing

@testable import ifcount_replay

/// Every scenario file of Tests/Cases, against what it expects.
struct ScenarioTests {
    /// What a scenario file expects of one interface. What it leaves out it leaves open.
    struct Expectation: Decodable {
        var rx: UInt64
        var tx: UInt64
        var resets: Int
        var suspect: Int
        var gaps: Int?
        var quality: String?
    }

    private struct File: Decodable {
        var title: String
        var expect: [String: Expectation]
    }

    @Test(arguments: Cases.files(endingWith: ".json").filter { !$0.hasPrefix("C26") })
    func `a scenario comes to what it expects`(name: String) throws {
        let bytes = try Cases.read(name)
        let file = try JSONDecoder().decode(File.self, from: Data(bytes))
        let answer = try Answer.scenario(bytes)
        #expect(Set(answer.keys) == Set(file.expect.keys))
        for (interface, expected) in file.expect {
            let found = try #require(answer[interface], "\(interface)")
            #expect(found.rx == expected.rx, "\(file.title): rx of \(interface)")
            #expect(found.tx == expected.tx, "\(file.title): tx of \(interface)")
            #expect(found.resets == expected.resets, "\(file.title): resets of \(interface)")
            #expect(found.suspect == expected.suspect, "\(file.title): suspect readings of \(interface)")
            if let gaps = expected.gaps { #expect(found.gaps == gaps, "\(file.title): gaps of \(interface)") }
            if let quality = expected.quality { #expect(found.quality == quality, "\(file.title): \(interface)") }
            // The label and the bounds say the same.
            let isBounded = found.rxAtMost == found.rx && found.txAtMost == found.tx
            #expect((found.quality == "continuous") == isBounded, "\(file.title): bounds of \(interface)")
        }
    }

    @Test(arguments: Cases.files(endingWith: ".json").filter { $0.hasPrefix("C26") })
    func `a damaged file is refused with a reason`(name: String) throws {
        let error = #expect(throws: ScenarioError.self) { try Answer.scenario(try Cases.read(name)) }
        #expect(error?.description.hasPrefix("it is no scenario: it is not JSON") == true)
    }

    @Test(arguments: [
        (#"{"steps":[]}"#, "it has no steps"),
        (#"{}"#, "it is no scenario: “steps” is missing"),
        (#"{"steps":[{"t":0,"links":[{"i":1,"n":"a","rx":-1,"tx":0}]}]}"#, "no whole number"),
        (#"{"steps":[{"t":0,"links":[{"i":1,"n":"a","rx":0,"tx":0,"w":16}]}]}"#, "step 1: w is 16"),
        (#"{"steps":[{"t":0,"links":[{"i":0,"n":"a","rx":0,"tx":0}]}]}"#, "step 1: i is 0"),
        (#"{"steps":[{"t":0,"links":[{"i":1,"n":"sixteen-bytes-xx","rx":0,"tx":0}]}]}"#, "1 to 15 bytes"),
        (#"{"steps":[{"t":0,"links":[],"ev":["bang 7"]}]}"#, ""),
        (#"{"steps":[{"t":0,"links":[{"i":7,"n":"a","rx":0,"tx":0}],"ev":["bang 7"]}]}"#, "event “bang 7” is unknown"),
        (#"{"steps":[{"t":0,"links":[],"ev":["new"]}]}"#, "names no link"),
        (#"{"steps":[{"t":-1,"links":[]}]}"#, "t is -1.0"),
    ])
    func `a scenario that cannot be replayed says why`(text: String, reason: String) {
        if reason.isEmpty {
            // An event of a link that nothing names is of no account: it came and went between two dumps.
            #expect((try? Answer.scenario(Array(text.utf8)))?.isEmpty == true)
            return
        }
        let error = #expect(throws: ScenarioError.self) { try Answer.scenario(Array(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `an answer is one line with sorted keys and its nulls`() throws {
        let answer = try Answer.scenario(try Cases.read("S02_closing_counters_lower.json"))
        #expect(
            try Answer.line(answer)
                == #"{"veth0":{"gaps":1,"quality":"gapped","resets":0,"rx":516,"rxAtMost":null,"suspect":0,"tx":516,"#
                + #""txAtMost":516}}"#
        )
    }
}

/// The files of Tests/Cases.
enum Cases {
    private static let directory =
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Cases"

    static func files(endingWith suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted()
    }

    static func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
    }
}
