#include "input.h"

#include "text.h"

#include "../../lib/failure.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void input_open(struct input *input)
{
    struct stat kind;
    *input = (struct input){.watched = fstat(STDIN_FILENO, &kind) == 0 &&
                                       (S_ISFIFO(kind.st_mode) || S_ISSOCK(kind.st_mode))};
}

void input_take(struct input *input)
{
    ssize_t received = read(STDIN_FILENO, input->bytes + input->length,
                            sizeof input->bytes - input->length);
    if (received < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    input->ended = received <= 0;
    input->length += received > 0 ? (size_t)received : 0;
}

static bool is_label(struct text word)
{
    for (const char *c = word.at; c < word.end; c++)
        if ((*c < 'a' || *c > 'z') && *c != '-')
            return false;
    return text_length(word) > 0 && text_length(word) < LABEL_LIMIT;
}

bool input_next(struct input *input, char label[LABEL_LIMIT])
{
    struct text text = {input->bytes, input->bytes + input->length}, line, word;
    bool whole = take_until(&text, '\n', &line);
    if (!whole && input->length < sizeof input->bytes)
        return false;
    if (!whole || !take_word(&line, &word) || !text_is(word, "mark") || !take_word(&line, &word) ||
        !is_label(word) || take_word(&line, &line))
        fail(BAD_PEER, "a line on standard input is not 'mark LABEL', with 1 to %d small letters "
                       "and hyphens",
             LABEL_LIMIT - 1);
    memcpy(label, word.at, text_length(word));
    label[text_length(word)] = 0;
    input->length = text_length(text);
    memmove(input->bytes, text.at, input->length);
    return true;
}
