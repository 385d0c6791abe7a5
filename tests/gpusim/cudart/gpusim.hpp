/* gpusim.hpp - what the runtime double offers the other doubles and the tests, beside CUDA's own calls.
 *
 *     gpusim::call call("cublasLtMatmul", gpusim::kind::library);   counts it, and draws an injected failure
 *     if (call.fails()) return CUBLAS_STATUS_EXECUTION_FAILED;
 *     gpusim::need_device(a, bytes, "cublasLtMatmul: A");           ends the program if a isn't live device memory
 *     gpusim::enqueue(stream, "cublasLtMatmul", [=] { multiply(a, b, c); });
 *
 * Misuse that a real driver would answer with undefined behaviour ends the program with GPUSIM_MISUSE and one line on stderr.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>
#include <string>

namespace gpusim
{

enum { MISUSE_EXIT = 99 };

/* Says "gpusim: ..." on stderr and ends the program with MISUSE_EXIT. */
[[noreturn]] void misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is counted, and what can be told to fail at its n-th call (README.md: GPUSIM_FAIL). */
enum class kind { malloc, host, free, launch, library, copy, fill, create, event, wait, query, KINDS };

/* One call into a double: locks the runtime, counts, and draws an injected failure. */
class call
{
  public:
    call(const char *function, kind what);
    ~call();
    call(const call &) = delete;
    call &operator=(const call &) = delete;
    bool fails() const
    {
        return failed;
    }

  private:
    bool failed;
};

/* Is this fault seeded by GPUSIM_FAULT (README.md)? */
bool faulty(const char *fault);

/* Work for a stream: run in order with what else is in it, once something waits. `what` names it in messages. */
void enqueue(cudaStream_t stream, std::string what, std::function<void()> run);

/* The bytes lie in one live allocation of the device, or of pinned host memory; else the program ends. */
void need_device(const void *memory, std::size_t bytes, const char *what);
bool is_device(const void *memory);

/* Milliseconds that the work running now takes on the simulated clock, beside the fixed cost of every item. */
void spend(double milliseconds);

/* A number below n from the seeded stream. */
std::uint64_t draw(std::uint64_t n);

} // namespace gpusim
