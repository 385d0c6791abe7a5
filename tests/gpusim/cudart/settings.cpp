#include "settings.hpp"
#include "gpusim.hpp"
#include <cstdlib>

namespace gpusim
{

std::string setting(const char *name, const char *otherwise)
{
    const char *value = std::getenv(name);
    return value && *value ? value : otherwise;
}

std::uint64_t setting_number(const char *name, std::uint64_t otherwise)
{
    const std::string text = setting(name, "");
    if (text.empty()) return otherwise;
    char *end;
    const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
    if (*end) misuse("%s=%s is no number", name, text.c_str());
    return value;
}

bool faulty(const char *fault)
{
    static const std::string list = "," + setting("GPUSIM_FAULT", "") + ",";
    return list.find("," + std::string(fault) + ",") != std::string::npos;
}

/* xorshift64*: the order of streams and threads, the same for the same seed (Vigna 2016). */
std::uint64_t draw(std::uint64_t n)
{
    static std::uint64_t state = (setting_number("GPUSIM_SEED", 1) + 1) * 0x9e3779b97f4a7c15u;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((state * 0x2545f4914f6cdd1du) >> 32) % n;
}

} // namespace gpusim
