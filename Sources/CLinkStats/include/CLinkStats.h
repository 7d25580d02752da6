/*
 * What the Linux kernel says of its network links, in three ways: rtnetlink(7),
 * /proc/net/dev (proc_net(5)) and getifaddrs(3).
 *
 * Every function returns a value >= 0 or -errno and leaves errno alone for the
 * caller. None of them allocates memory that the caller would have to free.
 * The decoders work on bytes alone, so that a test can hand them any datagram;
 * whatever the bytes are, each call moves on or ends. Netlink's integers are in the
 * machine's own byte order.
 */
#ifndef IFC_LINKSTATS_H
#define IFC_LINKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/* A link's name is at most this many bytes, without the terminating NUL (IFNAMSIZ - 1). */
#define IFC_NAME_MAX 15
/* The longest IFLA_INFO_KIND kept; a longer one is cut. */
#define IFC_KIND_MAX 15

/*
 * Counters of one link since its creation; rx is what this host received. One figure depends on the source:
 * rx_dropped of /proc/net/dev has rx_missed_errors added (net/core/net-procfs.c, dev_seq_printf_stats).
 */
struct ifc_counters {
    uint64_t rx_bytes;
    uint64_t tx_bytes;
    uint64_t rx_packets;
    uint64_t tx_packets;
    uint64_t rx_errors;
    uint64_t tx_errors;
    uint64_t rx_dropped;
    uint64_t tx_dropped;
};

/* One row of a statistics dump. */
struct ifc_row {
    int32_t ifindex;
    struct ifc_counters counters;
};

/* One link, as an RTM_NEWLINK or RTM_DELLINK message, a line of /proc/net/dev or getifaddrs tells it. */
struct ifc_link {
    int32_t ifindex;         /* 0 where the source has none (/proc/net/dev) */
    uint32_t flags;          /* IFF_* of netdevice(7) */
    uint16_t hardware_type;  /* ARPHRD_* */
    int32_t lower_ifindex;   /* IFLA_LINK: what it rides on (of a veth: its peer); 0: nothing, or elsewhere */
    int32_t master_ifindex;  /* IFLA_MASTER: the bridge or bond it is a port of; 0 when none */
    uint8_t counter_bits;    /* how wide the counters are at their source: 64, 32, or 0 when there are none */
    uint8_t tun_type;        /* IFLA_TUN_TYPE: 1 tun, 2 tap, 0 not told */
    bool leaves_namespace;   /* RTM_DELLINK with IFLA_NEW_NETNSID or IFLA_NEW_IFINDEX: it moved, it did not end */
    uint8_t name_length;
    uint8_t name[IFC_NAME_MAX + 1]; /* bytes, not text: a name need not be UTF-8 */
    uint8_t kind_length;
    uint8_t kind[IFC_KIND_MAX + 1]; /* IFLA_INFO_KIND; empty for most hardware */
    struct ifc_counters counters;
};

/* ---- rtnetlink: decoding ---- */

enum ifc_message_type {
    IFC_MESSAGE_OTHER = 0,     /* no link's life: another type, a bridge port (AF_BRIDGE), a wireless event */
    IFC_MESSAGE_NEW_LINK = 1,  /* RTM_NEWLINK; the link is filled in */
    IFC_MESSAGE_DEL_LINK = 2,  /* RTM_DELLINK; the link is filled in, with its closing counters */
    IFC_MESSAGE_DONE = 3,      /* NLMSG_DONE: the dump is complete; error is its result */
    IFC_MESSAGE_ERROR = 4,     /* NLMSG_ERROR; error is -errno, or 0 for an acknowledgement */
    IFC_MESSAGE_OVERRUN = 5,   /* NLMSG_OVERRUN: data was lost */
    IFC_MESSAGE_MALFORMED = 6, /* too short, torn attributes, or a link without a usable name or ifindex */
};

struct ifc_message {
    enum ifc_message_type type;
    uint32_t sequence;  /* nlmsg_seq: 0 for events, the request's for a dump */
    uint32_t port;      /* nlmsg_pid: the port the request came from */
    bool interrupted;   /* NLM_F_DUMP_INTR: links changed during the dump; one message of it may say so alone */
    int32_t error;      /* <= 0, for DONE and ERROR */
    struct ifc_link link;
};

/* The netlink messages of one datagram, in order. Start with offset 0. */
struct ifc_datagram {
    const uint8_t *bytes;
    size_t length;
    size_t offset;
};

/*
 * Decodes the next message. Returns 1 with *message filled in, 0 at the end, or
 * -EBADMSG when the rest is no netlink message (the datagram is then at its end).
 */
