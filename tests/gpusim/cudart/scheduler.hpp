/* scheduler.hpp - streams as queues of work, events as marks in them.
 *
 * Nothing runs until something waits. Then the next item of the stream that has the highest priority runs, and priorities are drawn anew
 * seldom: random priorities with few changes find a missing order far more often than a fair draw (Burckhardt et al., ASPLOS 2010).
 */
#pragma once

#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace gpusim
{

/* What an event knows; streams that wait for it keep it alive when it is destroyed. */
struct mark {
    long recorded = 0, reached = 0; /* number of the last record asked for, and of the last that its stream passed */
    double time = 0;                /* of the latter, ms on the simulated clock */
};

struct item {
    std::string what;
    std::function<void()> run;
    std::shared_ptr<mark> awaits; /* may run only when this has reached `number` */
    long number = 0;
};

double clock_now(); /* ms */

void put(cudaStream_t stream, item work);

/* Runs work, in drawn order, until `done` says so. Ends the program when every stream waits. */
void run_until(const std::function<bool()> &done);

/* Runs a few items, as time passes between two questions of the host. */
void run_a_little();

bool is_empty(cudaStream_t stream);
bool all_empty();

} // namespace gpusim
