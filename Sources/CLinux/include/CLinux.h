/*
 * Linux interfaces that the Glibc module leaves out: epoll(7), timerfd_create(2), signalfd(2), and the
 * macros that Swift cannot import.
 */
#ifndef CLINUX_H
#define CLINUX_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The program's arguments as the kernel gave them, its name first. */
struct ifc_arguments {
    int count;
    char *_Nullable const *_Nullable words;
};
struct ifc_arguments ifc_arguments(void);

/* accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC; −1 and errno on failure. */
int ifc_accept(int listener);

/* The user id of who connected to a socket of the local machine (unix(7), SO_PEERCRED); −1 and errno on failure. */
int64_t ifc_peer_user(int socket);

/*
 * Starts a program that is looked for in PATH (posix_spawnp(3)): standard input is /dev/null, standard output `output`,
 * the rest is this process's own. `arguments` ends with NULL. The process id; −1 and errno on failure, ENOENT when there
 * is no such program.
 */
int ifc_spawn(char *_Nullable const *_Nonnull arguments, int output);

/*
 * Gives the pages of programs and libraries back that are mapped from their files and never written (madvise(2),
 * MADV_DONTNEED). Those that are needed again are mapped again from the page cache.
 */
void ifc_release_file_pages(void);

#endif
