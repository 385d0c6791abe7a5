/* cuda_plugin.c - the CUDA backend as libcairn knows it: a table that opens libcairn_cuda.so when a GPU is asked for.
 *
 * Nothing of CUDA is linked into libcairn, so that it starts on any machine and can say what is missing. A device opened here has the
 * plug-in's own table; this one is for choosing a device and for --version. */
#include "backends/backends.h"
#include "backends/cuda_hardware.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN "libcairn_cuda.so"

#ifndef CAIRN_CUDA_BUILD
#define CAIRN_CUDA_BUILD NULL
#endif

enum { PATH_SIZE = 1024 };

/* ---- where it is ---- */

/* This function's own address says which file is libcairn. */
static void own_folder(char *folder, size_t size)
{
    if (cairn_os_file_of((void (*)(void))own_folder, folder, size) != CAIRN_OK) {
        snprintf(folder, size, ".");
        return;
    }
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
}

static bool stands(char *path, size_t size, const char *folder, const char *below)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", below, PLUGIN);
    return cairn_os_join(path, size, folder, name) == CAIRN_OK && cairn_os_stat(path, NULL) == CAIRN_OS_FILE;
}

/* In the folder CAIRN_PLUGIN_PATH where that is set; else beside libcairn, as built, or in cairn/ below it, as installed. */
static cairn_status find_plugin(char *path, size_t size)
{
    char folder[PATH_SIZE];
    const char *wanted = getenv("CAIRN_PLUGIN_PATH");
    if (wanted && *wanted) {
        if (stands(path, size, wanted, "")) return CAIRN_OK;
        return cairn_fail(CAIRN_DEVICE,
                          "cuda: there is no " PLUGIN
                          " in %.300s, where CAIRN_PLUGIN_PATH points: unset it, or build Cairn "
                          "where the CUDA toolkit is, with -DCAIRN_CUDA=ON",
                          wanted);
    }
    own_folder(folder, sizeof folder);
    if (stands(path, size, folder, "") || stands(path, size, folder, "cairn/")) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE,
                      "cuda: this build of Cairn has no CUDA backend: there is no " PLUGIN
                      " in %.300s nor in cairn/ below it: "
                      "build where the CUDA toolkit with cuDNN is, with -DCAIRN_CUDA=ON, or set CAIRN_PLUGIN_PATH",
                      folder);
}

/* ---- opening it ---- */

/* Libraries by the beginning of their file's name, which is what the loader's complaint begins with. */
static const struct {
    const char *file, *name;
} libraries[] = {
    {"libcudart.so", "the CUDA runtime"},
    {"libcublas", "cuBLAS"},
    {"libcudnn", "cuDNN"},
};

/* The loader gave `reason` for not loading `path`. */
static cairn_status not_loaded(const char *path, const char *reason)
{
    const char *searched = getenv("LD_LIBRARY_PATH");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *at = strstr(reason, libraries[i].file);
        if (!at) continue;
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: %s is missing: %.*s was looked for in LD_LIBRARY_PATH (%.200s), where Cairn was built, and in the "
            "system's folders: install it, or put its folder into LD_LIBRARY_PATH",
            libraries[i].name, (int)strcspn(at, ": "), at, searched && *searched ? searched : "not set");
    }
    return cairn_fail(CAIRN_DEVICE, "cuda: %.500s: build libcairn and the plug-in anew from one source",
                      reason[0] ? reason : path);
}

static cairn_status load(const cairn_backend **out)
{
    char path[PATH_SIZE], reason[CAIRN_ERROR_MESSAGE_SIZE];
    void *handle;
    union { /* ISO C has no conversion of an object's address into a function's */
        void *address;
        const cairn_backend *(*table)(void);
    } entry;
    CAIRN_TRY(find_plugin(path, sizeof path));
    if (cairn_os_library_open(path, &handle) != CAIRN_OK) {
        snprintf(reason, sizeof reason, "%s", cairn_error_last()->message);
        return not_loaded(path, reason);
    }
    /* Never closed: CUDA's libraries are not made to be unloaded, and opening the same file again costs nothing. */
    entry.address = cairn_os_library_symbol(handle, "cairn_cuda_plugin");
    if (!entry.address)
        return cairn_fail(CAIRN_DEVICE, "cuda: %s is not a plug-in of Cairn: it has no cairn_cuda_plugin", path);
    *out = entry.table();
    if ((*out)->abi == CAIRN_BACKEND_ABI) return CAIRN_OK;
    return cairn_fail(CAIRN_DEVICE, "cuda: %s has ABI %d and this library %d: build both from one source", path,
                      (*out)->abi, CAIRN_BACKEND_ABI);
}

/* ---- the table ---- */

/* Loading CUDA's libraries takes half a second, cold five: they are asked only where there is a sign of a GPU, or where the user has said
 * which plug-in to take. */
static cairn_status probe(bool *present)
{
    const cairn_backend *plugin;
    bool answers = false, hardware = cairn_cuda_hardware_present("");
    *present = hardware;
    if (!hardware && !getenv("CAIRN_PLUGIN_PATH"))
        return cairn_fail(
            CAIRN_DEVICE,
            "cuda: there is no NVIDIA GPU in this machine: no driver has left a sign, and the PCI bus lists none");
    CAIRN_TRY(load(&plugin));
    cairn_status status = plugin->probe(&answers);
    *present = hardware || answers;
    return status;
}

static cairn_status device_open(const cairn_device_options *options, cairn_device **out)
{
    const cairn_backend *plugin;
    CAIRN_TRY(load(&plugin));
    return plugin->open(options, out);
}

const cairn_backend cairn_backend_cuda = {
    .abi = CAIRN_BACKEND_ABI,
    .name = "cuda",
    .build = CAIRN_CUDA_BUILD,
    .numbered = true,
    .probe = probe,
    .open = device_open,
};
