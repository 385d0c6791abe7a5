/* table.h - rows and columns of text for stdout or stderr, aligned, and cut to the width where the last column is too long.
 *
 *     cli_table *table;
 *     CAIRN_TRY(cli_table_create(3, (const char *[]){"layer", "output", ">parameters"}, &table));      > aligns to the right
 *     CAIRN_TRY(cli_table_row(table, (const char *[]){"conv1", "64x55x55", "23,296"}));
 *     cli_table_print(table, terminal, stdout);
 *     cli_table_destroy(table);
 */
#ifndef CAIRN_CLI_TABLE_H
#define CAIRN_CLI_TABLE_H

#include "cli/terminal.h"

typedef struct cli_table cli_table;

enum { CLI_TABLE_COLUMNS = 10 };

/* `heading` has `columns` texts (at most CLI_TABLE_COLUMNS), copied. */
cairn_status cli_table_create(int columns, const char *const *heading, cli_table **out);
cairn_status cli_table_row(cli_table *table, const char *const *cell); /* copied, and made harmless */
cairn_status cli_table_rule(cli_table *table);                         /* a line, before totals */
void cli_table_print(const cli_table *table, const cli_terminal *terminal, FILE *stream);
void cli_table_destroy(cli_table *table); /* NULL is allowed */

#endif
