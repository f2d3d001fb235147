/* Any bytes as a frame on rail-wire: what is found in it lies within it, and can be listed. */
#include "../tools/wire/drops.c"
#include "../tools/wire/frame.c"

#include "attempt.h"

static void check_inside(const uint8_t *data, size_t size, const unsigned char *part, size_t length)
{
    must(part >= data && length <= size && (size_t)(part - data) <= size - length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (file == NULL)
        drops_open("/dev/null");
    struct frame frame = frame_read(data, size);
    must(frame_on_wire(size) >= 84 && frame_on_wire(size) >= size + 24);
    if (!frame.ip) {
        must(!frame.ports && frame.payload == NULL);
        return 0;
    }
    size_t address = frame.family == AF_INET6 ? 16 : 4;
    check_inside(data, size, frame.source, address);
    check_inside(data, size, frame.destination, address);
    if (frame.payload)
        check_inside(data, size, frame.payload, frame.payload_length);
    must(frame.protocol <= 255 && frame.source_port <= 65535 && frame.destination_port <= 65535);
    drops_add("left_to_right", 1, &frame);
    return 0;
}
