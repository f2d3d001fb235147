#include "text.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool text_is(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text_length(text) == length && memcmp(text.at, word, length) == 0;
}

bool text_begins(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text_length(text) >= length && memcmp(text.at, word, length) == 0;
}

bool take_until(struct text *text, char mark, struct text *before)
{
    size_t length = text_length(*text);
    const char *found = length ? memchr(text->at, mark, length) : NULL;
    if (found == NULL)
        return false;
    *before = (struct text){text->at, found};
    text->at = found + 1;
    return true;
}

bool take_line(struct text *text, struct text *line)
{
    if (take_until(text, '\n', line))
        return true;
    if (text->at == text->end)
        return false;
    *line = *text;
    text->at = text->end;
    return true;
}

static const char *skip_blanks(struct text text)
{
    while (text.at < text.end && blank(*text.at))
        text.at++;
    return text.at;
}

bool take_word(struct text *text, struct text *word)
{
    const char *begin = skip_blanks(*text);
    const char *end = begin;
    while (end < text->end && !blank(*end) && *end != '\n')
        end++;
    if (end == begin)
        return false;
    *word = (struct text){begin, end};
    text->at = end;
    return true;
}

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0')
         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                : 16;
}

static bool take_digits(struct text *text, const char *at, unsigned base, uint64_t *number)
{
    const char *first = at;
    uint64_t value = 0;
    unsigned digit;
    for (; at < text->end && (digit = digit_of(*at)) < base; at++)
        value = value > (UINT64_MAX - digit) / base ? UINT64_MAX : value * base + digit;
    if (at == first || (at < text->end && !blank(*at) && *at != '\n'))
        return false;
    text->at = at;
    *number = value;
    return true;
}

bool take_number(struct text *text, uint64_t *number)
{
    const char *at = skip_blanks(*text);
    bool minus = at < text->end && *at == '-';
    if (!take_digits(text, at + minus, 10, number))
        return false;
    if (minus)
        *number = 0 - *number;
    return true;
}

bool take_hexadecimal(struct text *text, uint64_t *number)
{
    return take_digits(text, skip_blanks(*text), 16, number);
}
