/* json_value - prints one value of a JSON file, for tests written in bash.
 *
 *     json_value FILE classes.0.name     a name picks a member, a number an element; "length" at the end counts them
 *
 * Text without quotes, numbers with all digits, true, false, null. Exit 1: broken JSON or nothing there. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *step(const json_t *value, const char *part)
{
    return json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10)) : json_object_get(value, part);
}

static int print(const json_t *value)
{
    if (json_is_string(value)) return puts(json_string_value(value)) < 0;
    if (json_is_number(value)) return printf("%.9g\n", json_number_value(value)) < 0;
    if (json_is_boolean(value) || json_is_null(value))
        return puts(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null") < 0;
    fprintf(stderr, "json_value: not a single value\n");
    return 1;
}

int main(int argc, char **argv)
{
    json_error_t error;
    if (argc != 3) return 1;
    json_t *root = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        fprintf(stderr, "json_value: %s: line %d: %s\n", argv[1], error.line, error.text);
        return 1;
    }
    const json_t *value = root;
    for (char *part = strtok(argv[2], "."); part && value; part = strtok(NULL, ".")) {
        if (strcmp(part, "length") == 0) {
            printf("%zu\n", json_is_array(value) ? json_array_size(value) : json_object_size(value));
            json_decref(root);
            return 0;
        }
        value = step(value, part);
    }
    int failed = value ? print(value) : 1;
    json_decref(root);
    return failed;
}
