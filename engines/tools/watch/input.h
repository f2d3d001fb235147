/* Standard input: lines "mark LABEL", and the end, which is rail-watch's. */
#ifndef RAIL_WATCH_INPUT_H
#define RAIL_WATCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#define LABEL_LIMIT 17 /* longest label, with its final zero */

struct input {
    bool watched; /* it is a pipe or a socket */
    bool ended;
    char bytes[256];
    size_t length;
};

void input_open(struct input *input);

/* Takes what there is, after poll said there is something. */
void input_take(struct input *input);

/* The label of the next whole line; false if there is none. A line that is anything else ends in
 * fail(BAD_PEER). */
bool input_next(struct input *input, char label[LABEL_LIMIT]);

#endif
