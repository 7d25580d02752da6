#include "CLinux.h"

#include <link.h>
#include <sys/mman.h>

_Static_assert(sizeof(struct signalfd_siginfo) == 128, "signalfd(2) reads whole records of 128 bytes");

static struct ifc_arguments arguments;

/* The C library hands main's arguments to constructors, too (glibc, csu/libc-start.c). */
__attribute__((constructor)) static void keep_arguments(int count, char **words) {
    arguments = (struct ifc_arguments){count, words};
}

struct ifc_arguments ifc_arguments(void) { return arguments; }

int ifc_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int64_t ifc_peer_user(int socket) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (int64_t)peer.uid : -1;
}

int ifc_spawn(char *const *arguments, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t pipe;
    pid_t process = -1;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    errno = posix_spawn_file_actions_init(&actions);
    if (errno != 0) return -1;
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        /* A signal that is ignored here would be ignored there, too, and a broken pipe end nothing. */
        error = posix_spawnattr_setsigdefault(&attributes, &pipe);
        if (error == 0) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
        if (error == 0) error = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    errno = error;
    return error == 0 ? process : -1;
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
