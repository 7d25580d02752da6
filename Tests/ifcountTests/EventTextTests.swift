import Testing
import Wire

@testable import ifcount

@Suite struct EventTextTests {
    @Test(arguments: [
        (Fixture.event(.created), "created (nothing missing)"),
        (Fixture.event(.recreated), "recreated (nothing missing)"),
        (
            Fixture.event(.recreated, cause: "daemon-away", gapped: true),
            "recreated, something may be missing: daemon away"
        ),
        (Fixture.event(.recreated, gapped: true), "recreated, something may be missing"),
        (Fixture.event(.arrived), "arrived from another namespace; counted from here"),
        (Fixture.event(.returned), "back from another namespace (nothing missing)"),
        (Fixture.event(.reset, gapped: true), "counters began again, something may be missing"),
        (Fixture.event(.renamed, previous: "tun3"), "renamed, it was tun3 (nothing missing)"),
        (Fixture.event(.renamed, "tun3", previous: "utun0"), "renamed to tun3 (nothing missing)"),
        (Fixture.event(.removed), "removed (nothing missing)"),
        (Fixture.event(.departed), "moved to another namespace (nothing missing)"),
        (Fixture.event(.gap, cause: "new-cause", gapped: true), "something may be missing: new cause"),
        (Fixture.event(.suspect), "a reading was set aside: no link is that fast"),
        (Fixture.event(.changed, cause: "no-carrier"), "now no-carrier"),
    ])
    func tellsWhatHappened(_ event: Event, _ words: String) {
        #expect(EventText.words(event, under: "utun0") == words)
    }

    @Test func tellsAGapAsTheCauseOfWhatCameBefore() {
        let events = [
            Fixture.event(.recreated, gapped: true), Fixture.event(.gap, cause: "unseen-birth", gapped: true),
            Fixture.event(.gap, cause: "unseen-end", gapped: true),
            Fixture.event(.gap, "wg0", cause: "unseen-end", gapped: true),
        ]
        #expect(
            EventText.folded(events).map { EventText.words($0, under: "utun0") } == [
                "recreated, something may be missing: its beginning was not seen",
                "something may be missing: its end was not seen",
                "something may be missing: its end was not seen",
            ]
        )
        let separate = [Fixture.event(.recreated), Fixture.event(.gap, cause: "unseen-end", gapped: true)]
        #expect(EventText.folded(separate) == separate)
    }
}
