#include "block.hpp"
#include "gpusim.hpp"
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <deque>
#include <memory>
#include <vector>

namespace gpusim
{

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace
{

using boost::context::fiber;

constexpr unsigned WARP = 32, MOST_THREADS = 1024;
constexpr std::size_t STACK = 64 << 10;

enum class state { unstarted, running, at_block, at_warp, ready, done };

struct thread {
    state at;
    struct worker *stack;        /* on which it runs or waits */
    unsigned mask;               /* at_warp: with which lanes, */
    unsigned from;               /* whose value it wants, or VOTE, */
    std::uint64_t value, answer; /* what it gives, and what it is given when all have come */
};

constexpr unsigned VOTE = ~0u;

/* A stack on which threads run; one that is left waiting keeps its stack. */
struct worker {
    fiber itself, home;
    unsigned thread = 0;
};

/* The block that runs now. */
struct running {
    const host_kernel *kernel = nullptr;
    void *const *arguments = nullptr;
    unsigned threads = 0, started = 0, done = 0, at_block = 0, first = 0;
    thread all[MOST_THREADS];
    unsigned at_warp[MOST_THREADS / WARP]; /* of each warp, the waiting lanes as bits */
    std::deque<unsigned> queue;            /* the ready ones, in the order they will go on */
    std::vector<std::unique_ptr<worker>> workers;
    std::vector<worker *> idle;
    worker *now = nullptr;
};

running &block()
{
    static running &one = *new running; /* never destroyed: its stacks would be unwound */
    return one;
}

void become(unsigned t)
{
    running &b = block();
    b.now->thread = t;
    b.all[t].at = state::running;
    b.all[t].stack = b.now;
    thread_index = {t % block_size.x, t / block_size.x % block_size.y, t / block_size.x / block_size.y};
}

/* Life of a stack: runs threads that nobody has started yet, sleeps, and does so again for the next block. */
fiber work(worker *self, fiber &&home)
{
    self->home = std::move(home);
    for (;;) {
        block().kernel->run(block().arguments);
        block().idle.push_back(self);
        self->home = std::move(self->home).resume();
    }
}

worker *take_worker()
{
    running &b = block();
    if (b.idle.empty()) {
        b.workers.push_back(std::make_unique<worker>());
        worker *made = b.workers.back().get();
        made->itself = fiber(std::allocator_arg, boost::context::fixedsize_stack(STACK),
                             [made](fiber &&home) { return work(made, std::move(home)); });
        return made;
    }
    worker *last = b.idle.back();
    b.idle.pop_back();
    return last;
}

void resume(worker *w)
{
    block().now = w;
    w->itself = std::move(w->itself).resume();
}

/* Leaves the running thread where it is until it is its turn again. */
void leave()
{
    worker *self = block().now;
    self->home = std::move(self->home).resume();
}

void make_ready(unsigned t)
{
    block().all[t].at = state::ready;
    block().queue.push_back(t);
}

/* What the lanes of a warp that have met give each other. All bits set where a lane asks one that gave nothing. */
void answer_lanes(unsigned first, unsigned met)
{
    thread *lanes = block().all + first;
    unsigned yes = 0;
    for (unsigned i = 0; i < WARP; i++)
        if (met >> i & 1 && lanes[i].value) yes |= 1u << i;
    for (unsigned i = 0; i < WARP; i++) {
        if (!(met >> i & 1)) continue;
        const unsigned from = lanes[i].from;
        if (from == VOTE)
            lanes[i].answer = yes;
        else
            lanes[i].answer = from < WARP && met >> from & 1 ? lanes[from].value : ~std::uint64_t{0};
    }
}

/* Lets a warp's lanes go on when all that were named have come. A lane that has ended is not waited for. */
void release_warp(unsigned w)
{
    running &b = block();
    const unsigned first = w * WARP, size = std::min(WARP, b.threads - first), waiting = b.at_warp[w];
    if (!waiting) return;
    const unsigned mask = b.all[first + static_cast<unsigned>(__builtin_ctz(waiting))].mask;
    for (unsigned i = 0; i < size; i++) {
        const thread &t = b.all[first + i];
        if (!(mask >> i & 1) || t.at == state::done) continue;
        if (t.at != state::at_warp) return;
        if (t.mask != mask) misuse("%s: lanes of a warp met with masks %#x and %#x", b.kernel->name, mask, t.mask);
    }
    answer_lanes(first, waiting & mask);
    for (unsigned i = 0; i < size; i++)
        if (waiting & mask & 1u << i) make_ready(first + i);
    b.at_warp[w] &= ~mask;
}

void release_block()
{
    running &b = block();
    b.at_block = 0;
    for (unsigned i = 0; i < b.threads; i++) {
        const unsigned t = (b.first + i) % b.threads;
        if (b.all[t].at == state::at_block) make_ready(t);
    }
}

void finish_thread()
{
    running &b = block();
    thread &t = b.all[b.now->thread];
    if (t.at != state::running) return;
    t.at = state::done;
    b.done++;
    release_warp(b.now->thread / WARP);
}

std::uint64_t meet_warp(unsigned mask, std::uint64_t value, unsigned from)
{
    running &b = block();
    const unsigned t = b.now->thread, lane = t % WARP;
    if (!(mask >> lane & 1)) misuse("%s: lane %u is not in the mask %#x it gave", b.kernel->name, lane, mask);
    b.all[t].mask = mask;
    b.all[t].value = value;
    b.all[t].from = from;
    b.all[t].at = state::at_warp;
    b.at_warp[t / WARP] |= 1u << lane;
    release_warp(t / WARP);
    leave();
    return b.all[t].answer;
}

} // namespace

/* Called by the loop of an invoker: ends the thread that ran and names the next. */
bool next_thread()
{
    running &b = block();
    finish_thread();
    if (b.started == b.threads) return false;
    unsigned t = b.first + b.started++;
    become(t < b.threads ? t : t - b.threads);
    return true;
}

void block_barrier()
{
    running &b = block();
    b.all[b.now->thread].at = state::at_block;
    b.at_block++;
    leave();
}

void warp_barrier(unsigned mask)
{
    meet_warp(mask, 0, VOTE);
}

std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned from)
{
    return meet_warp(mask, value, from);
}

unsigned vote(unsigned mask, bool predicate)
{
    return static_cast<unsigned>(meet_warp(mask, predicate, VOTE));
}

void run_block(const host_kernel &kernel, void *const *arguments, unsigned threads)
{
    running &b = block();
    b.kernel = &kernel;
    b.arguments = arguments;
    b.threads = threads;
    b.started = b.done = b.at_block = 0;
    b.first = static_cast<unsigned>(draw(threads));
    for (unsigned t = 0; t < threads; t++)
        b.all[t].at = state::unstarted;
    std::fill(std::begin(b.at_warp), std::end(b.at_warp), 0u);
    const bool newest_first = draw(2) == 0; /* whether waiting threads go on before others have begun */
    while (b.done < threads) {
        if (!b.queue.empty() && (newest_first || b.started == threads)) {
            const unsigned t = b.queue.front();
            b.queue.pop_front();
            worker *w = b.all[t].stack;
            b.now = w;
            become(t);
            resume(w);
        } else if (b.started < threads) {
            resume(take_worker());
        } else if (b.at_block && b.at_block + b.done == threads) {
            release_block();
        } else {
            misuse("%s: threads of a block wait at different barriers, or some for ones that never come", kernel.name);
        }
    }
}

} // namespace gpusim
