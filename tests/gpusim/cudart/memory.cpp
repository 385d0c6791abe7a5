#include "memory.hpp"
#include "device.hpp"
#include "gpusim.hpp"
#include "settings.hpp"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>

namespace gpusim
{

namespace
{

constexpr std::size_t PAGE = 4096, HUGE_PAGE = std::size_t{2} << 20;
constexpr std::size_t ARENA = std::size_t{1} << 42; /* 4 TiB of addresses: none is given out twice */
char *const ARENA_START = reinterpret_cast<char *>(0x700000000000);
constexpr unsigned char FILL = 0xff;

struct block {
    std::size_t bytes, pages; /* asked for; `pages` bytes are accessible */
    bool live;
};

struct heap {
    std::map<char *, block> device; /* freed blocks stay, to be told from others */
    std::map<char *, std::size_t> pinned;
    char *next = nullptr;
    std::size_t used = 0;
    const char *work = nullptr; /* what the device is doing; NULL while host code runs */
    bool open = false;
    struct sigaction otherwise = {};

    ~heap();
};

heap &memory()
{
    static heap one;
    return one;
}

std::size_t rounded(std::size_t bytes, std::size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* The block at or before an address; NULL if there is none. */
const std::pair<char *const, block> *block_at(const void *address)
{
    auto &device = memory().device;
    auto after = device.upper_bound(static_cast<char *>(const_cast<void *>(address)));
    return after == device.begin() ? nullptr : &*--after;
}

std::string describe(const void *address)
{
    const auto *found = block_at(address);
    char text[200];
    if (!found) return "no allocation";
    const long offset = static_cast<long>(static_cast<const char *>(address) - found->first);
    std::snprintf(text, sizeof text, "byte %ld of an allocation of %zu%s", offset, found->second.bytes,
                  found->second.live ? "" : " that was freed");
    return text;
}

/* A fault inside the range is a program's mistake, told in its own terms; any other goes to whoever would have had it. */
void on_fault(int, siginfo_t *info, void *)
{
    const char *address = static_cast<const char *>(info->si_addr);
    if (address >= ARENA_START && address < ARENA_START + ARENA) {
        if (memory().work) misuse("%s touched %s", memory().work, describe(address).c_str());
        misuse("host code touched device memory: %s", describe(address).c_str());
    }
    sigaction(SIGSEGV, &memory().otherwise, nullptr);
}

void reserve()
{
    heap &m = memory();
    if (m.next) return;
    void *got =
        mmap(ARENA_START, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != ARENA_START) misuse("can't reserve the device's address range");
    m.next = ARENA_START + HUGE_PAGE;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &m.otherwise);
}

void protect(int protection)
{
    for (const auto &[address, b] : memory().device)
        if (b.live && mprotect(address, b.pages, protection) != 0) misuse("mprotect of %zu bytes failed", b.pages);
}

/* The bytes between an allocation's end and its page's end are as they were filled. */
void check_slack(const char *address, const block &b, const char *work)
{
    for (std::size_t i = b.bytes; i < b.pages; i++)
        if (static_cast<unsigned char>(address[i]) != FILL)
            misuse("%s wrote byte %zu of an allocation of %zu", work, i, b.bytes);
}

heap::~heap()
{
    std::size_t bytes = 0, blocks = 0;
    for (const auto &[address, b] : device)
        if (b.live) bytes += b.bytes, blocks++;
    if (blocks) misuse("%zu bytes of device memory in %zu allocations were never freed", bytes, blocks);
    if (!pinned.empty()) misuse("%zu allocations of pinned memory were never freed", pinned.size());
}

} // namespace

void *device_alloc(std::size_t bytes)
{
    reserve();
    heap &m = memory();
    std::size_t free, total;
    device_memory(&free, &total);
    const std::size_t pages = rounded(bytes, PAGE), align = pages >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    if (pages > free) return nullptr;
    char *at = ARENA_START + rounded(static_cast<std::size_t>(m.next - ARENA_START), align);
    m.next = at + pages + PAGE;
    if (m.next > ARENA_START + ARENA) misuse("the device's address range is used up");
    if (mprotect(at, pages, PROT_READ | PROT_WRITE) != 0) return nullptr;
    if (align == HUGE_PAGE) madvise(at, pages, MADV_HUGEPAGE);
    std::memset(at, FILL, pages);
    if (!m.open) mprotect(at, pages, PROT_NONE);
    m.device[at] = {bytes, pages, true};
    m.used += pages;
    return at;
}

void device_free(void *address)
{
    heap &m = memory();
    auto found = m.device.find(static_cast<char *>(address));
    if (found == m.device.end())
        misuse("cudaFree of an address that cudaMalloc never gave: %s", describe(address).c_str());
    block &b = found->second;
    if (!b.live) misuse("cudaFree of memory that was freed before: %s", describe(address).c_str());
    mprotect(address, b.pages, PROT_NONE);
    madvise(address, b.pages, MADV_DONTNEED);
    b.live = false;
    m.used -= b.pages;
}

void device_memory(std::size_t *free, std::size_t *total)
{
    static const std::size_t limit = setting_number("GPUSIM_MEMORY", current_device().memory);
    *total = current_device().memory < limit ? current_device().memory : limit;
    *free = *total > memory().used ? *total - memory().used : 0;
}

void *host_alloc(std::size_t bytes)
{
    void *address = std::aligned_alloc(PAGE, rounded(bytes, PAGE));
    if (address) {
        std::memset(address, FILL, bytes);
        memory().pinned[static_cast<char *>(address)] = bytes;
    }
    return address;
}

void host_free(void *address)
{
    if (!memory().pinned.erase(static_cast<char *>(address))) misuse("cudaFreeHost of memory that isn't pinned");
    std::free(address);
}

bool is_pinned(const void *address, std::size_t bytes)
{
    const char *from = static_cast<const char *>(address);
    auto after = memory().pinned.upper_bound(const_cast<char *>(from));
    if (after == memory().pinned.begin()) return false;
    --after;
    return from + bytes <= after->first + after->second;
}

bool is_device(const void *address)
{
    const char *at = static_cast<const char *>(address);
    return at >= ARENA_START && at < ARENA_START + ARENA;
}

void need_device(const void *address, std::size_t bytes, const char *what)
{
    const auto *found = block_at(address);
    const char *at = static_cast<const char *>(address);
    if (!is_device(address)) misuse("%s: %p is not device memory", what, address);
    if (!found || !found->second.live || at + bytes > found->first + found->second.bytes)
        misuse("%s: %zu bytes from %s", what, bytes, describe(address).c_str());
}

void enter_device()
{
    memory().open = true;
    protect(PROT_READ | PROT_WRITE);
}

void working_on(const char *what)
{
    heap &m = memory();
    if (!what)
        for (const auto &[address, b] : m.device)
            if (b.live) check_slack(address, b, m.work);
    m.work = what;
}

void leave_device()
{
    protect(PROT_NONE);
    memory().open = false;
}

} // namespace gpusim

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

