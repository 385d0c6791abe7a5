/* suggest.h - the nearest of some words to one that was mistyped.
 *
 *     const char *known[] = {"train", "eval", NULL};
 *     cli_suggest("trian", known);      "train"
 */
#ifndef CAIRN_CLI_SUGGEST_H
#define CAIRN_CLI_SUGGEST_H

/* The word at the smallest edit distance (insertion, deletion, change, swap of neighbours: 1 each), or one that `word` begins; NULL where
 * more than a third of the letters differ. `known` ends with NULL. */
const char *cli_suggest(const char *word, const char *const *known);

#endif
