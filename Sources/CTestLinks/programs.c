#include "CTestLinks.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int describe(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const int fds[3])
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0 && fds[0] == -1)
        error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int at = 0; at < 3 && error == 0; at++)
        if (fds[at] >= 0)
            error = posix_spawn_file_actions_adddup2(actions, fds[at], at);
    return error;
}

int ifct_spawn(const struct ifct_program *program)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return -error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -error;
    }
    const int fds[3] = {program->input, program->output, program->errors};
    pid_t pid = 0;
    error = describe(&actions, &attributes, fds);
    if (error == 0)
        error = (program->search ? posix_spawnp : posix_spawn)(&pid, program->path, &actions, &attributes,
            program->arguments, program->environment == NULL ? environ : program->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error != 0 ? -error : pid;
}

int ifct_pidfd(int pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : fd;
}

int ifct_reap(int pid)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(pid, &status, WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return -errno;
    if (ended == 0)
        return -EAGAIN;
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

char *const *ifct_environment(void) { return environ; }

static sigset_t interrupts(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

int ifct_hold_interrupts(void)
{
    sigset_t set = interrupts();
    return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int ifct_wait_interrupt(int milliseconds)
{
    sigset_t set = interrupts();
    struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int number = sigtimedwait(&set, NULL, &timeout);
    return number < 0 ? 0 : number;
}
