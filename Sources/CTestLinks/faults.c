#include "CTestLinks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "the audit architecture of this machine is not known here"
#endif

/* A filter is a number of comparisons that each may jump over those that follow. */
#define MOST_CALLS 32

static int seccomp(unsigned operation, unsigned flags, void *argument)
{
    return (int)syscall(SYS_seccomp, operation, flags, argument);
}

int ifct_can_supervise(void)
{
    uint32_t action = SECCOMP_RET_USER_NOTIF;
    return seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0 ? -errno : 0;
}

/* Lets the calling thread, and what it starts, ask for the given calls; answers whom they ask. */
static int install(const int *calls, size_t count)
{
    struct sock_filter code[2 * MOST_CALLS + 4];
    size_t length = 0;
    if (count > MOST_CALLS)
        return -E2BIG;
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 0, (uint8_t)(2 * count + 1));
    code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t at = 0; at < count; at++) {
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[at], 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {(unsigned short)length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    int listener = seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    return listener < 0 ? -errno : listener;
}

struct supervised {
    const struct ifct_program *program;
    const int *calls;
    size_t count;
    int listener;
    int pid;
    sem_t installed, supervised;
};

static void *spawn_filtered(void *argument)
{
    struct supervised *this = argument;
    this->listener = install(this->calls, this->count);
    sem_post(&this->installed);
    /* From here on this thread, too, may wait for whoever supervises. */
    sem_wait(&this->supervised);
    if (this->listener >= 0)
        this->pid = ifct_spawn(this->program);
    return NULL;
}

int ifct_spawn_supervised(const struct ifct_program *program, const int *calls, size_t count,
    void (*supervise)(void *context, int listener), void *context)
{
    struct supervised this = {.program = program, .calls = calls, .count = count};
    sem_init(&this.installed, 0, 0);
    sem_init(&this.supervised, 0, 0);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, spawn_filtered, &this);
    if (error == 0) {
        sem_wait(&this.installed);
        if (this.listener >= 0)
            supervise(context, this.listener);
        sem_post(&this.supervised);
        pthread_join(thread, NULL);
    }
    sem_destroy(&this.installed);
    sem_destroy(&this.supervised);
    if (error != 0)
        return -error;
    return this.listener < 0 ? this.listener : this.pid;
}

int ifct_call_next(int listener, struct ifct_call *call)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    struct seccomp_notif request;
    for (;;) {
        if (poll(&ready, 1, -1) < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (ready.revents & POLLIN) {
            memset(&request, 0, sizeof request);
            if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0)
                break;
            /* Who asked was ended meanwhile. */
            if (errno != ENOENT && errno != EINTR)
                return -errno;
        } else if (ready.revents != 0) {
            return 0;
        }
    }
    *call = (struct ifct_call){.id = request.id, .number = request.data.nr};
    memcpy(call->arguments, request.data.args, sizeof call->arguments);
    return 1;
}

int ifct_call_answer(int listener, uint64_t id, int error)
{
    struct seccomp_notif_resp response = {
        .id = id, .error = -error, .flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 || errno == ENOENT)
        return 0;
    return -errno;
}
