#include "CLinkStats.h"

#include "counters.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(sizeof(struct nlmsghdr) == 16 && sizeof(struct nlattr) == 4, "netlink(7)");
_Static_assert(sizeof(struct ifinfomsg) == 16 && sizeof(struct if_stats_msg) == 12, "rtnetlink(7)");
_Static_assert(IFC_NAME_MAX + 1 == IFNAMSIZ, "a name and its NUL");

/* The largest errno a kernel returns (linux/err.h). Anything beyond is no errno, and INT_MIN could not be negated. */
#define MAX_ERRNO 4095

/* What follows a header: the payload of a message, or a list of attributes in it. */
struct payload {
    const uint8_t *bytes;
    size_t length;
};

/*
 * Takes the next message off a datagram: 1, 0 at the end, -EBADMSG when the rest is none.
 * Not mnl_nlmsg_ok(): up to libmnl 1.0.4 it compares as int and accepts lengths from 2^31 on.
 */
static int next_message(const uint8_t *bytes, size_t length, size_t *offset, struct nlmsghdr *header,
                        struct payload *payload) {
    size_t left = length - *offset;
    if (left == 0) return 0;
    const uint8_t *start = bytes + *offset;
    *offset = length;
    if (left < sizeof *header) return -EBADMSG;
    memcpy(header, start, sizeof *header);
    if (header->nlmsg_len < sizeof *header || header->nlmsg_len > left) return -EBADMSG;
    *payload = (struct payload){start + sizeof *header, header->nlmsg_len - sizeof *header};
    /* The last message need not be padded. */
    size_t padded = NLMSG_ALIGN((size_t)header->nlmsg_len);
    if (padded < left) *offset = length - left + padded;
    return 1;
}

/*
 * Takes the next attribute off a list: 1, 0 at the end, -EBADMSG when what is left is no attribute.
 * Not mnl_attr_for_each(): it takes the list to end at the next multiple of 4, past the bytes of an unpadded message.
 */
static int next_attribute(struct payload *list, const struct nlattr **attribute) {
    /* Fewer bytes than an attribute header are padding, which the kernel too leaves out of account. */
    if (list->length < sizeof(struct nlattr)) return 0;
    const struct nlattr *here = (const struct nlattr *)list->bytes;
    if (list->length > INT_MAX || !mnl_attr_ok(here, (int)list->length)) return -EBADMSG;
    size_t padded = sizeof(struct nlattr) + MNL_ALIGN((size_t)mnl_attr_get_payload_len(here));
    size_t taken = padded < list->length ? padded : list->length;
    *list = (struct payload){list->bytes + taken, list->length - taken};
    *attribute = here;
    return 1;
}

static struct payload attribute_payload(const struct nlattr *attribute) {
    return (struct payload){mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute)};
}

/* An int32 attribute; 0 when it is too short to be one. */
static int32_t attribute_int32(const struct nlattr *attribute) {
    struct payload value = attribute_payload(attribute);
    int32_t number = 0;
    if (value.length >= sizeof number) memcpy(&number, value.bytes, sizeof number);
    return number;
}

/* An interface index; 0, "none", for what cannot be one. */
static int32_t attribute_ifindex(const struct nlattr *attribute) {
    int32_t ifindex = attribute_int32(attribute);
    return ifindex > 0 ? ifindex : 0;
}

/* The bytes of a string attribute up to its NUL, which rtnetlink sends but generic netlink rules do not demand. */
static struct payload attribute_string(const struct nlattr *attribute) {
    struct payload text = attribute_payload(attribute);
    text.length = strnlen((const char *)text.bytes, text.length);
    return text;
}

/* The int that NLMSG_ERROR and NLMSG_DONE begin with, as 0 or -errno; false when it is not there. */
static bool kernel_error(struct payload payload, int32_t *error) {
    int32_t number;
    if (payload.length < sizeof number) return false;
    memcpy(&number, payload.bytes, sizeof number);
    if (number > 0 || number < -MAX_ERRNO) number = -EPROTO;
    *error = number;
    return true;
}

