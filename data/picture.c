#include "data/picture.h"
#include "data/image_decoder.h"
#include <math.h>
#include <stdlib.h>

struct cairn_picture_reader {
    cairn_preprocess preprocess;
    int64_t max_pixels;
    cairn_file_bytes file;
    cairn_image image, spare;
    cairn_resize_scratch scratch;
};

cairn_status cairn_picture_reader_create(const cairn_preprocess *preprocess, int64_t max_pixels,
                                         cairn_picture_reader **out)
{
    *out = NULL;
    if (preprocess->size < 1 || preprocess->resize < preprocess->size)
        return cairn_fail(CAIRN_USAGE,
                          "a window of %d pixels out of a picture resized to %d: the window must be at least 1 and fit",
                          preprocess->size, preprocess->resize);
    cairn_picture_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return cairn_fail(CAIRN_MEMORY, "no memory for a picture reader");
    reader->preprocess = *preprocess;
    reader->max_pixels = max_pixels;
    *out = reader;
    return CAIRN_OK;
}

void cairn_picture_reader_destroy(cairn_picture_reader *reader)
{
    if (!reader) return;
    cairn_file_bytes_release(&reader->file);
    cairn_image_release(&reader->image);
    cairn_image_release(&reader->spare);
    cairn_resize_scratch_release(&reader->scratch);
    free(reader);
}

static cairn_window pick_window(const cairn_preprocess *p, int width, int height, const cairn_picture_draw *draw)
{
    if (!draw) return cairn_window_eval(p, width, height);
    cairn_window window = cairn_window_train(draw->augment, p, width, height, draw->seed, draw->epoch, draw->sample);
    if (draw->no_flip) window.flip = false;
    return window;
}

/* How far to shrink while decoding. That averages squares of pixels, where the resize weighs by a triangle; the difference drowns when at
 * least as much shrinking as this is left to the resize (Pillow's reducing_gap does the same). */
static int pick_denominator(const cairn_image_format *format, const cairn_window *window, int size)
{
    const double left_to_resize = 2;
    double side = fmin(window->right - window->left, window->bottom - window->top);
    int denominator = format->partial ? 8 : 1;
    while (denominator > 1 && side / denominator < left_to_resize * size)
        denominator /= 2;
    return denominator;
}

/* The window in the picture shrunk by `by`, of width x height before. The last column and row of a shrunk picture may stand for less than
 * `by` pixels; where orientation makes them the first, everything lies further in by what is missing. */
static cairn_window shrink_window(cairn_window window, int by, int width, int height, int orientation)
{
    bool mirrored_x, mirrored_y;
    cairn_image_mirrored(orientation, &mirrored_x, &mirrored_y);
    double x = mirrored_x ? (by - width % by) % by : 0, y = mirrored_y ? (by - height % by) % by : 0;
    window.left = (window.left + x) / by;
    window.top = (window.top + y) / by;
    window.right = (window.right + x) / by;
    window.bottom = (window.bottom + y) / by;
    return window;
}

/* The pixels that resizing the window may look at, of a picture of width x height. */
static cairn_image_part part_for(const cairn_window *window, int size, int denominator, int width, int height)
{
    /* The filter reaches as far as the scale; one more for rounding. */
    double x = fmax((window->right - window->left) / size, 1) + 1,
           y = fmax((window->bottom - window->top) / size, 1) + 1;
    return (cairn_image_part){
        .denominator = denominator,
        .left = (int)fmax(floor(window->left - x), 0),
        .top = (int)fmax(floor(window->top - y), 0),
        .right = (int)fmin(ceil(window->right + x), width),
        .bottom = (int)fmin(ceil(window->bottom + y), height),
    };
}

cairn_status cairn_picture_decode(cairn_picture_reader *reader, const char *name, const void *data, size_t bytes,
                                  const cairn_picture_draw *draw, uint8_t *rgb)
{
    const cairn_preprocess *p = &reader->preprocess;
    cairn_image_info info;
    CAIRN_TRY(cairn_image_inspect(name, data, bytes, reader->max_pixels, &info));
    bool turned = cairn_image_turned(info.orientation);
    int width = turned ? info.height : info.width, height = turned ? info.width : info.height;
    cairn_window window = pick_window(p, width, height, draw);
    int by = pick_denominator(info.format, &window, p->size);
    window = shrink_window(window, by, width, height, info.orientation);
    cairn_image_part whole = cairn_image_whole(&info, by);
    cairn_image_part upright =
        part_for(&window, p->size, by, turned ? whole.bottom : whole.right, turned ? whole.right : whole.bottom);
    cairn_image_part stored = cairn_image_part_lay(info.orientation, &whole, &upright);
    CAIRN_TRY(cairn_image_decode_part(name, data, bytes, &info, &stored, &reader->image));
    CAIRN_TRY(cairn_image_orient(name, info.orientation, &reader->image, &reader->spare));

    upright = cairn_image_part_raise(info.orientation, &whole, &stored);
    window.left -= upright.left;
    window.right -= upright.left;
    window.top -= upright.top;
    window.bottom -= upright.top;
    return cairn_resize(&reader->image, &window, p->size, p->size, rgb, &reader->scratch);
}

cairn_status cairn_picture_read(cairn_picture_reader *reader, const char *path, const cairn_picture_draw *draw,
                                uint8_t *rgb)
{
    CAIRN_TRY(cairn_file_bytes_read(path, &reader->file));
    return cairn_picture_decode(reader, path, reader->file.data, reader->file.bytes, draw, rgb);
}
