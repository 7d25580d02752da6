/* Rows of RTM_GETSTATS: never more of them than the caller was told to have room for. */
#include "CLinkStats.h"

#include <errno.h>
#include <stdlib.h>

static void require(bool holds) {
    if (!holds) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    /* The promise of the header: no datagram has more rows than this. On the heap, where a row too many is seen. */
    size_t capacity = length / 28;
    struct ifc_row *rows = malloc(capacity * sizeof *rows + 1);
    require(rows != NULL);
    struct ifc_dump dump = {0};
    int result = ifc_decode_stats(bytes, length, 7, 0, rows, capacity, &dump);
    require(result == 0 || result == -EBADMSG);
    require(dump.rows <= capacity && dump.error <= 0 && dump.error >= -4095);
    for (size_t i = 0; i < dump.rows; i++) require(rows[i].ifindex > 0);

    /* With room for one row less, it says so, and all the others stand. */
    if (dump.rows > 0) {
        struct ifc_dump again = {0};
        require(ifc_decode_stats(bytes, length, 7, 0, rows, dump.rows - 1, &again) == -ENOBUFS);
        require(again.rows == dump.rows - 1);
    }
    free(rows);
    return 0;
}
