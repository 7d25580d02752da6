@main struct Main { static func main() { print("Usage: ifcount-demo") } }
