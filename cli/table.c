#include "cli/table.h"
#include "core/os.h"
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

struct cli_table {
    int columns;
    bool right[CLI_TABLE_COLUMNS];
    char **cell; /* [rows][columns]; row 0 is the heading; a rule is a row whose first cell is NULL */
    int rows, capacity;
};

static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *to = malloc(bytes);
    return to ? cli_harmless(memcpy(to, text, bytes)) : NULL;
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* Columns a UTF-8 text takes, one a character. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += begins_character(*text);
    return width;
}

/* Bytes of the first `columns` characters of a UTF-8 text. */
static int bytes_of(const char *text, int columns)
{
    const char *end = text;
    for (; *end; end++)
        if (begins_character(*end) && columns-- == 0) break;
    return (int)(end - text);
}

/* A further row of NULLs. */
static cairn_status add(cli_table *table, char ***row)
{
    if (table->rows == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 32;
        char **cell = realloc(table->cell, (size_t)(capacity * table->columns) * sizeof *cell);
        if (!cell) return cairn_fail(CAIRN_MEMORY, "no memory for a table of %d rows", capacity);
        table->cell = cell;
        table->capacity = capacity;
    }
    *row = table->cell + (ptrdiff_t)table->rows++ * table->columns;
    memset(*row, 0, (size_t)table->columns * sizeof **row);
    return CAIRN_OK;
}

cairn_status cli_table_create(int columns, const char *const *heading, cli_table **out)
{
    *out = NULL;
    cli_table *table = calloc(1, sizeof *table);
    if (!table) return cairn_fail(CAIRN_MEMORY, "no memory for a table");
    table->columns = columns;
    const char *text[CLI_TABLE_COLUMNS];
    for (int c = 0; c < columns; c++) {
        table->right[c] = heading[c][0] == '>';
        text[c] = heading[c] + table->right[c];
    }
    cairn_status status = cli_table_row(table, text);
    if (status == CAIRN_OK)
        *out = table;
    else
        cli_table_destroy(table);
    return status;
}

cairn_status cli_table_row(cli_table *table, const char *const *cell)
{
    char **row = NULL;
    CAIRN_TRY(add(table, &row));
    for (int c = 0; c < table->columns; c++)
        if (!(row[c] = copy(cell[c]))) return cairn_fail(CAIRN_MEMORY, "no memory for a table's row");
    return CAIRN_OK;
}

cairn_status cli_table_rule(cli_table *table)
{
    char **row = NULL;
    return add(table, &row);
}

void cli_table_destroy(cli_table *table)
{
    if (!table) return;
    for (int i = 0; i < table->rows * table->columns; i++)
        free(table->cell[i]);
    free(table->cell);
    free(table);
}

static void print_rule(const int *width, int columns, FILE *stream)
{
    int total = -GAP;
    for (int c = 0; c < columns; c++)
        total += width[c] + GAP;
    while (total-- > 0)
        fputc('-', stream);
    fputc('\n', stream);
}

static void print_row(const cli_table *table, char **row, const int *width, FILE *stream)
{
    for (int c = 0; c < table->columns; c++) {
        bool last = c == table->columns - 1;
        const char *cell = row[c] ? row[c] : "";
        int used = width_of(cell), space = width[c] > used ? width[c] - used : 0;
        if (last && !table->right[c])
            fprintf(stream, "%.*s", bytes_of(cell, width[c]), cell);
        else if (table->right[c])
            fprintf(stream, "%*s%s%*s", space, "", cell, last ? 0 : GAP, "");
        else
            fprintf(stream, "%s%*s", cell, space + GAP, "");
    }
    fputc('\n', stream);
}

void cli_table_print(const cli_table *table, const cli_terminal *terminal, FILE *stream)
{
    int width[CLI_TABLE_COLUMNS] = {0}, total = -GAP, last = table->columns - 1;
    for (int r = 0; r < table->rows; r++)
        for (int c = 0; c < table->columns; c++) {
            const char *text = table->cell[r * table->columns + c];
            int w = text ? width_of(text) : 0;
            if (w > width[c]) width[c] = w;
        }
    for (int c = 0; c < table->columns; c++)
        total += width[c] + GAP;
    int excess = total - cairn_os_terminal_width(stream);
    bool cut = excess > 0 && !table->right[last] && width[last] - excess >= 8 && cairn_os_is_terminal(stream);
    if (cut) width[last] -= excess;
    for (int r = 0; r < table->rows; r++) {
        char **row = table->cell + (ptrdiff_t)r * table->columns;
        if (!row[0]) {
            print_rule(width, table->columns, stream);
            continue;
        }
        if (r == 0) fputs(cli_style_on(terminal, stream, CLI_BOLD), stream);
        print_row(table, row, width, stream);
        if (r == 0) fputs(cli_style_on(terminal, stream, CLI_PLAIN), stream);
    }
}
