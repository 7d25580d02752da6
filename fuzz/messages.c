/* Messages of rtnetlink: no bytes lead the decoder out of them, and each link it gives is one that can be. */
#include "CLinkStats.h"

#include <errno.h>

static void require(bool holds) {
    if (!holds) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ifc_datagram datagram = {.bytes = bytes, .length = length};
    struct ifc_message message;
    for (;;) {
        size_t before = datagram.offset;
        int more = ifc_next_message(&datagram, &message);
        require(datagram.offset <= length);
        if (more <= 0) {
            require((more == 0 || more == -EBADMSG) && datagram.offset == length);
            return 0;
        }
        require(more == 1 && datagram.offset > before);
        require(message.error <= 0 && message.error >= -4095);
        if (message.type != IFC_MESSAGE_NEW_LINK && message.type != IFC_MESSAGE_DEL_LINK) continue;
        const struct ifc_link *link = &message.link;
        require(link->ifindex > 0 && link->lower_ifindex >= 0 && link->master_ifindex >= 0);
        require(link->lower_ifindex != link->ifindex);
        require(link->name_length > 0 && link->name_length <= IFC_NAME_MAX && link->name[link->name_length] == 0);
        require(link->kind_length <= IFC_KIND_MAX && link->kind[link->kind_length] == 0);
        require(link->tun_type <= 2);
        require(link->counter_bits == 0 || link->counter_bits == 32 || link->counter_bits == 64);
    }
}
