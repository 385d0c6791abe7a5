/* tested.h - the backends that a test program runs on: those its command line names, else every one that finds a device here.
 *
 *     const tested backends = tested_backends(argc, argv);
 *     for (int i = 0; i < backends.count; i++) open(backends.name[i]);
 */
#ifndef CAIRN_TESTS_SUPPORT_TESTED_H
#define CAIRN_TESTS_SUPPORT_TESTED_H

enum { TESTED_MOST = 8 };

typedef struct tested {
    const char *name[TESTED_MOST];
    int count;
} tested;

/* Prints which it leaves out, and why. */
tested tested_backends(int argc, char **argv);

/* The same without ref, which the others are compared with. */
tested tested_against_ref(int argc, char **argv);

#endif
