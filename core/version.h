/* version.h - which Cairn this is. The build takes the number from here. */
#ifndef CAIRN_CORE_VERSION_H
#define CAIRN_CORE_VERSION_H

#define CAIRN_VERSION "0.1.0"

/* The version of the library that was linked, CAIRN_VERSION at its build. */
const char *cairn_version(void);

#endif
