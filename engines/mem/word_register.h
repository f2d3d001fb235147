/* The assembler constraint of a register that holds one double. */
#ifndef RAIL_MEM_WORD_REGISTER_H
#define RAIL_MEM_WORD_REGISTER_H

#if defined(__x86_64__)
#define WORD_REGISTER "x"
#elif defined(__aarch64__)
#define WORD_REGISTER "w"
#else
#define WORD_REGISTER "f"
#endif

#endif
