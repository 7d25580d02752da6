internal import CFuzzer
internal import Glibc
internal import Options

/// What a person or a script may write behind the command's name: each is understood, or refused with a sentence.
@main
struct Arguments {
    static func main() {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, lookAt))
    }

    fileprivate static func look(_ bytes: [UInt8]) {
        let arguments = bytes.split(separator: 0, omittingEmptySubsequences: false)
        do throws(UsageError) {
            _ = try Invocation(arguments.map { Program.text(Array($0)) })
        } catch {
            precondition(!error.description.isEmpty, "a mistake has words")
            let words = Style(isColored: false, isUnicode: true).safe(error.description)
            precondition(
                words.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 },
                "they are safe to print"
            )
        }
    }
}

/// What libFuzzer calls; a library of it that is linked whole wants this name.
@_cdecl("LLVMFuzzerTestOneInput")
func lookAt(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
    unsafe Arguments.look(Array(UnsafeBufferPointer(start: bytes, count: length)))
    return 0
}
