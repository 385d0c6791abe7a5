#include "backends/cuda_hardware.h"
#include "core/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 512 };

/* Does the small file `folder`/`name` begin with `text`? */
static bool begins(const char *folder, const char *name, const char *text)
{
    char path[PATH_SIZE];
    void *data = NULL;
    size_t bytes;
    if (cairn_os_join(path, sizeof path, folder, name) != CAIRN_OK) return false;
    bool same = cairn_os_read_file(path, 4096, &data, &bytes) == CAIRN_OK && strncmp(data, text, strlen(text)) == 0;
    free(data);
    return same;
}

/* NVIDIA is vendor 10de, and class 03 are display controllers, which GPUs without a display are too (PCI-SIG's lists). */
static bool on_pci_bus(const char *root)
{
    char folder[PATH_SIZE], device[PATH_SIZE];
    cairn_os_names names = {0};
    bool found = false;
    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices", root);
    if (cairn_os_list(folder, &names) != CAIRN_OK) return false;
    for (size_t i = 0; i < names.count && !found; i++)
        found = cairn_os_join(device, sizeof device, folder, names.name[i]) == CAIRN_OK &&
                begins(device, "vendor", "0x10de") && begins(device, "class", "0x03");
    cairn_os_names_free(&names);
    return found;
}

bool cairn_cuda_hardware_present(const char *root)
{
    static const char *const signs[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/nvidia0",
                                        "/usr/lib/wsl/lib/libcuda.so.1"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        snprintf(path, sizeof path, "%s%s", root, signs[i]);
        if (cairn_os_stat(path, NULL) != CAIRN_OS_MISSING) return true;
    }
    return on_pci_bus(root);
}
