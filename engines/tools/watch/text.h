/* A piece of one of the kernel's text files, and taking it apart. Nothing here copies, and nothing
 * reads past the end. All of it is inline: it is half of what a sample takes. */
#ifndef RAIL_WATCH_TEXT_H
#define RAIL_WATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *at, *end;
};
#define NO_TEXT ((struct text){NULL, NULL})

static inline size_t text_length(struct text text)
{
    return (size_t)(text.end - text.at);
}

static inline bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool text_is(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text_length(text) == length && memcmp(text.at, word, length) == 0;
}

static inline bool text_begins(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text_length(text) >= length && memcmp(text.at, word, length) == 0;
}

/* Each take_ function takes its piece off the front of the text, which is another variable; false,
 * and nothing taken, if there is none. This one: up to the mark, which is left out of both. */
static inline bool take_until(struct text *text, char mark, struct text *before)
{
    size_t length = text_length(*text);
    const char *end = length ? memchr(text->at, mark, length) : NULL;
    if (end == NULL)
        return false;
    *before = (struct text){text->at, end};
    text->at = end + 1;
    return true;
}

/* Without its newline. */
static inline bool take_line(struct text *text, struct text *line)
{
    if (take_until(text, '\n', line))
        return true;
    if (text->at == text->end)
        return false;
    *line = *text;
    text->at = text->end;
    return true;
}

static inline const char *skip_blanks(struct text text)
{
    while (text.at < text.end && blank(*text.at))
        text.at++;
    return text.at;
}

/* Between blanks. */
static inline bool take_word(struct text *text, struct text *word)
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

static inline unsigned digit_of(char c)
{
    return c >= '0' && c <= '9' ? (unsigned)(c - '0')
         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                : 16;
}

static inline bool take_digits(struct text *text, const char *at, unsigned base, uint64_t *number)
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

/* A whole number between blanks; what lies beyond 64 bits becomes the largest, and what begins
 * with a minus the two's complement. */
static inline bool take_number(struct text *text, uint64_t *number)
{
    const char *at = skip_blanks(*text);
    bool minus = at < text->end && *at == '-';
    if (!take_digits(text, at + minus, 10, number))
        return false;
    if (minus)
        *number = 0 - *number;
    return true;
}

static inline bool take_hexadecimal(struct text *text, uint64_t *number)
{
    return take_digits(text, skip_blanks(*text), 16, number);
}

#endif
