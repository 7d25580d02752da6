/*
 * Test support: real links in a private network namespace.
 *
 * Every function answers 0 or more, or a negative error number. Those on links act in the network namespace of
 * the calling thread. None keeps a pointer it was given.
 */
#ifndef CTESTLINKS_H
#define CTESTLINKS_H

#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/* ---- namespaces: unshare(2), setns(2), user_namespaces(7) ---- */

/* Gives the calling thread a network namespace of its own, with lo up. */
int ifct_unshare_net(void);
/* The same by way of a user namespace in which the caller keeps its ids. The process must have one thread. */
int ifct_unshare_user_net(void);
/* Whether ifct_unshare_net would succeed; tried on a thread that ends at once. */
int ifct_can_unshare_net(void);
/* A descriptor of the calling thread's network namespace. */
int ifct_namespace_open(void);
/* A descriptor of a new network namespace; the calling thread stays where it is. */
int ifct_namespace_new(void);
/* Puts the calling thread into a network namespace. */
int ifct_namespace_enter(int fd);
/* A pipe that programs started later do not inherit: read end, write end (pipe2(2)). */
int ifct_pipe(int ends[_Nonnull 2]);
/* The calling thread's id, gettid(2). */
int ifct_thread(void);
/* Starts a detached thread that calls `body` with `context`. */
int ifct_thread_start(void (*body)(void *context), void *context);

/* ---- links: rtnetlink(7) ---- */

int ifct_link_index(const char *name);
/* Whether a link has this index. */
bool ifct_link_exists(int index);
int ifct_link_add(const char *name, const char *kind);
int ifct_link_add_many(const char *prefix, const char *kind, unsigned count);
/* Deletes all that ifct_link_add_many has made, at once. */
int ifct_link_delete_many(void);
int ifct_link_add_veth(const char *name, const char *peer);
int ifct_link_delete(const char *name);
int ifct_link_rename(const char *name, const char *new_name);
int ifct_link_set_up(const char *name, bool up);
int ifct_link_set_mtu(const char *name, uint32_t mtu);
/* Changes a link's MTU `count` times, rounded up to whole batches, as fast as the kernel takes it: an event for each. */
int ifct_link_flood(const char *name, uint32_t mtu, unsigned count);
/* Puts a link under a bridge; an empty `master` takes it out again. */
int ifct_link_set_master(const char *name, const char *master);
int ifct_link_move(const char *name, int namespace_fd);
/* Adds an IPv4 address, in host byte order, with a route to its /24 (once the link is up). */
int ifct_link_add_address(const char *name, uint32_t address);
/* Stops the kernel from sending packets of its own over IPv6; call before the link goes up. */
int ifct_link_silence_ipv6(const char *name);
/* Stops ARP on an Ethernet link. */
int ifct_link_silence_arp(const char *name);

/*
 * Waits, for at most two seconds, until the kernel says that a link is operational (IF_OPER_UP). A veth gets there
 * by a work queue after both ends are up, and drops what is sent before without a word. A tun never does.
 */
int ifct_link_await_carrier(const char *name);
/* Sends one Ethernet frame, its header included, through a link as it is (packet(7)). */
int ifct_link_send(const char *name, const void *frame, size_t size);

/* ---- tunnels: Documentation/networking/tuntap.rst ---- */

/* A descriptor of a new tun or tap device; close(2) destroys the link. `index` 0 lets the kernel choose. */
int ifct_tun_open(const char *name, bool tap, int index);
/* The Ethernet address of a tap. */
int ifct_tun_hardware_address(int fd, uint8_t address[_Nonnull 6]);
/* A UDP socket bound to the link and to `address`, port 9, that keeps next to nothing of what it receives. */
int ifct_udp_open(const char *name, uint32_t address);
/* Sends `size` bytes of payload to port 9 of `address`. */
int ifct_udp_send(int fd, uint32_t address, const void *payload, size_t size);

/*
 * Sends a request to a TCP port of this host's loopback, and takes what comes back until the other side closes, for at
 * most two seconds between two pieces. Answers how many bytes came; -EMSGSIZE when there is no room for all.
 */
ssize_t ifct_tcp_ask(uint16_t port, const void *request, size_t request_size, void *answer, size_t room);

/* ---- programs: posix_spawn(3), pidfd_open(2) ---- */

/*
 * What to start. A descriptor of -1 is /dev/null for stdin, and inherited for the others; -2 inherits stdin too.
 * `search` looks for it along PATH. `environment` may be NULL: the caller's.
 */
struct ifct_program {
    const char *path;
    bool search;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nullable environment;
    int input, output, errors;
};
/* Starts a program and answers its pid. */
int ifct_spawn(const struct ifct_program *program);
/* A descriptor that becomes readable when the process ends. */
int ifct_pidfd(int pid);
/* The status of a process that has ended, reaped: exit code, or 256 + signal. -EAGAIN while it runs. */
int ifct_reap(int pid);
/* The calling process's environment. */
char *_Nullable const *_Nonnull ifct_environment(void);
/* Blocks SIGINT and SIGTERM for the calling thread; programs started later have them unblocked. */
int ifct_hold_interrupts(void);
/* Waits for a held signal for at most `milliseconds`: its number, or 0. */
int ifct_wait_interrupt(int milliseconds);

/* ---- faults: seccomp_unotify(2) ---- */

/* A system call that waits to be allowed. */
struct ifct_call {
    uint64_t id;
    int number;
    uint64_t arguments[6];
};

/* Newer machines lack epoll_wait and have the more general call only. */
#ifdef SYS_epoll_wait
static const int ifct_epoll_wait_number = SYS_epoll_wait;
#else
static const int ifct_epoll_wait_number = SYS_epoll_pwait;
#endif
/* Whether the kernel lets system calls be supervised. */
int ifct_can_supervise(void);
/*
 * Starts a program that asks before each of the given system calls, 32 at most, and answers its pid. `supervise` is
 * called before it starts, with a descriptor that is from then on the caller's: somebody has to answer there.
 */
int ifct_spawn_supervised(const struct ifct_program *program, const int *calls, size_t count,
    void (*supervise)(void *context, int listener), void *context);
/* Waits for the next system call that is asked for: 1, or 0 when nobody is left who could ask. */
int ifct_call_next(int listener, struct ifct_call *call);
/* Allows a system call with an error of 0, or lets it fail with this error without having been made. */
int ifct_call_answer(int listener, uint64_t id, int error);

#pragma clang assume_nonnull end

#endif
