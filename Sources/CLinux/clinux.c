#include "CLinux.h"

_Static_assert(sizeof(struct signalfd_siginfo) == 128, "signalfd(2) reads whole records of 128 bytes");

int ifc_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
