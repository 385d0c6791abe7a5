/* inspection.h - reads every picture of a list with several threads, and notes what each is.
 *
 *     cli_inspection *inspection;
 *     CAIRN_TRY(cli_inspect(dataset->train.sample, dataset->train.count, threads, max_pixels, terminal, &inspection));
 *     ... inspection->picture[i].width ...
 *     cli_inspection_destroy(inspection);
 */
#ifndef CAIRN_CLI_INSPECTION_H
#define CAIRN_CLI_INSPECTION_H

#include "cli/terminal.h"
#include "data/dataset.h"

typedef struct cli_picture {
    const char *path; /* the dataset's */
    int32_t label;
    int width, height;  /* as decoded */
    const char *format; /* static: "JPEG"; NULL for a bad one */
    int64_t bytes;
    char *reason; /* why it is bad, beginning with the path; NULL for a good one */
} cli_picture;

typedef struct cli_inspection {
    cli_picture *picture; /* in the order of the lists */
    int64_t count, bad;
    int threads;
    double seconds; /* of reading and decoding all, whole */
} cli_inspection;

/* `threads` 0 takes one a processor. Pictures of both lists of the dataset, training first. */
cairn_status cli_inspect(const cairn_dataset *dataset, int threads, int64_t max_pixels, cli_terminal *terminal,
                         cli_inspection **out);
void cli_inspection_destroy(cli_inspection *inspection); /* NULL is allowed */

#endif
