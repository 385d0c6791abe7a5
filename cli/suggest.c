#include "cli/suggest.h"
#include <stddef.h>
#include <string.h>

enum { LONGEST = 40 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance. Words longer than LONGEST count as far apart. */
static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *cli_suggest(const char *word, const char *const *known)
{
    size_t length = strlen(word);
    const char *best = NULL, *begun = NULL;
    int best_distance = (int)(length + 2) / 3 + 1;
    for (; *known; known++) {
        int d = distance(word, *known);
        if (d < best_distance) best = *known, best_distance = d;
        if (length >= 2 && !begun && strncmp(word, *known, length) == 0) begun = *known;
    }
    return best ? best : begun;
}
