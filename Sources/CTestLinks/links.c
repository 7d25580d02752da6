#include "CTestLinks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of <linux/if.h>, which does not go together with <net/if.h>. */
enum { IF_OPER_UP = 6 };

enum { BURST = 64, MESSAGE_ROOM = 256 };

/* The group (IFLA_GROUP) of links that are made by the hundred, so that they can be deleted at once. */
enum { MANY = 1 };

struct request {
    char buffer[1024];
    struct nlmsghdr *header;
    struct ifinfomsg *link;
};

static void begin(struct request *request, uint16_t type, uint16_t flags)
{
    memset(request, 0, sizeof(*request));
    request->header = mnl_nlmsg_put_header(request->buffer);
    request->header->nlmsg_type = type;
    request->header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    request->header->nlmsg_seq = 1;
    request->link = mnl_nlmsg_put_extra_header(request->header, sizeof(*request->link));
}

/* Waits for the acknowledgement of message `sequence`; an error for an earlier one ends the wait too. */
static int acknowledged(struct mnl_socket *socket, uint32_t sequence)
{
    char buffer[8192];
    for (;;) {
        ssize_t size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
        if (size < 0)
            return -errno;
        int left = (int)size;
        for (struct nlmsghdr *at = (void *)buffer; mnl_nlmsg_ok(at, left); at = mnl_nlmsg_next(at, &left)) {
            if (at->nlmsg_type != NLMSG_ERROR)
                continue;
            int error = ((struct nlmsgerr *)mnl_nlmsg_get_payload(at))->error;
            if (error < 0 || at->nlmsg_seq == sequence)
                return error;
        }
    }
}

static int transact(const void *messages, size_t size, uint32_t sequence)
{
    /* A socket for each request: it belongs to the namespace the thread is in now. */
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (socket == NULL)
        return -errno;
    int result = 0;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 || mnl_socket_sendto(socket, messages, size) < 0)
        result = -errno;
    else
        result = acknowledged(socket, sequence);
    mnl_socket_close(socket);
    return result;
}

static int finish(struct request *request)
{
    return transact(request->header, request->header->nlmsg_len, request->header->nlmsg_seq);
}

static int begin_change(struct request *request, const char *name)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    begin(request, RTM_NEWLINK, 0);
    request->link->ifi_index = index;
    return 0;
}

static void put_kind(struct nlmsghdr *header, const char *name, const char *kind)
{
    mnl_attr_put_strz(header, IFLA_IFNAME, name);
    struct nlattr *info = mnl_attr_nest_start(header, IFLA_LINKINFO);
    mnl_attr_put_strz(header, IFLA_INFO_KIND, kind);
    mnl_attr_nest_end(header, info);
}

static bool is_name(const char *name) { return name[0] != 0 && strlen(name) < IFNAMSIZ; }

int ifct_link_index(const char *name)
{
    unsigned index = if_nametoindex(name);
    return index == 0 ? -errno : (int)index;
}

bool ifct_link_exists(int index)
{
    char name[IF_NAMESIZE];
    return if_indextoname((unsigned)index, name) != NULL;
}

int ifct_link_add(const char *name, const char *kind)
{
    if (!is_name(name) || !is_name(kind))
        return -EINVAL;
    struct request request;
    begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    put_kind(request.header, name, kind);
    return finish(&request);
}

int ifct_link_add_many(const char *prefix, const char *kind, unsigned count)
{
    if (!is_name(kind))
        return -EINVAL;
    for (unsigned first = 0; first < count; first += BURST) {
        char batch[BURST * MESSAGE_ROOM];
        size_t used = 0;
        unsigned end = count - first < BURST ? count : first + BURST;
        memset(batch, 0, sizeof(batch));
        for (unsigned at = first; at < end; at++) {
            char name[IFNAMSIZ];
            if (snprintf(name, sizeof(name), "%s%u", prefix, at) >= (int)sizeof(name))
                return -EINVAL;
            struct nlmsghdr *header = mnl_nlmsg_put_header(batch + used);
            header->nlmsg_type = RTM_NEWLINK;
            header->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL;
            /* One acknowledgement for the batch: the kernel takes its messages in order. */
            if (at + 1 == end)
                header->nlmsg_flags |= NLM_F_ACK;
            header->nlmsg_seq = at + 1;
            mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
            mnl_attr_put_u32(header, IFLA_GROUP, MANY);
            put_kind(header, name, kind);
            used += NLMSG_ALIGN(header->nlmsg_len);
        }
        int result = transact(batch, used, end);
        if (result < 0)
            return result;
    }
    return 0;
}

int ifct_link_delete_many(void)
{
    struct request request;
    begin(&request, RTM_DELLINK, 0);
    mnl_attr_put_u32(request.header, IFLA_GROUP, MANY);
    return finish(&request);
}

