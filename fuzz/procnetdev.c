/* /proc/net/dev: each turn makes progress, and each name is one that can be. */
#include "CLinkStats.h"

#include <string.h>

static void require(bool holds) {
    if (!holds) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ifc_procnetdev file;
    struct ifc_link link;
    int begun = ifc_procnetdev_begin(&file, bytes, length);
    require(begun <= 0);
    for (;;) {
        size_t before = file.offset;
        int more = ifc_procnetdev_next(&file, &link);
        require(file.offset <= length);
        if (more == 0) break;
        require(more == 1 && begun == 0 && file.offset > before);
        require(link.ifindex == 0 && link.counter_bits == 64);
        require(link.name_length > 0 && link.name_length <= IFC_NAME_MAX && link.name[link.name_length] == 0);
        require(strlen((const char *)link.name) == link.name_length);
    }
    require(file.offset == length);
    return 0;
}
