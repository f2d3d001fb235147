/* What the kernel's files say: one function a format, each in a file of its own, which puts what a
 * text says into a feed, in the text's order. Any bytes will do: what isn't as expected is passed
 * over. */
#ifndef RAIL_WATCH_PARSERS_H
#define RAIL_WATCH_PARSERS_H

#include "table.h"

typedef void parser(struct feed *feed, struct text text);

parser parse_stat;         /* /proc/stat */
parser parse_interrupts;   /* /proc/interrupts */
parser parse_softirqs;     /* /proc/softirqs */
parser parse_meminfo;      /* /proc/meminfo */
parser parse_vmstat;       /* /proc/vmstat */
parser parse_net_dev;      /* /proc/net/dev */
parser parse_protocols;    /* /proc/net/snmp and /proc/net/netstat */
parser parse_snmp6;        /* /proc/net/snmp6 */
parser parse_softnet;      /* /proc/net/softnet_stat */
parser parse_pressure_cpu; /* /proc/pressure/ */
parser parse_pressure_memory;
parser parse_pressure_io;
parser parse_pressure_irq;

static inline struct text text_of_word(const char *word)
{
    struct text text = {word, word};
    while (*text.end)
        text.end++;
    return text;
}

#endif
