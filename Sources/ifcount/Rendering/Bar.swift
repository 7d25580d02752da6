/// A horizontal bar beside a figure.
enum Bar {
    /// - Parameters:
    ///   - whole: the figure.
    ///   - light: the part of it that is drawn in a lighter shade, at the end.
    ///   - largest: the figure that fills the bar.
    ///   - columns: how long the bar is then.
    ///   - style: without UTF-8, the bar is made of `#`, and of `:` where it is lighter.
    /// - Returns: nothing only for 0; what is too small for one character shows as the thinnest there is.
    static func text(_ whole: Int, light: Int = 0, of largest: Int, columns: Int, _ style: Style) -> String {
        let steps = style.isUnicode ? 8 : 1
        let filled = cells(whole, largest, columns * steps)
        if whole <= 0 { return "" }
        if filled == 0 { return style.isUnicode ? "▏" : "." }
        let dark = cells(whole - max(min(light, whole), 0), largest, columns * steps)
        let blocks = style.isUnicode ? ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] : [""]
        let text = String(repeating: style.isUnicode ? "█" : "#", count: dark / steps) + blocks[dark % steps]
        if light <= 0 { return text }
        let rest = (filled + steps - 1) / steps - (dark + steps - 1) / steps
        return text + String(repeating: style.isUnicode ? "░" : ":", count: rest)
    }

    /// `number / largest` of `count`, rounded.
    private static func cells(_ number: Int, _ largest: Int, _ count: Int) -> Int {
        guard number > 0, largest > 0 else { return 0 }
        let (high, low) = min(number, largest).magnitude.multipliedFullWidth(by: count.magnitude)
        let (sum, carried) = low.addingReportingOverflow(largest.magnitude / 2)
        return Int(largest.magnitude.dividingFullWidth((high + (carried ? 1 : 0), sum)).quotient)
    }
}
