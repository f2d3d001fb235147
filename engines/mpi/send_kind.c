#include "send_kind.h"

#include "../lib/memory.h"
#include "../lib/parameters.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct send_kind kinds[] = {
    {"standard", MPI_Send, MPI_Isend, MPI_Send_init},
    {"synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init},
    {"buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init, .buffered = true},
    {"ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init, .ready = true},
};

const struct send_kind *send_kind_of(const struct launch *launch)
{
    const struct send_kind *kind = kinds;
    while (strcmp(kind->name, text_of(launch, "send")) != 0)
        kind++; /* a choice of the parameter */
    return kind;
}

static struct {
    unsigned char *bytes;
    int size;
} memory;

void send_memory_attach(size_t messages, size_t size)
{
    int packed;
    MPI_Pack_size((int)size, MPI_BYTE, MPI_COMM_WORLD, &packed);
    size_t each = (size_t)packed + MPI_BSEND_OVERHEAD;
    if (messages * each > INT_MAX)
        fail(BAD_PARAMETER,
             "--send buffered: %zu messages of %zu bytes are more than MPI's buffer can hold, %d "
             "bytes: take a smaller --size or --window",
             messages, size, INT_MAX);
    must_fit(messages, each);
    memory.size = (int)(messages * each);
    memory.bytes = test_buffer((size_t)memory.size);
    MPI_Buffer_attach(memory.bytes, memory.size);
}

static void await_gone(void)
{
    unsigned char *bytes;
    int size;
    MPI_Buffer_detach(&bytes, &size);
}

void send_memory_clear(void)
{
    await_gone();
    MPI_Buffer_attach(memory.bytes, memory.size);
}

void send_memory_detach(void)
{
    if (memory.bytes == NULL)
        return;
    await_gone();
    free(memory.bytes);
    memory.bytes = NULL;
}
