// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/nearest.h"

#include "base/arena.h"
#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, DEPTH_MAX = 64 };

// What each point has found so far: its nearest ones, the nearest first.
struct nearest_found {
    uint32_t others[NEAREST_MAX];
    float squares[NEAREST_MAX];
    uint32_t count;
};

struct nearest_search {
    const struct nearest_points *points;
    size_t nearest;
    uint32_t *order; // Points, those of a group behind one another.
    struct nearest_found *found;
    float *similarity_scales; // Of each point: 1 / 2 s^2 of its cell.
    float *novelties;
    float *tiles; // Of a cell: LANES points, dimension by dimension.
};

static const float *point_at(const struct nearest_search *search, uint32_t index)
{
    return search->points->values + (size_t)index * search->points->dimensions;
}

// -- Cells -------------------------------------------------------------------------------------

struct keyed {
    float key;
    uint32_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *one = a, *other = b;
    if (one->key != other->key) {
        return one->key < other->key ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

static size_t widest_axis(const struct nearest_search *search, const uint32_t *cell, size_t count)
{
    size_t widest = 0;
    double most = -1;
    for (size_t axis = 0; axis < search->points->dimensions; axis++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++) {
            const double value = (double)point_at(search, cell[i])[axis];
            sum += value;
            squares += value * value;
        }
        const double spread = squares / (double)count - sum / (double)count * (sum / (double)count);
        if (spread > most) {
            most = spread;
            widest = axis;
        }
    }
    return widest;
}

// Puts the lower half of a cell before the upper one.
static tapml_status halve(const struct nearest_search *search, uint32_t *cell, size_t count)
{
    struct arena *arena = arena_create();
    struct keyed *keyed = arena ? arena_array(arena, count, sizeof(*keyed)) : NULL;
    if (keyed) {
        const size_t axis = widest_axis(search, cell, count);
        for (size_t i = 0; i < count; i++) {
            keyed[i] = (struct keyed){point_at(search, cell[i])[axis], cell[i]};
        }
        qsort(keyed, count, sizeof(*keyed), by_key);
        for (size_t i = 0; i < count; i++) {
            cell[i] = keyed[i].index;
        }
    }
    arena_destroy(arena);
    return keyed ? TAPML_OK : status_no_memory();
}

// -- Distances ---------------------------------------------------------------------------------

static void make_tiles(const struct nearest_search *search, const uint32_t *cell, size_t count)
{
    const size_t dimensions = search->points->dimensions;
    for (size_t at = 0; at < count; at += LANES) {
        float *tile = search->tiles + at * dimensions;
        for (size_t lane = 0; lane < LANES; lane++) {
            const float *point = point_at(search, cell[at + lane < count ? at + lane : at]);
            for (size_t axis = 0; axis < dimensions; axis++) {
                tile[axis * LANES + lane] = point[axis];
            }
        }
    }
}

static void measure_tile(const float *tile, const float *point, size_t dimensions, float *squares)
{
    float sums[LANES] = {0};
    for (size_t axis = 0; axis < dimensions; axis++) {
        const float own = point[axis];
        for (int lane = 0; lane < LANES; lane++) {
            const float difference = tile[axis * LANES + (size_t)lane] - own;
            sums[lane] += difference * difference;
        }
    }
    memcpy(squares, sums, sizeof(sums));
}

// The first of equally near ones stays before the later ones.
static void keep(struct nearest_found *found, size_t most, uint32_t other, float square)
{
    if (found->count == most && square >= found->squares[most - 1]) {
        return;
    }
    uint32_t at = found->count < most ? found->count++ : (uint32_t)most - 1;
    while (at > 0 && found->squares[at - 1] > square) {
        found->squares[at] = found->squares[at - 1];
        found->others[at] = found->others[at - 1];
        at--;
    }
    found->squares[at] = square;
    found->others[at] = other;
}

static void
search_for(const struct nearest_search *search, const uint32_t *cell, size_t count, size_t place)
{
    const size_t dimensions = search->points->dimensions;
    struct nearest_found *found = &search->found[cell[place]];
    for (size_t at = 0; at < count; at += LANES) {
        float squares[LANES];
        measure_tile(search->tiles + at * dimensions, point_at(search, cell[place]), dimensions,
                     squares);
        for (size_t lane = 0; lane < LANES && at + lane < count; lane++) {
            if (at + lane != place) {
                keep(found, search->nearest, cell[at + lane], squares[lane]);
            }
        }
    }
}

static double mean_of(const struct nearest_found *found, int squared)
{
    double sum = 0;
    for (uint32_t i = 0; i < found->count; i++) {
        sum += squared ? (double)found->squares[i] : sqrt((double)found->squares[i]);
    }
    return found->count > 0 ? sum / found->count : 0;
}

// What distances in this cell mean.
static void scale_cell(const struct nearest_search *search, const uint32_t *cell, size_t count)
{
    double squares = 0, distances = 0;
    for (size_t i = 0; i < count; i++) {
        squares += mean_of(&search->found[cell[i]], 1) / (double)count;
        distances += mean_of(&search->found[cell[i]], 0) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double own = mean_of(&search->found[cell[i]], 0);
        search->similarity_scales[cell[i]] = squares > 0 ? (float)(1 / (2 * squares)) : 0;
        search->novelties[cell[i]] = count == 1      ? 1
                                     : distances > 0 ? (float)(own / (own + distances))
                                                     : 0;
    }
}

static void search_cell(const struct nearest_search *search, const uint32_t *cell, size_t count)
{
    make_tiles(search, cell, count);
    for (size_t i = 0; i < count; i++) {
        search_for(search, cell, count, i);
    }
    scale_cell(search, cell, count);
}

// A group, halved until its parts are cells. `rest` is what waits for its turn.
static tapml_status search_group(const struct nearest_search *search, uint32_t *cell, size_t count)
{
    struct {
        uint32_t *cell;
        size_t count;
    } rest[DEPTH_MAX];
    size_t waiting = 0;
    for (;;) {
        while (count > NEAREST_CELL) {
            ASSERT(waiting < DEPTH_MAX); // A half waits for each halving of fewer than 2^31.
            TAPML_TRY(halve(search, cell, count));
            rest[waiting].cell = cell + count / 2;
            rest[waiting++].count = count - count / 2;
            count /= 2;
        }
        search_cell(search, cell, count);
        if (waiting == 0) {
            return TAPML_OK;
        }
        waiting--;
        cell = rest[waiting].cell;
        count = rest[waiting].count;
    }
}

// -- Groups ------------------------------------------------------------------------------------

// Orders the points by group; `ends` of a group is behind its last.
static void sort_groups(const struct nearest_points *points, uint32_t *order, uint32_t *ends)
{
    for (size_t i = 0; i < points->count; i++) {
        ASSERT(points->groups[i] < points->count);
        ends[points->groups[i]]++;
    }
    uint32_t sum = 0;
    for (size_t group = 0; group < points->count; group++) {
        const uint32_t own = ends[group];
        ends[group] = sum;
        sum += own;
    }
    for (size_t i = 0; i < points->count; i++) {
        order[ends[points->groups[i]]++] = (uint32_t)i;
    }
}

static tapml_status search_all(const struct nearest_search *search, const uint32_t *ends)
{
    size_t begin = 0;
    for (size_t group = 0; group < search->points->count; group++) {
        if (ends[group] > begin) {
            TAPML_TRY(search_group(search, search->order + begin, ends[group] - begin));
        }
        begin = ends[group];
    }
    return TAPML_OK;
}

// -- The graph ---------------------------------------------------------------------------------

static int has(const struct nearest_found *found, uint32_t other)
{
    for (uint32_t i = 0; i < found->count; i++) {
        if (found->others[i] == other) {
            return 1;
        }
    }
    return 0;
}

static void put_edge(const struct nearest_search *search,
                     struct nearest_graph *graph,
                     uint32_t from,
                     uint32_t to,
                     float square)
{
    const uint64_t at = graph->begin[from]++;
    graph->others[at] = to;
    graph->similarities[at] = expf(-square * search->similarity_scales[from]);
}

// An edge that only one end has found is the other's too. While edges are put, `begin` moves from
// the first to behind the last of each point.
static tapml_status
make_graph(const struct nearest_search *search, struct arena *arena, struct nearest_graph *graph)
{
    const size_t count = search->points->count;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct nearest_found *found = &search->found[i];
        graph->begin[i] += found->count;
        for (uint32_t k = 0; k < found->count; k++) {
            graph->begin[found->others[k]] += !has(&search->found[found->others[k]], i);
        }
    }
    for (size_t i = 0; i <= count; i++) {
        const uint64_t own = graph->begin[i];
        graph->begin[i] = sum;
        sum += own;
    }
    graph->others = arena_array(arena, (size_t)sum + 1, sizeof(*graph->others));
    graph->similarities = arena_array(arena, (size_t)sum + 1, sizeof(*graph->similarities));
    if (!graph->others || !graph->similarities) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nearest_found *found = &search->found[i];
        for (uint32_t k = 0; k < found->count; k++) {
            const uint32_t other = found->others[k];
            put_edge(search, graph, i, other, found->squares[k]);
            if (!has(&search->found[other], i)) {
                put_edge(search, graph, other, i, found->squares[k]);
            }
        }
    }
    memmove(graph->begin + 1, graph->begin, count * sizeof(*graph->begin));
    graph->begin[0] = 0;
    return TAPML_OK;
}

