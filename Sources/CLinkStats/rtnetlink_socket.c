#include "CLinkStats.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef NETLINK_GET_STRICT_CHK
#define NETLINK_GET_STRICT_CHK 12
#endif

/* A dump that the kernel does not answer within this time is given up. */
#define DUMP_TIMEOUT_SECONDS 2

static int bind_and_learn_port(int descriptor, bool subscribe, uint32_t *port) {
    /* Port 0 lets the kernel choose one, so that several sockets of a process do not collide. */
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = subscribe ? RTMGRP_LINK : 0};
    if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) < 0) return -errno;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return -errno;
    *port = address.nl_pid;
    return 0;
}

static int prepare_for_dumps(int descriptor) {
    struct timeval timeout = {.tv_sec = DUMP_TIMEOUT_SECONDS};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0) return -errno;
    /*
     * The kernel then refuses a filter it does not know, where it would else pass it over and send something that
     * was not asked for. Kernels before 4.20 lack the option and can do without.
     */
    int on = 1;
    (void)setsockopt(descriptor, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
    return 0;
}

int ifc_rtnl_open(bool subscribe, uint32_t *port) {
    int kind = SOCK_RAW | SOCK_CLOEXEC | (subscribe ? SOCK_NONBLOCK : 0);
    int descriptor = socket(AF_NETLINK, kind, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    int result = bind_and_learn_port(descriptor, subscribe, port);
    if (result == 0 && !subscribe) result = prepare_for_dumps(descriptor);
    if (result == 0) return descriptor;
    close(descriptor);
    return result;
}

int ifc_rtnl_set_receive_buffer(int descriptor, int bytes) {
    /* Only CAP_NET_ADMIN may go beyond net.core.rmem_max; for the others the kernel cuts it to that (socket(7)). */
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) < 0)
        return -errno;
    int granted = 0;
    socklen_t length = sizeof granted;
    if (getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &granted, &length) < 0) return -errno;
    return granted;
}

static int send_request(int descriptor, const struct nlmsghdr *request) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(descriptor, request, request->nlmsg_len, 0, (const struct sockaddr *)&kernel, sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

/* Large enough for either request: a header and the fixed part of its type. */
struct request {
    _Alignas(struct nlmsghdr) uint8_t bytes[64];
};

static struct nlmsghdr *put_dump_request(struct request *request, uint16_t type, uint32_t sequence) {
    struct nlmsghdr *header = mnl_nlmsg_put_header(request->bytes);
    header->nlmsg_type = type;
    header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    header->nlmsg_seq = sequence;
    return header;
}

int ifc_rtnl_request_links(int descriptor, uint32_t sequence) {
    struct request request;
    struct nlmsghdr *header = put_dump_request(&request, RTM_GETLINK, sequence);
    /* No IFLA_EXT_MASK: that leaves the statistics in and the virtual functions, which nobody here reads, out. */
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifi_family = AF_UNSPEC;
    return send_request(descriptor, header);
}

int ifc_rtnl_request_stats(int descriptor, uint32_t sequence) {
    struct request request;
    struct nlmsghdr *header = put_dump_request(&request, RTM_GETSTATS, sequence);
    struct if_stats_msg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    return send_request(descriptor, header);
}

ssize_t ifc_rtnl_receive(int descriptor, uint8_t *buffer, size_t capacity) {
    struct sockaddr_nl sender = {0};
    struct iovec into = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &into, .msg_iovlen = 1};
    ssize_t received;
    do {
        received = recvmsg(descriptor, &message, 0);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    /* A process with CAP_NET_ADMIN may send to any port; only the kernel sends from port 0 (netlink(7)). */
    if (message.msg_namelen != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0) return -EPROTO;
    if (message.msg_flags & MSG_TRUNC) return -EMSGSIZE;
    return received;
}