extern "C" cudaError_t cudaMalloc(void **out, std::size_t bytes)
{
    call call(__func__, kind::malloc);
    if (call.fails()) return remember(cudaErrorMemoryAllocation);
    *out = bytes ? gpusim::device_alloc(bytes) : nullptr;
    return remember(*out || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* Waits for the device, as the manual of cudaFree says of memory of cudaMalloc. */
extern "C" cudaError_t cudaFree(void *memory)
{
    call call(__func__, kind::free);
    if (!memory) return cudaSuccess;
    const cudaError_t done = cudaDeviceSynchronize();
    gpusim::device_free(memory);
    return done;
}

extern "C" cudaError_t cudaHostAlloc(void **out, std::size_t bytes, unsigned)
{
    call call(__func__, kind::host);
    *out = call.fails() ? nullptr : gpusim::host_alloc(bytes);
    return remember(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

extern "C" cudaError_t cudaFreeHost(void *memory)
{
    call call(__func__, kind::free);
    if (!memory) return cudaSuccess;
    const cudaError_t done = cudaDeviceSynchronize();
    gpusim::host_free(memory);
    return done;
}

extern "C" cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total)
{
    call call(__func__, kind::query);
    gpusim::device_memory(free, total);
    return remember(cudaSuccess);
}
