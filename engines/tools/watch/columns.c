#include "columns.h"

void take_columns(struct text *text, struct columns *columns)
{
    struct text line, word;
    columns->count = 0;
    if (!take_line(text, &line))
        return;
    while (columns->count < MOST_CPUS && take_word(&line, &word) && text_begins(word, "CPU"))
        columns->cpus[columns->count++] = (struct text){word.at + 3, word.end};
}
