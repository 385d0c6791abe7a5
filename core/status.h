/* status.h - how every Cairn function that can fail says so.
 *
 * A function returns a cairn_status; CAIRN_OK is 0. The record behind a failure (what failed, with the values, and
 * where) is thread-local and stays until the next failure on the same thread.
 *
 *     cairn_status read_header(FILE *f)
 *     {
 *         if (!f) return cairn_fail(CAIRN_FILE, "%s: cannot be opened: %s", path, reason);
 *         CAIRN_TRY(read_magic(f));
 *         return CAIRN_OK;
 *     }
 *     ...
 *     if (read_header(f)) fprintf(stderr, "%s\n", cairn_error_last()->message);
 *
 * The library never prints to stdout, never calls exit or abort, and leaves its objects destroyable after any failure.
 */
#ifndef CAIRN_CORE_STATUS_H
#define CAIRN_CORE_STATUS_H

/* The kinds of failure, by what a user can do about them. */
typedef enum cairn_status {
    CAIRN_OK = 0,
    CAIRN_USAGE,       /* a value the caller gave is wrong: option, argument, shape */
    CAIRN_DEVICE,      /* a device is missing or can't be used, or doesn't support an operation */
    CAIRN_DATA,        /* the image folder or a picture */
    CAIRN_MEMORY,      /* out of memory, on the host or the device */
    CAIRN_NONFINITE,   /* a loss or gradient became NaN or infinite */
    CAIRN_FILE,        /* a file, a folder or a checkpoint can't be read or written, or is not what it should be */
    CAIRN_LIBRARY,     /* a library beneath us (oneDNN, cuDNN, libjpeg) failed; its own text is in the message */
    CAIRN_INTERRUPTED, /* a signal asked us to stop, and we did so in good order */
} cairn_status;

#define CAIRN_ERROR_MESSAGE_SIZE 1024

/* The record of a failure. */
typedef struct cairn_error {
    cairn_status status;
    const char *file; /* source file and line that failed first; static strings, never freed */
    int line;
    char message[CAIRN_ERROR_MESSAGE_SIZE]; /* one line of text for a person: what, where, why, what to do */
} cairn_error;

/* The calling thread's last failure. Never NULL; status CAIRN_OK and an empty message before the first. */
const cairn_error *cairn_error_last(void);

/* Makes a failure that happened on another thread this thread's last one. Returns its status. */
cairn_status cairn_error_raise(const cairn_error *error);

/* Puts "context: " before the current message, as a failure travels up ("conv2 (conv2d)", "epoch 3"). Returns the status. */
cairn_status cairn_error_add_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Records a failure and returns `status`. Call through cairn_fail. */
cairn_status cairn_fail_at(cairn_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Records a failure with this file and line, and evaluates to its status, which is named twice so that compilers and analyzers see that it
 * is not CAIRN_OK. */
#define cairn_fail(status, ...) cairn_second_status_(cairn_fail_at((status), __FILE__, __LINE__, __VA_ARGS__), (status))

static inline cairn_status cairn_second_status_(cairn_status recorded, cairn_status status)
{
    (void)recorded;
    return status;
}

/* Evaluates a cairn_status expression and passes a failure up. */
#define CAIRN_TRY(expression)                                                                                          \
    do {                                                                                                               \
        cairn_status cairn_try_status_ = (expression);                                                                 \
        if (cairn_try_status_ != CAIRN_OK) return cairn_try_status_;                                                   \
    } while (0)

/* The same where something must be released: needs a local `cairn_status status` and a label `done`. */
#define CAIRN_TRY_DONE(expression)                                                                                     \
    do {                                                                                                               \
        status = (expression);                                                                                         \
        if (status != CAIRN_OK) goto done;                                                                             \
    } while (0)

/* A word for the kind of failure: "usage", "device", ... */
const char *cairn_status_name(cairn_status status);

#endif
