#include "CLinkStats.h"

#include "counters.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ioctl_for(int descriptor, unsigned long request, const uint8_t *name, size_t name_length,
                     struct ifreq *answer) {
    *answer = (struct ifreq){0};
    memcpy(answer->ifr_name, name, name_length);
    return ioctl(descriptor, request, answer) < 0 ? -errno : 0;
}

static int fill_in_by_name(int descriptor, const uint8_t *name, size_t name_length, struct ifc_link *link) {
    struct ifreq index, flags, hardware;
    int result = ioctl_for(descriptor, SIOCGIFINDEX, name, name_length, &index);
    if (result == 0) result = ioctl_for(descriptor, SIOCGIFFLAGS, name, name_length, &flags);
    if (result == 0) result = ioctl_for(descriptor, SIOCGIFHWADDR, name, name_length, &hardware);
    if (result < 0) return result;
    /* The name may be the link's own already. */
    memmove(link->name, name, name_length);
    link->name_length = (uint8_t)name_length;
    link->ifindex = index.ifr_ifindex;
    /* A short: the flags above it (IFF_LOWER_UP and so on) are not told this way. */
    link->flags = (uint16_t)flags.ifr_flags;
    link->hardware_type = hardware.ifr_hwaddr.sa_family;
    return 0;
}

int ifc_link_by_name(const uint8_t *name, size_t name_length, struct ifc_link *link) {
    if (name_length == 0 || name_length > IFC_NAME_MAX || memchr(name, '\0', name_length) != NULL) return -ENODEV;
    /* The kernel cuts the name at a colon and would answer for "eth0" when asked for its alias "eth0:1"
       (net/core/dev_ioctl.c, dev_ioctl). */
    if (memchr(name, ':', name_length) != NULL) return -ENODEV;
    /* Any socket will do, and AF_UNIX is the family that a sandboxed service is sure to have. */
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int result = fill_in_by_name(descriptor, name, name_length, link);
    close(descriptor);
    return result;
}

/*
 * Whether the entry is a link and not one of its addresses. A link without a hardware address (tun, ppp, wireguard)
 * has no ifa_addr at all, because glibc makes it from IFLA_ADDRESS; what it has, and no address has, is ifa_data.
 */
static bool is_link(const struct ifaddrs *entry) {
    if (entry->ifa_addr != NULL) return entry->ifa_addr->sa_family == AF_PACKET;
    return entry->ifa_data != NULL;
}

/* False when the link has gone since getifaddrs saw it, or its name is none. */
static bool fill_in_link(const struct ifaddrs *entry, struct ifc_link *link) {
    size_t name_length = strlen(entry->ifa_name);
    if (name_length == 0 || name_length > IFC_NAME_MAX) return false;
    *link = (struct ifc_link){0};
    memcpy(link->name, entry->ifa_name, name_length);
    link->name_length = (uint8_t)name_length;

    if (entry->ifa_addr != NULL) {
        struct sockaddr_ll address;
        memcpy(&address, entry->ifa_addr, sizeof address);
        link->ifindex = address.sll_ifindex;
        link->hardware_type = address.sll_hatype;
    } else if (ifc_link_by_name(link->name, name_length, link) < 0) {
        return false;
    }
    link->flags = entry->ifa_flags;
    if (entry->ifa_data != NULL &&
        ifc_counters_from_32(entry->ifa_data, sizeof(struct rtnl_link_stats), &link->counters))
        link->counter_bits = 32;
    return true;
}

int ifc_getifaddrs(struct ifc_link *links, size_t capacity) {
    struct ifaddrs *entries = NULL;
    if (getifaddrs(&entries) < 0) return -errno;
    int count = 0;
    for (const struct ifaddrs *entry = entries; entry != NULL; entry = entry->ifa_next) {
        struct ifc_link link;
        if (!is_link(entry) || !fill_in_link(entry, &link)) continue;
        if ((size_t)count < capacity) links[count] = link;
        count++;
    }
    freeifaddrs(entries);
    return count;
}
