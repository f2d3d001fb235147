#include "varints.h"

void put_byte(struct byte_sink *sink, unsigned char byte)
{
    if (sink->out)
        sink->out[sink->length] = byte;
    sink->length++;
}

void put_varint(struct byte_sink *sink, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(sink, (unsigned char)(value | 0x80));
    put_byte(sink, (unsigned char)value);
}

void put_zigzag(struct byte_sink *sink, uint64_t difference)
{
    uint64_t sign = difference >> 63 ? UINT64_MAX : 0;
    put_varint(sink, difference << 1 ^ sign);
}

uint64_t get_varint(struct byte_source *source)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && source->at < source->end; shift += 7) {
        unsigned char byte = *source->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    source->broken = true;
    return 0;
}

uint64_t get_zigzag(struct byte_source *source)
{
    uint64_t coded = get_varint(source);
    return coded >> 1 ^ (coded & 1 ? UINT64_MAX : 0);
}
