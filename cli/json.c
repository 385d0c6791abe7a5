#include "cli/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character that `text` begins with; 0 where it is none. jansson, which refuses more (surrogates, overlong forms), is
 * asked by trying. */
static size_t character(const char *text)
{
    for (size_t n = 1; n <= 4 && text[n - 1]; n++) {
        json_t *one = json_stringn(text, n);
        if (one) {
            json_decref(one);
            return n;
        }
    }
    return 0;
}

json_t *cli_json_text(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    json_t *whole = json_string(text);
    if (whole) return whole;
    char *mended = malloc(3 * strlen(text) + 1), *to = mended;
    if (!mended) return NULL;
    while (*text) {
        size_t n = character(text);
        memcpy(to, n ? text : replacement, n ? n : 3);
        to += n ? n : 3;
        text += n ? n : 1;
    }
    whole = json_stringn(mended, (size_t)(to - mended));
    free(mended);
    return whole;
}

json_t *cli_json_real(double value, int digits)
{
    if (!isfinite(value)) return json_null();
    double scale = pow(10, digits);
    return json_real(round(value * scale) / scale);
}

cairn_status cli_json_print(json_t *root)
{
    if (!root) return cairn_fail(CAIRN_MEMORY, "no memory for the JSON output");
    int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(root);
    if (failed || putchar('\n') == EOF) return cairn_fail(CAIRN_FILE, "stdout can't be written; is the disk full?");
    return CAIRN_OK;
}
