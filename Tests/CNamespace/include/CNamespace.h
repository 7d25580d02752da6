/* What tests need of sched.h and the Glibc module of Swift leaves out. */
#ifndef CNAMESPACE_H
#define CNAMESPACE_H

/* Puts the calling thread into a new network namespace (unshare(2), CLONE_NEWNET). Returns 0 or -errno. */
int cns_unshare_network(void);

#endif
