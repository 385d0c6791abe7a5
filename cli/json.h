/* json.h - one JSON document on stdout, by jansson.
 *
 *     json_t *root = json_object();
 *     json_object_set_new(root, "file", cli_json_text(path));
 *     CAIRN_TRY(cli_json_print(root));                            releases it too
 */
#ifndef CAIRN_CLI_JSON_H
#define CAIRN_CLI_JSON_H

#include "core/status.h"
#include <jansson.h>
#include <stdint.h>

/* A string of any bytes: those that are no UTF-8 become U+FFFD, as a file's name may hold them. */
json_t *cli_json_text(const char *text);

/* A number with `digits` after the point, as measuring deserves no more; null where it isn't finite. */
json_t *cli_json_real(double value, int digits);

/* Pretty, with a line feed. Takes the document; NULL stands for one that memory didn't suffice for. */
cairn_status cli_json_print(json_t *root);

#endif
