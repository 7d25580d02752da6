#include "CNamespace.h"

#include <errno.h>
#include <sched.h>

int cns_unshare_network(void) { return unshare(CLONE_NEWNET) < 0 ? -errno : 0; }
