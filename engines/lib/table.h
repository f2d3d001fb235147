/* The table that a person reads when no --json was asked for. */
#ifndef RAIL_TABLE_H
#define RAIL_TABLE_H

#include "fields.h"
#include "result.h"

void table_begin(const struct launch *launch);
void table_settings(const struct fields *client, const struct fields *server);
void table_row(long number, const struct result *result);
/* The lowest, mean and highest of each column, unless it is a series. */
void table_end(void);
/* The launches that follow are one table, a row a size. */
void table_series(const struct series *series);

#endif