/* IFLA_INFO_DATA of a tun device (drivers/net/tun.c, tun_fill_info). */
static uint8_t tun_type(struct payload data) {
    const struct nlattr *attribute;
    while (next_attribute(&data, &attribute) > 0) {
        if (mnl_attr_get_type(attribute) != IFLA_TUN_TYPE) continue;
        struct payload value = attribute_payload(attribute);
        if (value.length == 0) continue;
        return *value.bytes == IFF_TUN || *value.bytes == IFF_TAP ? *value.bytes : 0;
    }
    return 0;
}

static void decode_link_info(struct payload info, struct ifc_link *link) {
    const struct nlattr *attribute;
    struct payload data = {info.bytes, 0};
    while (next_attribute(&info, &attribute) > 0) {
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_INFO_KIND: {
            struct payload kind = attribute_string(attribute);
            size_t kept = kind.length < IFC_KIND_MAX ? kind.length : IFC_KIND_MAX;
            memset(link->kind, 0, sizeof link->kind);
            memcpy(link->kind, kind.bytes, kept);
            link->kind_length = (uint8_t)kept;
            break;
        }
        case IFLA_INFO_DATA:
            data = attribute_payload(attribute);
            break;
        }
    }
    if (link->kind_length == 3 && memcmp(link->kind, "tun", 3) == 0) link->tun_type = tun_type(data);
}

static bool decode_name(const struct nlattr *attribute, struct ifc_link *link) {
    struct payload name = attribute_string(attribute);
    if (name.length == 0 || name.length > IFC_NAME_MAX) return false;
    memset(link->name, 0, sizeof link->name);
    memcpy(link->name, name.bytes, name.length);
    link->name_length = (uint8_t)name.length;
    return true;
}

/* What kind of message an RTM_NEWLINK or RTM_DELLINK is, with the link filled in when it is one about a link. */
static enum ifc_message_type decode_link(uint16_t type, struct payload payload, struct ifc_link *link) {
    struct ifinfomsg info;
    if (payload.length < sizeof info) return IFC_MESSAGE_MALFORMED;
    memcpy(&info, payload.bytes, sizeof info);
    /*
     * Other families tell of a link's part in something else: RTM_DELLINK of AF_BRIDGE says that a port has left
     * its bridge (net/bridge/br_netlink.c, br_ifinfo_notify), and the link lives on.
     */
    if (info.ifi_family != AF_UNSPEC) return IFC_MESSAGE_OTHER;
    if (info.ifi_index <= 0) return IFC_MESSAGE_MALFORMED;
    link->ifindex = info.ifi_index;
    link->flags = info.ifi_flags;
    link->hardware_type = info.ifi_type;

    struct payload list = {payload.bytes + NLMSG_ALIGN(sizeof info), payload.length - sizeof info};
    const struct nlattr *attribute;
    bool lower_is_elsewhere = false;
    int more;
    while ((more = next_attribute(&list, &attribute)) > 0) {
        struct payload value = attribute_payload(attribute);
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_IFNAME:
            if (!decode_name(attribute, link)) return IFC_MESSAGE_MALFORMED;
            break;
        case IFLA_STATS64:
            if (ifc_counters_from_64(value.bytes, value.length, &link->counters)) link->counter_bits = 64;
            break;
        case IFLA_STATS:
            if (link->counter_bits == 64) break;
            if (ifc_counters_from_32(value.bytes, value.length, &link->counters)) link->counter_bits = 32;
            break;
        case IFLA_LINK:
            link->lower_ifindex = attribute_ifindex(attribute);
            break;
        case IFLA_LINK_NETNSID:
            lower_is_elsewhere = true;
            break;
        case IFLA_MASTER:
            link->master_ifindex = attribute_ifindex(attribute);
            break;
        case IFLA_LINKINFO:
            decode_link_info(value, link);
            break;
        case IFLA_NEW_NETNSID:
        case IFLA_NEW_IFINDEX:
            link->leaves_namespace = type == RTM_DELLINK;
            break;
        case IFLA_WIRELESS:
            /*
             * An event of the wireless extensions in the shape of RTM_NEWLINK, with a name and nothing else of the
             * link (net/wireless/wext-core.c, rtnetlink_ifinfo_prep): no counters, no master, no kind.
             */
            return IFC_MESSAGE_OTHER;
        }
    }
    if (more < 0 || link->name_length == 0) return IFC_MESSAGE_MALFORMED;
    /* In another namespace, or the link itself: what a plain device and tun say (dev_get_iflink). */
    if (lower_is_elsewhere || link->lower_ifindex == link->ifindex) link->lower_ifindex = 0;
    return type == RTM_NEWLINK ? IFC_MESSAGE_NEW_LINK : IFC_MESSAGE_DEL_LINK;
}

