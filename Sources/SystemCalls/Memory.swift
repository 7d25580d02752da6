internal import CLinux

/// The process's resident memory.
package enum Memory {
    /// Gives back the pages of code that were needed once, at the start or for a client: most of what is resident of a small
    /// program. What is needed again comes from the page cache, at a fault each.
    package static func releaseCode() { ifc_release_file_pages() }
}
