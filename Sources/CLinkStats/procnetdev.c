#include "CLinkStats.h"

#include <errno.h>
#include <string.h>

/* What dev_seq_printf_stats (net/core/net-procfs.c) prints: eight columns for each direction. */
#define COLUMNS_EACH_WAY 8
#define COLUMNS (2 * COLUMNS_EACH_WAY)

/* Some bytes of the file: a line without its '\n', or a part of one. */
struct span {
    const uint8_t *start;
    const uint8_t *end;
};

static bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

static void skip_spaces(struct span *text) {
    while (text->start < text->end && is_space(*text->start)) text->start++;
}

/* Takes the next word from the front of text; an empty one at the end. */
static struct span next_word(struct span *text) {
    skip_spaces(text);
    struct span word = {text->start, text->start};
    while (word.end < text->end && !is_space(*word.end)) word.end++;
    text->start = word.end;
    return word;
}

static bool word_is(struct span word, const char *expected) {
    size_t length = strlen(expected);
    return (size_t)(word.end - word.start) == length && memcmp(word.start, expected, length) == 0;
}

/* Takes the next whole line; false when there is none, or only a torn one that no '\n' ends. */
static bool next_line(struct ifc_procnetdev *file, struct span *line) {
    const uint8_t *start = file->bytes + file->offset;
    const uint8_t *newline = memchr(start, '\n', file->length - file->offset);
    if (newline == NULL) return false;
    *line = (struct span){start, newline};
    file->offset = (size_t)(newline - file->bytes) + 1;
    return true;
}

/* Cuts a heading line at its two bars into what stands after each; false when there are not exactly two. */
static bool cut_at_bars(struct span line, struct span *receive, struct span *transmit) {
    const uint8_t *bars[2];
    size_t found = 0;
    for (const uint8_t *at = line.start; at < line.end; at++) {
        if (*at != '|') continue;
        if (found == 2) return false;
        bars[found++] = at;
    }
    if (found != 2) return false;
    *receive = (struct span){bars[0] + 1, bars[1]};
    *transmit = (struct span){bars[1] + 1, line.end};
    return true;
}

static bool names_bytes(struct span columns) {
    for (;;) {
        struct span word = next_word(&columns);
        if (word.start == word.end) return false;
        if (word_is(word, "bytes")) return true;
    }
}

/* Whether the columns are bytes, packets, errs, drop and some more; writes how many in all. */
static bool counts_bytes_first(struct span columns, size_t *count) {
    static const char *const first[] = {"bytes", "packets", "errs", "drop"};
    *count = 0;
    for (;;) {
        struct span word = next_word(&columns);
        if (word.start == word.end) return *count >= sizeof first / sizeof first[0];
        if (*count < sizeof first / sizeof first[0] && !word_is(word, first[*count])) return false;
        ++*count;
    }
}

static int read_heading(struct ifc_procnetdev *file) {
    struct span titles, columns, receive, transmit;
    if (!next_line(file, &titles) || !next_line(file, &columns)) return -ENODATA;
    if (!cut_at_bars(titles, &receive, &transmit)) return -EPROTO;
    if (!cut_at_bars(columns, &receive, &transmit)) return -EPROTO;
    if (!names_bytes(receive) || !names_bytes(transmit)) return -ENOTSUP;

    size_t received, transmitted;
    if (!counts_bytes_first(receive, &received) || !counts_bytes_first(transmit, &transmitted)) return -EPROTO;
    /* One receive column more would put another figure where the transmitted bytes are read. */
    return received == COLUMNS_EACH_WAY ? 0 : -EPROTO;
}

int ifc_procnetdev_begin(struct ifc_procnetdev *file, const uint8_t *bytes, size_t length) {
    *file = (struct ifc_procnetdev){.bytes = bytes, .length = length};
    int result = read_heading(file);
    if (result < 0) file->offset = length;
    return result;
}

/* A decimal number that fits 64 bits, and nothing but digits. */
static bool read_number(struct span word, uint64_t *number) {
    if (word.start == word.end) return false;
    *number = 0;
    for (const uint8_t *at = word.start; at < word.end; at++) {
        if (*at < '0' || *at > '9') return false;
        if (__builtin_mul_overflow(*number, 10, number)) return false;
        if (__builtin_add_overflow(*number, (uint64_t)(*at - '0'), number)) return false;
    }
    return true;
}

/* The name as it stands before the colon, right-aligned by the kernel; false when no link can be called so. */
static bool read_name(struct span text, struct ifc_link *link) {
    skip_spaces(&text);
    size_t length = (size_t)(text.end - text.start);
    if (length == 0 || length > IFC_NAME_MAX) return false;
    for (const uint8_t *at = text.start; at < text.end; at++) {
        if (is_space(*at) || *at == '\0') return false;
    }
    memcpy(link->name, text.start, length);
    link->name_length = (uint8_t)length;
    return true;
}

static bool read_link(struct span line, struct ifc_link *link) {
    /* The last colon: an alias of old kernels has one in its name ("eth0:1"), and numbers may be glued to it. */
    const uint8_t *colon = memrchr(line.start, ':', (size_t)(line.end - line.start));
    if (colon == NULL) return false;

    *link = (struct ifc_link){.counter_bits = 64};
    if (!read_name((struct span){line.start, colon}, link)) return false;

    struct span numbers = {colon + 1, line.end};
    uint64_t column[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!read_number(next_word(&numbers), &column[i])) return false;
    }
    const uint64_t *receive = column, *transmit = column + COLUMNS_EACH_WAY;
    link->counters = (struct ifc_counters){
        .rx_bytes = receive[0],
        .rx_packets = receive[1],
        .rx_errors = receive[2],
        .rx_dropped = receive[3],
        .tx_bytes = transmit[0],
        .tx_packets = transmit[1],
        .tx_errors = transmit[2],
        .tx_dropped = transmit[3],
    };
    return true;
}

static bool is_blank(struct span line) {
    skip_spaces(&line);
    return line.start == line.end;
}

int ifc_procnetdev_next(struct ifc_procnetdev *file, struct ifc_link *link) {
    struct span line;
    while (next_line(file, &line)) {
        if (is_blank(line)) continue;
        if (read_link(line, link)) return 1;
        file->skipped++;
    }
    struct span torn = {file->bytes + file->offset, file->bytes + file->length};
    if (!is_blank(torn)) file->skipped++;
    file->offset = file->length;
    return 0;
}