int ifct_link_add_veth(const char *name, const char *peer)
{
    if (!is_name(name) || !is_name(peer))
        return -EINVAL;
    struct request request;
    begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    mnl_attr_put_strz(request.header, IFLA_IFNAME, name);
    struct nlattr *info = mnl_attr_nest_start(request.header, IFLA_LINKINFO);
    mnl_attr_put_strz(request.header, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(request.header, IFLA_INFO_DATA);
    struct nlattr *other = mnl_attr_nest_start(request.header, VETH_INFO_PEER);
    mnl_nlmsg_put_extra_header(request.header, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(request.header, IFLA_IFNAME, peer);
    mnl_attr_nest_end(request.header, other);
    mnl_attr_nest_end(request.header, data);
    mnl_attr_nest_end(request.header, info);
    return finish(&request);
}

int ifct_link_delete(const char *name)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    struct request request;
    begin(&request, RTM_DELLINK, 0);
    request.link->ifi_index = index;
    return finish(&request);
}

static int rename_now(const char *name, const char *new_name)
{
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    mnl_attr_put_strz(request.header, IFLA_IFNAME, new_name);
    return finish(&request);
}

int ifct_link_rename(const char *name, const char *new_name)
{
    if (!is_name(new_name))
        return -EINVAL;
    int result = rename_now(name, new_name);
    if (result != -EBUSY)
        return result;
    /* Before Linux 6.2 a link that is up keeps its name. */
    result = ifct_link_set_up(name, false);
    if (result == 0)
        result = rename_now(name, new_name);
    int back = ifct_link_set_up(result == 0 ? new_name : name, true);
    return result < 0 ? result : back;
}

int ifct_link_set_up(const char *name, bool up)
{
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    request.link->ifi_flags = up ? IFF_UP : 0;
    request.link->ifi_change = IFF_UP;
    return finish(&request);
}

int ifct_link_silence_arp(const char *name)
{
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    request.link->ifi_flags = IFF_NOARP;
    request.link->ifi_change = IFF_NOARP;
    return finish(&request);
}

int ifct_link_set_mtu(const char *name, uint32_t mtu)
{
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    mnl_attr_put_u32(request.header, IFLA_MTU, mtu);
    return finish(&request);
}

int ifct_link_flood(const char *name, uint32_t mtu, unsigned count)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    for (unsigned first = 0; first < count; first += BURST) {
        char batch[BURST * MESSAGE_ROOM];
        size_t used = 0;
        memset(batch, 0, sizeof(batch));
        for (unsigned at = 1; at <= BURST; at++) {
            struct nlmsghdr *header = mnl_nlmsg_put_header(batch + used);
            header->nlmsg_type = RTM_NEWLINK;
            header->nlmsg_flags = NLM_F_REQUEST | (at == BURST ? NLM_F_ACK : 0);
            header->nlmsg_seq = at;
            struct ifinfomsg *link = mnl_nlmsg_put_extra_header(header, sizeof(*link));
            link->ifi_index = index;
            mnl_attr_put_u32(header, IFLA_MTU, mtu - at % 2);
            used += NLMSG_ALIGN(header->nlmsg_len);
        }
        int result = transact(batch, used, BURST);
        if (result < 0)
            return result;
    }
    return 0;
}

int ifct_link_set_master(const char *name, const char *master)
{
    int index = master[0] == 0 ? 0 : ifct_link_index(master);
    if (index < 0)
        return index;
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    mnl_attr_put_u32(request.header, IFLA_MASTER, (uint32_t)index);
    return finish(&request);
}

int ifct_link_move(const char *name, int namespace_fd)
{
    struct request request;
    int result = begin_change(&request, name);
    if (result < 0)
        return result;
    mnl_attr_put_u32(request.header, IFLA_NET_NS_FD, (uint32_t)namespace_fd);
    return finish(&request);
}

int ifct_link_add_address(const char *name, uint32_t address)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    char buffer[256] = {0};
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    header->nlmsg_type = RTM_NEWADDR;
    header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    header->nlmsg_seq = 1;
    struct ifaddrmsg *message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
    message->ifa_family = AF_INET;
    message->ifa_prefixlen = 24;
    message->ifa_index = (uint32_t)index;
    mnl_attr_put_u32(header, IFA_LOCAL, htonl(address));
    mnl_attr_put_u32(header, IFA_ADDRESS, htonl(address));
    return transact(header, header->nlmsg_len, 1);
}

int ifct_link_silence_ipv6(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno; /* a kernel without IPv6 is silent already */
    int result = write(fd, "1", 1) < 0 ? -errno : 0;
    close(fd);
    return result;
}

/* IFLA_OPERSTATE of a link, as RFC 2863 has it. */
static int operational_state(int index)
{
    char buffer[16384];
    struct request request;
    begin(&request, RTM_GETLINK, 0);
    request.header->nlmsg_flags = NLM_F_REQUEST;
    request.link->ifi_index = index;
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (socket == NULL)
        return -errno;
    int result = -ENODATA;
    ssize_t size = -1;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0
        || mnl_socket_sendto(socket, request.header, request.header->nlmsg_len) < 0
        || (size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer))) < 0)
        result = -errno;
    mnl_socket_close(socket);
    struct nlmsghdr *header = (void *)buffer;
    if (size < 0 || !mnl_nlmsg_ok(header, (int)size))
        return result;
    if (header->nlmsg_type == NLMSG_ERROR)
        return ((struct nlmsgerr *)mnl_nlmsg_get_payload(header))->error;
    struct nlattr *attribute;
    mnl_attr_for_each(attribute, header, sizeof(struct ifinfomsg))
        if (mnl_attr_get_type(attribute) == IFLA_OPERSTATE)
            result = mnl_attr_get_u8(attribute);
    return result;
}

int ifct_link_await_carrier(const char *name)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    for (int attempt = 0; attempt < 2000; attempt++) {
        int state = operational_state(index);
        if (state < 0)
            return state;
        /* The state changes before the queue opens, both under the lock that the next request waits for. */
        if (state == IF_OPER_UP)
            return ifct_link_set_up(name, true);
        usleep(1000);
    }
    return -ETIMEDOUT;
}

int ifct_link_send(const char *name, const void *frame, size_t size)
{
    int index = ifct_link_index(name);
    if (index < 0)
        return index;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: it receives nothing */
    if (fd < 0)
        return -errno;
    struct sockaddr_ll link = {.sll_family = AF_PACKET, .sll_ifindex = index};
    ssize_t sent = sendto(fd, frame, size, 0, (struct sockaddr *)&link, sizeof(link));
    int result = sent < 0 ? -errno : 0;
    close(fd);
    return result;
}
