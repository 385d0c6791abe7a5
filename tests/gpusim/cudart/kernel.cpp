/* Registration and launch of kernels. nvcc's object files register their fat binary and, by address of a host stub and mangled name, every
 * kernel; a launch names the stub. */
#include "kernel.hpp"
#include "block.hpp"
#include "device.hpp"
#include "gpusim.hpp"
#include "image.hpp"
#include <map>
#include <memory>
#include <string>
#include <vector>

using gpusim::call;
using gpusim::kind;
using gpusim::remember;

namespace gpusim
{

namespace
{

constexpr double BLOCK_MS = 1e-5;

struct registered {
    std::string name;
    const host_kernel *host = nullptr; /* NULL: none is known */
    const void *fat_binary = nullptr;
};

std::map<const void *, registered> &stubs()
{
    static std::map<const void *, registered> one;
    return one;
}

std::vector<const host_kernel *> &tables()
{
    static std::vector<const host_kernel *> all = {product_kernels};
    return all;
}

const host_kernel *find(const std::string &name)
{
    for (const host_kernel *table : tables())
        for (const host_kernel *k = table; k->name; k++)
            if (name == k->name) return k;
    return nullptr;
}

/* A launch's arguments, copied when it is made, as CUDA does. */
class arguments
{
  public:
    arguments(const host_kernel &kernel, void **given)
    {
        std::size_t bytes = 0;
        for (unsigned i = 0; i < kernel.count; i++)
            bytes = aligned(bytes) + kernel.sizes[i];
        memory = std::make_unique<chunk[]>(aligned(bytes) / sizeof(chunk) + 1);
        char *at = reinterpret_cast<char *>(memory.get());
        for (unsigned i = 0; i < kernel.count; i++) {
            std::memcpy(at, given[i], kernel.sizes[i]);
            addresses.push_back(at);
            at += aligned(kernel.sizes[i]);
        }
    }
    void *const *get() const
    {
        return addresses.data();
    }

  private:
    struct alignas(16) chunk {
        char bytes[16];
    };
    static std::size_t aligned(std::size_t bytes)
    {
        return (bytes + sizeof(chunk) - 1) / sizeof(chunk) * sizeof(chunk);
    }
    std::unique_ptr<chunk[]> memory;
    std::vector<void *> addresses;
};

/* GPUSIM_FAULT=forgotten_tail: the last block, or the last thread of the only one, does nothing. */
void run_grid(const host_kernel &kernel, const arguments &given, dim3 grid, dim3 size)
{
    const bool fault = faulty("forgotten_tail");
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z,
                        kept = fault && blocks > 1 ? blocks - 1 : blocks;
    const unsigned threads = size.x * size.y * size.z;
    grid_size = grid;
    block_size = size;
    for (std::uint64_t i = 0; i < kept; i++) {
        block_index = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                       static_cast<unsigned>(i / grid.x / grid.y)};
        run_block(kernel, given.get(), threads);
    }
    spend(BLOCK_MS * static_cast<double>(blocks));
}

bool is_launchable(dim3 grid, dim3 size)
{
    return grid.x && grid.y && grid.z && grid.x <= 2147483647u && grid.y <= 65535 && grid.z <= 65535 && size.x &&
           size.y && size.z && size.x <= 1024 && size.y <= 1024 && size.z <= 64 &&
           std::uint64_t{size.x} * size.y * size.z <= 1024;
}

} // namespace

void offer_kernels(const host_kernel *table)
{
    tables().push_back(table);
}

} // namespace gpusim

extern "C" cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 size, void **given, std::size_t shared,
                                        cudaStream_t stream)
{
    call call(__func__, kind::launch);
    if (call.fails()) return remember(cudaErrorLaunchFailure);
    auto found = gpusim::stubs().find(stub);
    if (found == gpusim::stubs().end()) return remember(cudaErrorInvalidDeviceFunction);
    const gpusim::registered &kernel = found->second;
    const gpusim::device &device = gpusim::current_device();
    if (!gpusim::has_image(kernel.fat_binary, device.major * 10 + device.minor))
        return remember(cudaErrorNoKernelImageForDevice);
    if (!kernel.host) gpusim::misuse("kernel %s has no host version", kernel.name.c_str());
    if (!gpusim::is_launchable(grid, size)) return remember(cudaErrorInvalidConfiguration);
    if (shared) gpusim::misuse("%s: dynamic shared memory is not offered", kernel.name.c_str());
    auto copied = std::make_shared<gpusim::arguments>(*kernel.host, given);
    gpusim::enqueue(stream, kernel.name, [=, &kernel] { gpusim::run_grid(*kernel.host, *copied, grid, size); });
    return cudaSuccess;
}

extern "C" void **__cudaRegisterFatBinary(void *wrapper)
{
    return new void *(wrapper);
}

extern "C" void __cudaRegisterFatBinaryEnd(void **) {}

extern "C" void __cudaUnregisterFatBinary(void **handle)
{
    for (auto one = gpusim::stubs().begin(); one != gpusim::stubs().end();)
        one = one->second.fat_binary == *handle ? gpusim::stubs().erase(one) : std::next(one);
    delete handle;
}

extern "C" void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name, int, uint3 *, uint3 *,
                                       dim3 *, dim3 *, int *)
{
    gpusim::stubs()[stub] = {name, gpusim::find(name), *handle};
}

/* The generated stubs refer to these, and nothing calls them: launches go through cudaLaunchKernel. */
extern "C" cudaError_t __cudaGetKernel(cudaKernel_t *, const void *)
{
    gpusim::misuse("a kernel is launched with <<<>>>");
}

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, std::size_t, cudaStream_t)
{
    gpusim::misuse("a kernel is launched with <<<>>>");
}

extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, std::size_t *, void *)
{
    gpusim::misuse("a kernel is launched with <<<>>>");
}
