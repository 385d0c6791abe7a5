#include "cli/version.h"
#include "cairn.h"
#include <stdio.h>
#ifdef CAIRN_HAVE_JPEG
#include <jpeglib.h>
#endif

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

static const char *jpeg_version(void)
{
#if defined CAIRN_HAVE_JPEG && defined LIBJPEG_TURBO_VERSION
    return "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION);
#elif defined CAIRN_HAVE_JPEG
    return "libjpeg " TEXT(JPEG_LIB_VERSION);
#else
    return "stb_image; JPEG by it too, as libjpeg was not there at the build";
#endif
}

cairn_status cli_version_print(FILE *stream)
{
    fprintf(stream, "cairn %s\n", cairn_version());
    for (const cairn_backend *const *backend = cairn_backends(); *backend; backend++) {
        cairn_device *device;
        if (cairn_device_open((*backend)->name, &(cairn_device_options){0}, &device) == CAIRN_OK)
            fprintf(stream, "device %s: %s\n", (*backend)->name, cairn_device_name(device));
        else
            fprintf(stream, "device %s: %s\n", (*backend)->name, cairn_error_last()->message);
        if (device) cairn_device_close(device);
        if ((*backend)->build) fprintf(stream, "    built for %s\n", (*backend)->build);
    }
    fprintf(stream, "pictures: %s\n", jpeg_version());
    return CAIRN_OK;
}