int ifc_next_message(struct ifc_datagram *datagram, struct ifc_message *message);

/* How far a statistics dump has come. Zero it before the first datagram. */
struct ifc_dump {
    size_t rows;          /* rows decoded so far, over all datagrams */
    bool done;            /* NLMSG_DONE was seen */
    bool interrupted;     /* NLM_F_DUMP_INTR was seen on any message */
    int32_t error;        /* the kernel's error, -errno: there is no need to wait for NLMSG_DONE then */
    uint32_t foreign;     /* messages of another sequence or port, passed over */
    uint32_t malformed;   /* messages or rows that could not be decoded, passed over */
};

/*
 * Decodes the RTM_NEWSTATS messages of one datagram of a dump into rows[dump->rows ...]. Messages whose sequence
 * or port differ are passed over. Returns 0, -ENOBUFS when a row had no room (the rows before it stand; no more than
 * length / 28 rows can be in a datagram), or -EBADMSG when the rest of the datagram is no netlink message.
 */
int ifc_decode_stats(const uint8_t *bytes, size_t length, uint32_t sequence, uint32_t port, struct ifc_row *rows,
                     size_t capacity, struct ifc_dump *dump);

/* ---- rtnetlink: sockets ---- */

/*
 * Opens a NETLINK_ROUTE socket, close-on-exec, and writes the port the kernel gave it. With subscribe it is
 * nonblocking and a member of RTNLGRP_LINK; without, it is blocking with a receive timeout of 2 s, for dumps.
 */
int ifc_rtnl_open(bool subscribe, uint32_t *port);

/*
 * Asks for a receive buffer of this many bytes (SO_RCVBUFFORCE where permitted, else SO_RCVBUF). Returns the bytes
 * that the kernel now accounts for it.
 */
int ifc_rtnl_set_receive_buffer(int descriptor, int bytes);

/* Sends an RTM_GETLINK dump request. */
int ifc_rtnl_request_links(int descriptor, uint32_t sequence);

/* Sends an RTM_GETSTATS dump request with the filter mask IFLA_STATS_LINK_64. */
int ifc_rtnl_request_stats(int descriptor, uint32_t sequence);

/*
 * Receives one datagram. Returns its length; -EAGAIN when there is none; -ENOBUFS when events were lost
 * (netlink(7)); -EMSGSIZE when it was larger than the buffer, and is lost; -EPROTO when it was not sent by
 * the kernel, and is dropped. EINTR is retried.
 */
ssize_t ifc_rtnl_receive(int descriptor, uint8_t *buffer, size_t capacity);

/* ---- /proc/net/dev ---- */

/* The lines of a whole /proc/net/dev. */
struct ifc_procnetdev {
    const uint8_t *bytes;
    size_t length;
    size_t offset;
    uint32_t skipped; /* lines passed over: fewer than 16 numbers, no name, or torn */
};

/*
 * Reads the two heading lines. Returns 0; -ENODATA when the bytes are empty or end before a heading is complete;
 * -EPROTO when they are no heading of /proc/net/dev, or have other receive columns than the eight that are known;
 * -ENOTSUP when the heading names no `bytes` column for both directions (Linux 2.0), so that there is nothing to count.
 * After a refusal there are no lines.
 */
int ifc_procnetdev_begin(struct ifc_procnetdev *file, const uint8_t *bytes, size_t length);

/*
 * Reads the next usable line: 1 with *link filled in (name and counters; counter_bits is 64), or 0 at the end. The
 * name ends at the last colon of the line. A line that cannot be used is counted in skipped; blank lines are not.
 */
int ifc_procnetdev_next(struct ifc_procnetdev *file, struct ifc_link *link);

/* ---- getifaddrs(3) and ioctls ---- */

/*
 * Writes each link's entry: name, ifindex, flags, hardware type and 32-bit counters. A link without a hardware address
 * (tun, ppp, wireguard) has no AF_PACKET address there: its ifindex and hardware type are asked for by name. Returns
 * how many links there are, which may be more than capacity (then only the first capacity were written).
 */
int ifc_getifaddrs(struct ifc_link *links, size_t capacity);

/*
 * Fills in name, ifindex, flags and hardware type for a name (netdevice(7): SIOCGIFINDEX, SIOCGIFFLAGS, SIOCGIFHWADDR),
 * for where getifaddrs is refused; the rest of *link stays. Only the low 16 bits of the flags are told this way. Returns
 * 0, or -ENODEV when there is no such link, as for each name with a colon in it: an alias is no link.
 */
int ifc_link_by_name(const uint8_t *name, size_t name_length, struct ifc_link *link);

#pragma clang assume_nonnull end

#endif
