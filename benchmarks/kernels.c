/* Kernels by hand for the workloads: what a programmer would write for that rule and no other.

   Each goes once over the columns of the Arrow table and writes detections, in the order of their ends and starts.
   Keys are any integers, found by hashing; nothing grows while it runs, as the caller makes room for all rows. */

#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t rows;
    const int32_t *offsets; /* of the column of types, which are one letter each */
    const char *letters;
    const int64_t *ts, *key;
    const double *price, *x;
    int64_t mask; /* of the hash table */
    int64_t *keys, *used;
    int64_t *newest; /* for each place of the table: a row, or a time; then the same for another type */
    int64_t *older;  /* for each row */
    int64_t *found_key, *found_start, *found_end, *found_mid;
    double *found_value;
    int64_t room;
} Run;

static inline int64_t place(const Run *r, int64_t key) {
    uint64_t at = ((uint64_t)key * 0x9E3779B97F4A7C15ull) >> 20;
    for (at &= (uint64_t)r->mask; r->used[at]; at = (at + 1) & (uint64_t)r->mask)
        if (r->keys[at] == key) return (int64_t)at;
    r->used[at] = 1;
    r->keys[at] = key;
    r->newest[at] = r->newest[at + (uint64_t)r->mask + 1] = -1;
    return (int64_t)at;
}

static inline char type_of(const Run *r, int64_t row) { return r->letters[r->offsets[row]]; }

static inline int64_t put(Run *r, int64_t found, int64_t key, int64_t start, int64_t end) {
    if (found < r->room) {
        r->found_key[found] = key;
        r->found_start[found] = start;
        r->found_end[found] = end;
    }
    return found + 1;
}

/* A(id) seq B(id) within 10000, all pairs: the rows of A of each key are a list, the newest first. */
int64_t w1(Run *r) {
    int64_t found = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        char type = type_of(r, row);
        if (type == 'C') continue;
        int64_t at = place(r, r->key[row]), now = r->ts[row];
        if (type == 'A') {
            r->older[row] = r->newest[at];
            r->newest[at] = row;
            continue;
        }
        int64_t first = found;
        for (int64_t a = r->newest[at]; a >= 0 && now - r->ts[a] <= 10000; a = r->older[a])
            if (r->ts[a] < now) found = put(r, found, r->key[row], r->ts[a], now);
        for (int64_t i = first, j = found - 1; i < j; i++, j--) { /* the oldest start first */
            int64_t held = r->found_start[i];
            r->found_start[i] = r->found_start[j];
            r->found_start[j] = held;
        }
    }
    return found;
}

/* A(id) seq B(id) seq C(id) within 10000, all triples: the rows of A of each key are a list, the newest first, and those of B. */
int64_t w2(Run *r) {
    int64_t found = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        char type = type_of(r, row);
        int64_t at = place(r, r->key[row]), now = r->ts[row], as = at, bs = at + r->mask + 1;
        if (type != 'C') {
            int64_t own = type == 'A' ? as : bs;
            r->older[row] = r->newest[own];
            r->newest[own] = row;
            continue;
        }
        int64_t first = found;
        for (int64_t b = r->newest[bs]; b >= 0 && now - r->ts[b] <= 10000; b = r->older[b]) {
            if (r->ts[b] >= now) continue;
            for (int64_t a = r->newest[as]; a >= 0 && now - r->ts[a] <= 10000; a = r->older[a])
                if (r->ts[a] < r->ts[b] && found < r->room) {
                    int64_t to = found; /* sorted by start and middle */
                    for (; to > first && (r->found_start[to - 1] > r->ts[a] ||
                                          (r->found_start[to - 1] == r->ts[a] && r->found_mid[to - 1] > r->ts[b]));
                         to--) {
                        r->found_start[to] = r->found_start[to - 1];
                        r->found_mid[to] = r->found_mid[to - 1];
                    }
                    r->found_start[to] = r->ts[a];
                    r->found_mid[to] = r->ts[b];
                    r->found_key[found] = r->key[row];
                    r->found_end[found++] = now;
                }
        }
    }
    return found;
}

/* A(id) and no B(id) in the 10000 after it: the rows of A wait one after the other; `older` is the place of each. */
int64_t w3(Run *r) {
    int64_t found = 0, due = 0;
    for (int64_t row = 0; row <= r->rows; row++) {
        int64_t now = row < r->rows ? r->ts[row] : INT64_MAX;
        for (; due < row && r->ts[due] + 10001 <= now; due++)
            if (r->older[due] >= 0 && r->newest[r->older[due]] <= r->ts[due])
                found = put(r, found, r->key[due], r->ts[due], r->ts[due] + 10001);
        if (row == r->rows) break;
        char type = type_of(r, row);
        r->older[row] = type == 'A' ? place(r, r->key[row]) : -1;
        if (type == 'B') r->newest[place(r, r->key[row])] = now;
    }
    return found;
}

