import Testing
import Wire

/// Messages out of bytes that come in any pieces.
@Suite
struct FrameBufferTests {
    @Test(arguments: 1...12)
    func `messages come out as they went in, whatever the pieces`(_ size: Int) throws {
        let bytes = Array("one\0\0three\0fo".utf8)
        var buffer = FrameBuffer(limit: 5)
        var messages: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            buffer.append(bytes[start..<min(start + size, bytes.count)])
            while let message = try buffer.next() { messages.append(String(decoding: message, as: UTF8.self)) }
            #expect(!buffer.hasMessage)
        }
        #expect(messages == ["one", "", "three"])
        // Nothing is kept but the beginning of the next.
        #expect(buffer.isPartial && buffer.count == 2)
        buffer.append([0])
        #expect(buffer.hasMessage)
        #expect(try buffer.next() == Array("fo".utf8))
        #expect(!buffer.isPartial && buffer.count == 0)
    }

    @Test func `nothing is kept of a last message that was taken, before the next is asked for`() throws {
        var buffer = FrameBuffer(limit: 100)
        buffer.append(Array("a\0b\0".utf8))
        #expect(try buffer.next() == Array("a".utf8))
        #expect(buffer.isPartial)
        #expect(try buffer.next() == Array("b".utf8))
        #expect(!buffer.isPartial && buffer.count == 0)
    }

    @Test func `a message as long as the limit passes, and one byte more does not`() throws {
        var buffer = FrameBuffer(limit: 3)
        buffer.append(Array("abc".utf8))
        #expect(try buffer.next() == nil)
        buffer.append([0])
        #expect(try buffer.next() == Array("abc".utf8))
        buffer.append(Array("abc\0abcd\0".utf8))
        #expect(try buffer.next() == Array("abc".utf8))
        #expect(throws: FrameBuffer.TooLong.self) { try buffer.next() }
        // Also when its end has not come.
        buffer = FrameBuffer(limit: 3)
        buffer.append(Array("abc\0abcd".utf8))
        #expect(try buffer.next() == Array("abc".utf8))
        #expect(throws: FrameBuffer.TooLong.self) { try buffer.next() }
    }
}
