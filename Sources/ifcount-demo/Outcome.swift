internal import TestLinks

/// What truly went through the tunnel.
struct Outcome {
    var carried = Carried()
    var connections = 0

    static let interface = "utun0"

    /// For people.
    var sentence: String {
        let times = "\(connections) connection\(connections == 1 ? "" : "s")"
        return
            "sent: rx \(grouped(carried.rx)) bytes, tx \(grouped(carried.tx)) bytes on \(Self.interface) over \(times)"
    }

    /// For programs.
    var json: String {
        #"{"interface":"\#(Self.interface)","rx":\#(carried.rx),"tx":\#(carried.tx),"connections":\#(connections)}"#
    }

    private func grouped(_ number: UInt64) -> String {
        let digits = String(number)
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }
}
