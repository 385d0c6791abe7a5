/* cuda_hardware.c - the signs of an NVIDIA GPU, in made-up trees of /proc, /dev and /sys. */
#include "backends/cuda_hardware.h"
#include "core/os.h"
#include "tests/support/scratch.h"
#include "tests/test.h"

static char root[SCRATCH_SIZE];

static void write_file(const char *below, const char *name, const char *text)
{
    char folder[SCRATCH_SIZE], path[SCRATCH_SIZE];
    REQUIRE_OK(cairn_os_make_folders(scratch_path(root, below, folder)));
    FILE *file = fopen(scratch_path(folder, name, path), "w");
    REQUIRE(file);
    fputs(text, file);
    fclose(file);
}

static void nothing_is_no_sign(void)
{
    scratch_make(CAIRN_TEST_BUILD, "cuda_hardware", root);
    CHECK(!cairn_cuda_hardware_present(root));
}

static void driver_is_a_sign(void)
{
    scratch_make(CAIRN_TEST_BUILD, "cuda_hardware", root);
    write_file("proc/driver/nvidia", "version", "NVRM version: 580.65.06\n");
    CHECK(cairn_cuda_hardware_present(root));
}

static void device_file_is_a_sign(void)
{
    scratch_make(CAIRN_TEST_BUILD, "cuda_hardware", root);
    write_file("dev", "nvidia0", "");
    CHECK(cairn_cuda_hardware_present(root));
}

/* Without any driver the bus still lists the card: a display controller (03....) of NVIDIA's (10de), not its audio function (0403). */
static void card_without_driver_is_a_sign(void)
{
    scratch_make(CAIRN_TEST_BUILD, "cuda_hardware", root);
    write_file("sys/bus/pci/devices/0000:00:02.0", "vendor", "0x8086\n");
    write_file("sys/bus/pci/devices/0000:00:02.0", "class", "0x030000\n");
    write_file("sys/bus/pci/devices/0000:01:00.1", "vendor", "0x10de\n");
    write_file("sys/bus/pci/devices/0000:01:00.1", "class", "0x040300\n");
    write_file("sys/bus/pci/devices/0000:01:00.2", "vendor", "0x10de\n"); /* and one that tells no class */
    CHECK(!cairn_cuda_hardware_present(root));
    write_file("sys/bus/pci/devices/0000:01:00.0", "vendor", "0x10de\n");
    write_file("sys/bus/pci/devices/0000:01:00.0", "class", "0x030200\n");
    CHECK(cairn_cuda_hardware_present(root));
}

int main(void)
{
    RUN(nothing_is_no_sign);
    RUN(driver_is_a_sign);
    RUN(device_file_is_a_sign);
    RUN(card_without_driver_is_a_sign);
    return test_result();
}
