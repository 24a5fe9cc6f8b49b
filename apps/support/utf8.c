/* SPDX-License-Identifier: MIT */
#include "utf8.h"

int utf8_letter(const char *text)
{
    const unsigned char first = (unsigned char)*text;
    const int bytes = first == 0      ? 0
                      : first < 0x80  ? 1
                      : first < 0xC2  ? 0
                      : first < 0xE0  ? 2
                      : first < 0xF0  ? 3
                      : first <= 0xF4 ? 4
                                      : 0;

    for (int i = 1; i < bytes; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
    return bytes;
}
