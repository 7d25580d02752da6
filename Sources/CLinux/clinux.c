#include "CLinux.h"

#include <link.h>
#include <sys/mman.h>

_Static_assert(sizeof(struct signalfd_siginfo) == 128, "signalfd(2) reads whole records of 128 bytes");

int ifc_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static int release(struct dl_phdr_info *object, size_t size, void *page) {
    uintptr_t mask = ~(*(uintptr_t *)page - 1);
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        /* What can be written has been relocated, and cannot be read from the file again. */
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr + ~mask) & mask;
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & mask;
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void ifc_release_file_pages(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release, &page);
}