int ifc_next_message(struct ifc_datagram *datagram, struct ifc_message *message) {
    struct nlmsghdr header;
    struct payload payload;
    *message = (struct ifc_message){0};
    int more = next_message(datagram->bytes, datagram->length, &datagram->offset, &header, &payload);
    if (more <= 0) return more;

    message->sequence = header.nlmsg_seq;
    message->port = header.nlmsg_pid;
    message->interrupted = header.nlmsg_flags & NLM_F_DUMP_INTR;
    switch (header.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        message->type = decode_link(header.nlmsg_type, payload, &message->link);
        /* Half a link would be taken for a whole one. */
        if (message->type == IFC_MESSAGE_OTHER || message->type == IFC_MESSAGE_MALFORMED)
            message->link = (struct ifc_link){0};
        break;
    case NLMSG_DONE:
        message->type = kernel_error(payload, &message->error) ? IFC_MESSAGE_DONE : IFC_MESSAGE_MALFORMED;
        break;
    case NLMSG_ERROR:
        message->type = kernel_error(payload, &message->error) ? IFC_MESSAGE_ERROR : IFC_MESSAGE_MALFORMED;
        break;
    case NLMSG_OVERRUN:
        message->type = IFC_MESSAGE_OVERRUN;
        break;
    default:
        message->type = IFC_MESSAGE_OTHER;
    }
    return 1;
}

/* One RTM_NEWSTATS into a row; false when it has no ifindex or no counters. */
static bool decode_row(struct payload payload, struct ifc_row *row) {
    struct if_stats_msg info;
    if (payload.length < sizeof info) return false;
    memcpy(&info, payload.bytes, sizeof info);
    if (info.ifindex == 0 || info.ifindex > INT32_MAX) return false;

    struct payload list = {payload.bytes + NLMSG_ALIGN(sizeof info), payload.length - sizeof info};
    const struct nlattr *attribute;
    while (next_attribute(&list, &attribute) > 0) {
        if (mnl_attr_get_type(attribute) != IFLA_STATS_LINK_64) continue;
        struct payload value = attribute_payload(attribute);
        row->ifindex = (int32_t)info.ifindex;
        return ifc_counters_from_64(value.bytes, value.length, &row->counters);
    }
    return false;
}

int ifc_decode_stats(const uint8_t *bytes, size_t length, uint32_t sequence, uint32_t port, struct ifc_row *rows,
                     size_t capacity, struct ifc_dump *dump) {
    struct nlmsghdr header;
    struct payload payload;
    size_t offset = 0;
    int more;
    while ((more = next_message(bytes, length, &offset, &header, &payload)) > 0) {
        if (header.nlmsg_seq != sequence || header.nlmsg_pid != port) {
            dump->foreign++;
            continue;
        }
        if (header.nlmsg_flags & NLM_F_DUMP_INTR) dump->interrupted = true;
        switch (header.nlmsg_type) {
        case RTM_NEWSTATS: {
            struct ifc_row row;
            if (!decode_row(payload, &row)) {
                dump->malformed++;
            } else if (dump->rows >= capacity) {
                return -ENOBUFS;
            } else {
                rows[dump->rows++] = row;
            }
            break;
        }
        case NLMSG_DONE:
            dump->done = true;
            if (kernel_error(payload, &dump->error)) break;
            /* The end all the same, or the reader would wait for another. */
            dump->malformed++;
            dump->error = -EBADMSG;
            break;
        case NLMSG_ERROR:
            if (kernel_error(payload, &dump->error)) break;
            dump->malformed++;
            dump->error = -EBADMSG;
            break;
        case NLMSG_OVERRUN:
            dump->error = -ENOBUFS;
            break;
        case NLMSG_NOOP:
            break;
        default:
            dump->malformed++;
        }
    }
    return more;
}
