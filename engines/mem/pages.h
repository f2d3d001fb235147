/* What pages memory really consists of, and on which nodes they are. */
#ifndef RAIL_MEM_PAGES_H
#define RAIL_MEM_PAGES_H

#include <stddef.h>

struct range {
    const unsigned char *begin;
    size_t size;
};

struct pages {
    size_t page;       /* bytes of the pages that the mapping has; transparent ones aside */
    double huge_share; /* of the memory that is in transparent or reserved huge pages, 0 to 1 */
    char nodes[64];    /* "0" or "0,1", "" if the kernel doesn't tell */
};

struct pages pages_of(const struct range *ranges, size_t count);

#endif