static tapml_status
find(const struct nearest_search *search, struct arena *arena, struct nearest_graph *out_graph)
{
    const size_t count = search->points->count;
    struct nearest_graph graph = {
        .count = count,
        .begin = arena_array(arena, count + 2, sizeof(*graph.begin)),
        .novelties = search->novelties,
    };
    uint32_t *ends = arena_array(arena, count + 1, sizeof(*ends));
    if (!graph.begin || !ends) {
        return status_no_memory();
    }
    sort_groups(search->points, search->order, ends);
    TAPML_TRY(search_all(search, ends));
    TAPML_TRY(make_graph(search, arena, &graph));
    *out_graph = graph;
    return TAPML_OK;
}

tapml_status nearest_find(const struct nearest_points *points,
                          size_t nearest,
                          struct arena *arena,
                          struct nearest_graph *out_graph)
{
    ASSERT(nearest > 0 && nearest <= NEAREST_MAX && points->count < INT32_MAX);
    const size_t count = points->count;
    const size_t cell = (count < NEAREST_CELL ? count : NEAREST_CELL) + LANES;
    struct arena *own = arena_create();
    if (!own) {
        return status_no_memory();
    }
    const struct nearest_search search = {
        .points = points,
        .nearest = nearest,
        .order = arena_array(own, count + 1, sizeof(*search.order)),
        .found = arena_array(own, count + 1, sizeof(*search.found)),
        .similarity_scales = arena_array(own, count + 1, sizeof(*search.similarity_scales)),
        .tiles = arena_array(own, cell * (points->dimensions + 1), sizeof(*search.tiles)),
        .novelties = arena_array(arena, count + 1, sizeof(*search.novelties)),
    };
    tapml_status status = status_no_memory();
    if (search.order && search.found && search.similarity_scales && search.tiles &&
        search.novelties) {
        status = find(&search, arena, out_graph);
    }
    arena_destroy(own);
    return status;
}
