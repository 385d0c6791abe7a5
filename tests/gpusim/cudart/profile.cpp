/* Reads the machine from its JSON profile. */
#include "device.hpp"
#include "gpusim.hpp"
#include "settings.hpp"
#include <cstdio>
#include <cstdlib>
#include <jansson.h>

namespace gpusim
{

namespace
{

std::string profile_path()
{
    const std::string name = setting("GPUSIM_PROFILE", "h200");
    return name.find('/') != std::string::npos ? name : std::string(GPUSIM_PROFILES) + "/" + name + ".json";
}

json_int_t integer(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    if (!json_is_integer(value)) misuse("%s: \"%s\" must be an integer", profile_path().c_str(), key);
    return json_integer_value(value);
}

std::string text(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    if (!json_is_string(value)) misuse("%s: \"%s\" must be a string", profile_path().c_str(), key);
    return json_string_value(value);
}

device read_device(const json_t *from)
{
    device d = {};
    unsigned domain, bus, slot;
    d.name = text(from, "name");
    d.uuid = text(from, "uuid");
    if (std::sscanf(text(from, "pci").c_str(), "%x:%x:%x", &domain, &bus, &slot) != 3)
        misuse("%s: \"pci\" must be as 0000:3b:00", profile_path().c_str());
    d.pci_domain = static_cast<int>(domain);
    d.pci_bus = static_cast<int>(bus);
    d.pci_device = static_cast<int>(slot);
    d.major = static_cast<int>(integer(from, "major"));
    d.minor = static_cast<int>(integer(from, "minor"));
    d.memory = static_cast<std::size_t>(integer(from, "memory"));
    d.multiprocessors = static_cast<int>(integer(from, "multiprocessors"));
    d.threads_per_multiprocessor = static_cast<int>(integer(from, "threads_per_multiprocessor"));
    d.registers = static_cast<int>(integer(from, "registers"));
    d.l2_bytes = static_cast<int>(integer(from, "l2_bytes"));
    d.memory_bus_bits = static_cast<int>(integer(from, "memory_bus_bits"));
    d.clock_khz = static_cast<int>(integer(from, "clock_khz"));
    d.memory_clock_khz = static_cast<int>(integer(from, "memory_clock_khz"));
    d.shared_per_block = static_cast<std::size_t>(integer(from, "shared_per_block"));
    d.shared_per_block_optin = static_cast<std::size_t>(integer(from, "shared_per_block_optin"));
    d.shared_per_multiprocessor = static_cast<std::size_t>(integer(from, "shared_per_multiprocessor"));
    return d;
}

/* The devices in the order that CUDA_VISIBLE_DEVICES names them, by number or by the beginning of the UUID; the first that is neither ends
 * the list, as CUDA's programming guide says. */
std::vector<device> visible(const std::vector<device> &all)
{
    const char *wanted = std::getenv("CUDA_VISIBLE_DEVICES");
    if (!wanted) return all;
    std::vector<device> chosen;
    for (std::string list = wanted; !list.empty();) {
        const std::size_t end = list.find(','), before = chosen.size();
        const std::string one = list.substr(0, end);
        list = end == std::string::npos ? "" : list.substr(end + 1);
        for (std::size_t i = 0; i < all.size() && chosen.size() == before; i++)
            if (one == std::to_string(i) || (one.size() > 4 && all[i].uuid.rfind(one, 0) == 0))
                chosen.push_back(all[i]);
        if (chosen.size() == before) break;
    }
    return chosen;
}

machine read_machine()
{
    json_error_t error;
    json_t *root = json_load_file(profile_path().c_str(), 0, &error);
    if (!root) misuse("%s: line %d: %s", profile_path().c_str(), error.line, error.text);
    machine m;
    std::vector<device> all;
    std::size_t i;
    const json_t *one;
    m.driver = static_cast<int>(integer(root, "driver"));
    json_array_foreach(json_object_get(root, "devices"), i, one) all.push_back(read_device(one));
    json_decref(root);
    m.devices = visible(all);
    return m;
}

} // namespace

const machine &this_machine()
{
    static const machine one = read_machine();
    return one;
}

} // namespace gpusim
