/* version.h - which Cairn this is and what it stands on: `cairn --version`. */
#ifndef CAIRN_CLI_VERSION_H
#define CAIRN_CLI_VERSION_H

#include "core/status.h"
#include <stdio.h>

/* Lines on `stream`: the version, each backend with the device it would open or why not and what it was built for, and the image libraries. */
cairn_status cli_version_print(FILE *stream);

#endif
