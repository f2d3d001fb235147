/* A piece of one of the kernel's text files, and taking it apart. Nothing here copies, and nothing
 * reads past the end. */
#ifndef RAIL_WATCH_TEXT_H
#define RAIL_WATCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *at, *end;
};
#define NO_TEXT ((struct text){NULL, NULL})

static inline size_t text_length(struct text text)
{
    return (size_t)(text.end - text.at);
}

bool text_is(struct text text, const char *word);
bool text_begins(struct text text, const char *word);

/* Each takes its piece off the front of the text, which is another variable; false, and nothing
 * taken, if there is none. */
bool take_line(struct text *text, struct text *line); /* without its newline */
bool take_word(struct text *text, struct text *word); /* between blanks */
bool take_until(struct text *text, char mark, struct text *before); /* and the mark, left out */

/* A whole number between blanks; what lies beyond 64 bits becomes the largest, and what begins
 * with a minus the two's complement. */
bool take_number(struct text *text, uint64_t *number);
bool take_hexadecimal(struct text *text, uint64_t *number);

#endif
