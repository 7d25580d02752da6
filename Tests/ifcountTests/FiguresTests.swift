import Testing
import Wire

@testable import ifcount

@Suite struct FiguresTests {
    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_524, "1023.9 KiB"),
        (1_048_525, "1.0 MiB"), (1_048_576, "1.0 MiB"), (171_124_882, "163.2 MiB"), (Int.max, "8.0 EiB"),
        (-2048, "-2.0 KiB"), (Int.min, "-8.0 EiB"),
    ])
    func writesBytes(_ count: Int, _ text: String) {
        #expect(Figures.bytes(count) == text)
    }

    @Test(arguments: [(2047, "1.9 KiB"), (1_048_575, "1023.9 KiB"), (1023, "1023 B"), (Int.max, "7.9 EiB")])
    func cutsWhatMustNotBeAboveTheTruth(_ count: Int, _ text: String) {
        #expect(Figures.bytes(count, roundedDown: true) == text)
    }

    @Test(arguments: [
        (0, "0 bit/s"), (124, "992 bit/s"), (125, "1.0 kbit/s"), (1_550_000, "12.4 Mbit/s"),
        (124_994, "1000.0 kbit/s"), (125_000_000, "1.0 Gbit/s"), (Int.max, "9.2 Ebit/s"),
    ])
    func writesRates(_ bytesPerSecond: Int, _ text: String) {
        // 999,952 bit/s would read 1000.0 kbit/s, so it reads 1.0 Mbit/s.
        #expect(Figures.rate(bytesPerSecond) == (text == "1000.0 kbit/s" ? "1.0 Mbit/s" : text))
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (12_712_345, "12,712,345"), (100_000, "100,000"), (-1234, "-1,234"),
        (Int.max, "9,223,372,036,854,775,807"), (Int.min, "-9,223,372,036,854,775,808"),
    ])
    func partsThousands(_ number: Int, _ text: String) {
        #expect(Figures.thousands(number) == text)
    }

    @Test(arguments: [
        (171_124_882, 171_124_882, "≈ 163.2 MiB", "~ 163.2 MiB", "nothing missing"),
        (2047, 4095, "≥ 1.9 KiB", ">= 1.9 KiB", "at most 4,095"),
        (2047, nil, "≥ 1.9 KiB", ">= 1.9 KiB", "no upper bound"),
    ])
    func saysWhatATotalIs(_ bytes: Int, _ most: Int?, _ unicode: String, _ ascii: String, _ bound: String) {
        let amount = Amount(bytes: bytes, atMost: most, packets: 0)
        #expect(Figures.total(amount, .plain) == unicode)
        #expect(Figures.total(amount, Fixture.ascii) == ascii)
        #expect(Figures.bound(amount) == bound)
    }

    @Test(arguments: [
        (0, "0 s"), (500_000, "0.5 s"), (12_300_000, "12 s"), (200_000_000, "3 min 20 s"), (7_500_000_000, "2 h 5 min"),
        (273_600_000_000, "3 d 4 h"),
    ])
    func writesDurations(_ microseconds: Int, _ text: String) {
        #expect(Figures.duration(microseconds) == text)
    }
}
