/* scratch.h - a folder of a test's own, under the build folder, empty at the start.
 *
 *     static char folder[SCRATCH_SIZE];
 *     scratch_make(CAIRN_TEST_BUILD, "safetensors", folder);       ".../tests/scratch/safetensors"
 */
#ifndef CAIRN_TESTS_SUPPORT_SCRATCH_H
#define CAIRN_TESTS_SUPPORT_SCRATCH_H

#define SCRATCH_SIZE 1024

/* Makes the folder, or empties it of what an earlier run left, and puts its path in `folder`. Ends the program when it can't. */
void scratch_make(const char *build, const char *name, char folder[SCRATCH_SIZE]);

/* folder + '/' + name, in `out`, which is returned. */
const char *scratch_path(const char *folder, const char *name, char out[SCRATCH_SIZE]);

/* Entries in a folder, for tests that nothing is left behind. */
int scratch_count(const char *folder);

#endif