/* recent A(id) seq B(id) within 10000: the time of the newest A of each key, until a B takes it. */
int64_t w4(Run *r) {
    int64_t found = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        char type = type_of(r, row);
        if (type == 'C') continue;
        int64_t at = place(r, r->key[row]), now = r->ts[row];
        if (type == 'A') {
            r->newest[at] = now;
        } else if (r->newest[at] >= 0 && now - r->newest[at] <= 10000) {
            found = put(r, found, r->key[row], r->newest[at], now);
            r->newest[at] = -1;
        }
    }
    return found;
}

/* A falling run that turns: of each symbol the last tick, and where the last turn began. `older` has three numbers for
   each place of the table: the row of the turn, the row before it, the length of the run since. */
int64_t w7(Run *r) {
    int64_t found = 0;
    for (int64_t row = 0; row < r->rows; row++) {
        int64_t at = place(r, r->key[row]), last = r->newest[at], *turn = r->older + 3 * at;
        double p = r->price[row];
        r->newest[at] = row;
        if (last < 0) {
            turn[2] = 0;
            continue;
        }
        if (p < r->price[last]) {
            turn[2] += turn[2] > 0;
            continue;
        }
        if (turn[2] >= 3 && p > r->price[turn[0]]) found = put(r, found, r->key[row], r->ts[turn[1]], r->ts[row]);
        turn[0] = row;
        turn[1] = last;
        turn[2] = 1;
    }
    return found;
}

/* The last 1000 matches: a ring of their starts and values, their sum in two floats, and a queue of rising starts. */
#define LAST 1000
typedef struct {
    int64_t count, low, high;
    int64_t start[LAST], least[LAST];
    double value[LAST], sum, rest;
} Last;

static inline void add(Last *l, double value) {
    double total = l->sum + value, part = total - l->sum;
    l->rest += (l->sum - (total - part)) + (value - part);
    l->sum = total;
}

static inline void slide(Last *l, int64_t start, double value) {
    int64_t at = l->count % LAST;
    if (l->count >= LAST) {
        add(l, -l->value[at]);
        if (l->least[l->low % LAST] == l->count - LAST) l->low++;
    }
    l->start[at] = start;
    l->value[at] = value;
    add(l, value);
    while (l->high > l->low && l->start[l->least[(l->high - 1) % LAST] % LAST] >= start) l->high--;
    l->least[l->high++ % LAST] = l->count++;
}

/* Emits a value for the last matches, in the order of starts and values among those of one end, each once. */
static inline int64_t emit(Run *r, int64_t found, int64_t first, const Last *l, double value, int64_t now) {
    int64_t start = l->start[l->least[l->low % LAST] % LAST], to = found;
    for (; to > first; to--) {
        int64_t before = r->found_start[to - 1];
        if (before == start && r->found_value[to - 1] == value) return found;
        if (before < start || (before == start && r->found_value[to - 1] < value)) break;
    }
    if (found == r->room) return found;
    memmove(r->found_start + to + 1, r->found_start + to, 8 * (found - to));
    memmove(r->found_value + to + 1, r->found_value + to, 8 * (found - to));
    r->found_start[to] = start;
    r->found_value[to] = value;
    r->found_end[found] = now;
    return found + 1;
}

/* The sum over the last pairs of A(id) and B(id) within 10000: the rows of A of each key are a list, and those of B. */
int64_t w5(Run *r) {
    int64_t found = 0;
    static Last l;
    memset(&l, 0, sizeof l);
    for (int64_t row = 0; row < r->rows; row++) {
        char type = type_of(r, row);
        if (type == 'C') continue;
        int64_t at = place(r, r->key[row]), now = r->ts[row], pairs[64], count = 0, first = found;
        int64_t own = type == 'A' ? at : at + r->mask + 1, other = type == 'A' ? at + r->mask + 1 : at;
        for (int64_t o = r->newest[other]; o >= 0 && now - r->ts[o] <= 10000 && count < 64; o = r->older[o])
            pairs[count++] = o;
        while (count > 0) { /* the oldest start first */
            int64_t o = pairs[--count];
            slide(&l, r->ts[o], r->x[type == 'A' ? row : o]);
            found = emit(r, found, first, &l, l.sum + l.rest, now);
        }
        r->older[row] = r->newest[own];
        r->newest[own] = row;
    }
    return found;
}

/* The average over the last A(id) seq B(id) within 10000: the rows of A of each key are a list. */
int64_t w6(Run *r) {
    int64_t found = 0;
    static Last l;
    memset(&l, 0, sizeof l);
    for (int64_t row = 0; row < r->rows; row++) {
        char type = type_of(r, row);
        if (type == 'C') continue;
        int64_t at = place(r, r->key[row]), now = r->ts[row], pairs[64], count = 0, first = found;
        if (type == 'A') {
            r->older[row] = r->newest[at];
            r->newest[at] = row;
            continue;
        }
        for (int64_t a = r->newest[at]; a >= 0 && now - r->ts[a] <= 10000 && count < 64; a = r->older[a])
            if (r->ts[a] < now) pairs[count++] = a;
        while (count > 0) { /* the oldest start first */
            int64_t a = pairs[--count];
            slide(&l, r->ts[a], r->x[a]);
            int64_t in = l.count < LAST ? l.count : LAST;
            found = emit(r, found, first, &l, (l.sum + l.rest) / (double)in, now);
        }
    }
    return found;
}
