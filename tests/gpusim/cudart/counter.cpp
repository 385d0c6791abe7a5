/* Calls counted by kind, failures injected at the n-th, and the account that GPUSIM_COUNTS asks for at exit. */
#include "gpusim.hpp"
#include "settings.hpp"
#include <cstdio>
#include <mutex>

namespace gpusim
{

namespace
{

constexpr int KINDS = static_cast<int>(kind::KINDS);
constexpr const char *names[KINDS] = {"malloc", "host",   "free",  "launch", "library", "copy",
                                      "fill",   "create", "event", "wait",   "query"};

std::recursive_mutex everything;

/* Calls of each kind, and the call that fails: 0 for none. */
struct counters {
    std::uint64_t made[KINDS] = {}, fails_at[KINDS] = {};
    bool fails_ever_after = false;

    counters();
    ~counters();
};

/* "malloc:3,launch:10"; "malloc:3+" fails the third and every later one. */
counters::counters()
{
    std::string list = setting("GPUSIM_FAIL", "");
    while (!list.empty()) {
        const std::size_t end = list.find(',');
        const std::string item = list.substr(0, end);
        list = end == std::string::npos ? "" : list.substr(end + 1);
        const std::size_t colon = item.find(':');
        int which = 0;
        while (which < KINDS && item.substr(0, colon) != names[which])
            which++;
        if (which == KINDS || colon == std::string::npos) misuse("GPUSIM_FAIL: \"%s\" is not KIND:N", item.c_str());
        fails_at[which] = std::stoull(item.substr(colon + 1));
        fails_ever_after = fails_ever_after || item.back() == '+';
    }
}

counters::~counters()
{
    const std::string path = setting("GPUSIM_COUNTS", "");
    if (path.empty()) return;
    std::FILE *file = std::fopen(path.c_str(), "w");
    if (!file) misuse("can't write GPUSIM_COUNTS=%s", path.c_str());
    for (int i = 0; i < KINDS; i++)
        std::fprintf(file, "%s\"%s\": %llu", i ? ", " : "{", names[i], static_cast<unsigned long long>(made[i]));
    std::fprintf(file, "}\n");
    std::fclose(file);
}

counters &account()
{
    static counters one;
    return one;
}

} // namespace

call::call(const char *function, kind what)
{
    everything.lock();
    counters &c = account();
    const int i = static_cast<int>(what);
    const std::uint64_t n = ++c.made[i];
    failed = c.fails_at[i] && (n == c.fails_at[i] || (c.fails_ever_after && n > c.fails_at[i]));
    if (failed) std::fprintf(stderr, "gpusim: %s fails as GPUSIM_FAIL says\n", function);
}

call::~call()
{
    everything.unlock();
}

} // namespace gpusim

/* Calls of a kind so far, for tests in the same process (looked up with dlsym); the kind's name as GPUSIM_FAIL takes it. */
extern "C" unsigned long long gpusim_count(const char *kind_name)
{
    for (int i = 0; i < gpusim::KINDS; i++)
        if (std::string(kind_name) == gpusim::names[i]) return gpusim::account().made[i];
    gpusim::misuse("gpusim_count: there is no kind \"%s\"", kind_name);
}
