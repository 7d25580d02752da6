/*
 * From the kernel's statistics structures (linux/if_link.h) to struct ifc_counters. Shared by everything here
 * that gets them as bytes; not part of the interface.
 */
#ifndef IFC_COUNTERS_H
#define IFC_COUNTERS_H

#include "CLinkStats.h"

#include <linux/if_link.h>
#include <string.h>

/* Both structures begin with the same eight counters in the same order, which all kernels have kept. */
#define IFC_COUNTED 8
/* Packets and bytes of both directions come first: without these four there is nothing to count. */
#define IFC_COUNTED_AT_LEAST 4

#define IFC_SAME_PLACE(type, member, place)                                                                            \
    _Static_assert(offsetof(struct type, member) == (place) * sizeof(((struct type *)0)->member), #type "." #member)

IFC_SAME_PLACE(rtnl_link_stats64, rx_packets, 0);
IFC_SAME_PLACE(rtnl_link_stats64, tx_packets, 1);
IFC_SAME_PLACE(rtnl_link_stats64, rx_bytes, 2);
IFC_SAME_PLACE(rtnl_link_stats64, tx_bytes, 3);
IFC_SAME_PLACE(rtnl_link_stats64, rx_errors, 4);
IFC_SAME_PLACE(rtnl_link_stats64, tx_errors, 5);
IFC_SAME_PLACE(rtnl_link_stats64, rx_dropped, 6);
IFC_SAME_PLACE(rtnl_link_stats64, tx_dropped, 7);
IFC_SAME_PLACE(rtnl_link_stats, rx_packets, 0);
IFC_SAME_PLACE(rtnl_link_stats, tx_packets, 1);
IFC_SAME_PLACE(rtnl_link_stats, rx_bytes, 2);
IFC_SAME_PLACE(rtnl_link_stats, tx_bytes, 3);
IFC_SAME_PLACE(rtnl_link_stats, rx_errors, 4);
IFC_SAME_PLACE(rtnl_link_stats, tx_errors, 5);
IFC_SAME_PLACE(rtnl_link_stats, rx_dropped, 6);
IFC_SAME_PLACE(rtnl_link_stats, tx_dropped, 7);
_Static_assert(sizeof(((struct rtnl_link_stats64 *)0)->rx_bytes) == sizeof(uint64_t), "64 bit");
_Static_assert(sizeof(((struct rtnl_link_stats *)0)->rx_bytes) == sizeof(uint32_t), "32 bit");

static inline struct ifc_counters ifc_counters_in_order(const uint64_t value[static IFC_COUNTED]) {
    return (struct ifc_counters){
        .rx_packets = value[0],
        .tx_packets = value[1],
        .rx_bytes = value[2],
        .tx_bytes = value[3],
        .rx_errors = value[4],
        .tx_errors = value[5],
        .rx_dropped = value[6],
        .tx_dropped = value[7],
    };
}

/* How many whole counters of this width to take from a structure whose length differs between kernels. */
static inline size_t ifc_counters_whole(size_t length, size_t width) {
    size_t whole = length / width;
    return whole < IFC_COUNTED ? whole : IFC_COUNTED;
}

/*
 * Reads a struct rtnl_link_stats64 of any length and alignment: netlink aligns to 4 bytes only, and the structure
 * has grown between kernels. What is not there is 0. False when it is too short to count from.
 */
static inline bool ifc_counters_from_64(const void *bytes, size_t length, struct ifc_counters *counters) {
    uint64_t value[IFC_COUNTED] = {0};
    size_t whole = ifc_counters_whole(length, sizeof value[0]);
    if (whole < IFC_COUNTED_AT_LEAST) return false;
    memcpy(value, bytes, whole * sizeof value[0]);
    *counters = ifc_counters_in_order(value);
    return true;
}

/* The same for the 32-bit struct rtnl_link_stats. */
static inline bool ifc_counters_from_32(const void *bytes, size_t length, struct ifc_counters *counters) {
    uint32_t narrow[IFC_COUNTED] = {0};
    uint64_t value[IFC_COUNTED];
    size_t whole = ifc_counters_whole(length, sizeof narrow[0]);
    if (whole < IFC_COUNTED_AT_LEAST) return false;
    memcpy(narrow, bytes, whole * sizeof narrow[0]);
    for (size_t i = 0; i < IFC_COUNTED; i++) value[i] = narrow[i];
    *counters = ifc_counters_in_order(value);
    return true;
}

#endif
