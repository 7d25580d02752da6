#include "CTestLinks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ifct_unshare_net(void)
{
    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    return ifct_link_set_up("lo", true);
}

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = write(fd, text, strlen(text)) < 0 ? -errno : 0;
    close(fd);
    return result;
}

int ifct_unshare_user_net(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof(users), "%u %u 1", geteuid(), geteuid());
    snprintf(groups, sizeof(groups), "%u %u 1", getegid(), getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return -errno;
    int result = write_file("/proc/self/uid_map", users);
    if (result == 0)
        result = write_file("/proc/self/setgroups", "deny");
    if (result == 0)
        result = write_file("/proc/self/gid_map", groups);
    return result < 0 ? result : ifct_link_set_up("lo", true);
}

static void *try_unshare(void *result)
{
    *(int *)result = ifct_unshare_net();
    return NULL;
}

int ifct_can_unshare_net(void)
{
    pthread_t thread;
    int result = 0;
    int error = pthread_create(&thread, NULL, try_unshare, &result);
    if (error != 0)
        return -error;
    pthread_join(thread, NULL);
    return result;
}

int ifct_namespace_open(void)
{
    int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int ifct_namespace_new(void)
{
    int here = ifct_namespace_open();
    if (here < 0)
        return here;
    int there = ifct_unshare_net();
    if (there == 0)
        there = ifct_namespace_open();
    /* A thread in the wrong namespace would act on the wrong links. */
    if (setns(here, CLONE_NEWNET) < 0)
        abort();
    close(here);
    return there;
}

int ifct_namespace_enter(int fd) { return setns(fd, CLONE_NEWNET) < 0 ? -errno : 0; }

int ifct_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

int ifct_thread(void) { return gettid(); }

struct start {
    void (*body)(void *context);
    void *context;
};

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

int ifct_thread_start(void (*body)(void *context), void *context)
{
    struct start *start = malloc(sizeof(*start));
    if (start == NULL)
        return -ENOMEM;
    *start = (struct start){body, context};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run, start);
    if (error != 0) {
        free(start);
        return -error;
    }
    pthread_detach(thread);
    return 0;
}
