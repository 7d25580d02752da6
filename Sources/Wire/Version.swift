/// The version of all programs, as `--version` and `GetInfo` tell it.
public let version = "0.1.0"
