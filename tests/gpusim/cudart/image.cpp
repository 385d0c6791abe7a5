#include "image.hpp"
#include "gpusim.hpp"
#include <cstring>
#include <fatbinary_section.h>

namespace gpusim
{

namespace
{

/* The container's header and its entries' headers, as far as they are needed; seen in what nvcc 12 and 13 write. */
constexpr std::uint32_t CONTAINER = 0xba55ed50;

struct container_header {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes; /* of all entries */
};

struct entry_header {
    std::uint16_t kind, version; /* 1: PTX, 2: machine code */
    std::uint32_t header_bytes;
    std::uint64_t bytes;
    std::uint32_t unused[3];
    std::uint32_t capability;
};

} // namespace

bool has_image(const void *wrapper, int capability)
{
    const auto *control = static_cast<const __fatBinC_Wrapper_t *>(wrapper);
    if (control->magic != FATBINC_MAGIC) misuse("what was registered is no fat binary");
    const char *at = reinterpret_cast<const char *>(control->data);
    container_header container;
    std::memcpy(&container, at, sizeof container);
    if (container.magic != CONTAINER) misuse("the fat binary's container has another format than this double knows");
    at += container.header_bytes;
    for (const char *end = at + container.bytes; at < end;) {
        entry_header entry;
        std::memcpy(&entry, at, sizeof entry);
        const int built = static_cast<int>(entry.capability);
        if (entry.kind == 1 && capability >= built) return true;
        if (entry.kind == 2 && capability / 10 == built / 10 && capability >= built) return true;
        at += entry.header_bytes + entry.bytes;
    }
    return false;
}

} // namespace gpusim
