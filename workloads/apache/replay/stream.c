/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory) {
  if (memory == NULL) {
    fputs("replay: there is not enough memory for the stream\n", stderr);
    exit(2);
  }
  return memory;
}

/* The 9,120 manual pages of a Debian desktop, as HTML, are log-normal: median 9 KB, a factor of 3.
 */
static uint32_t some_size(uint64_t *random) {
  const double u = (double)((random_next(random) >> 11) + 1) * 0x1p-53;
  const double v = (double)(random_next(random) >> 11) * 0x1p-53;
  const double normal = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
  const double size = 9000 * exp(1.1 * normal);
  return size < 200 ? 200 : size > 2e6 ? 2000000 : (uint32_t)size;
}

static void make_room(struct stream *stream, uint32_t keys, size_t length) {
  stream->key = must(calloc(keys, sizeof *stream->key));
  stream->key_bytes = must(calloc(keys, sizeof *stream->key_bytes));
  stream->body_bytes = must(calloc(keys, sizeof *stream->body_bytes));
  stream->order = must(calloc(length, sizeof *stream->order));
  stream->length = length;
}

void stream_zipf(struct stream *stream, uint32_t keys, double s, size_t length, uint64_t seed) {
  make_room(stream, keys, length);
  stream->keys = keys;
  double *sums = must(calloc(keys, sizeof *sums));
  double sum = 0;
  uint64_t random = seed;
  for (uint32_t i = 0; i < keys; i++) {
    char text[64];
    const int n =
        snprintf(text, sizeof text, "http://localhost:80/cgi-bin/man/man%u/page-%u?", i % 8 + 1, i);
    stream->key[i] = must(strdup(text));
    stream->key_bytes[i] = (size_t)n;
    stream->body_bytes[i] = some_size(&random);
    sums[i] = sum += pow(i + 1.0, -s);
  }
  for (size_t i = 0; i < length; i++) {
    const double at = (double)(random_next(&random) >> 11) * 0x1p-53 * sum;
    uint32_t low = 0, high = keys - 1;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (sums[middle] <= at)
        low = middle + 1;
      else
        high = middle;
    }
    stream->order[i] = low;
  }
  free(sums);
}

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The key's number, of `keys` in order. */
static uint32_t number_of(char *const *keys, uint32_t count, const char *line) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (strcmp(keys[middle], line) <= 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Cuts the size off a line; null, or what is wrong with it. UINT32_MAX: there is none. */
static const char *cut_line(char *line, uint32_t *size) {
  line[strcspn(line, "\r\n")] = '\0';
  char *text = strchr(line, '\t');
  *size = UINT32_MAX;
  if (text != NULL)
    *text++ = '\0';
  if (*line == '\0')
    return "has a line without a key";
  if (text == NULL)
    return NULL;
  char *end;
  errno = 0;
  const unsigned long bytes = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *text == '-' || *end != '\0' || bytes >= UINT32_MAX)
    return "has a size that is none";
  *size = (uint32_t)bytes;
  return NULL;
}

/* Sorts the lines, and numbers what is different. */
static void number_lines(struct stream *stream, char **lines, const uint32_t *sizes, size_t count,
                         uint64_t seed) {
  make_room(stream, (uint32_t)count, count);
  char **sorted = must(calloc(count, sizeof *sorted));
  memcpy(sorted, lines, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_lines);
  for (size_t i = 0; i < count; i++)
    if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0) {
      const uint32_t key = stream->keys++;
      stream->key[key] = must(strdup(sorted[i]));
      stream->key_bytes[key] = strlen(sorted[i]);
      stream->body_bytes[key] = some_size(&seed);
    }
  for (size_t i = 0; i < count; i++) {
    const uint32_t key = number_of(stream->key, stream->keys, lines[i]);
    stream->order[i] = key;
    if (sizes[i] != UINT32_MAX)
      stream->body_bytes[key] = sizes[i];
  }
  free(sorted);
}

const char *stream_read(struct stream *stream, const char *path, uint64_t seed) {
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return strerror(errno);
  char **lines = NULL, *line = NULL;
  uint32_t *sizes = NULL;
  size_t room = 0, count = 0;
  const char *wrong = NULL;
  while (wrong == NULL && getline(&line, &room, file) > 0) {
    if ((count & (count - 1)) == 0) {
      lines = must(realloc(lines, (2 * count + 1) * sizeof *lines));
      sizes = must(realloc(sizes, (2 * count + 1) * sizeof *sizes));
    }
    wrong = count == UINT32_MAX / 2 ? "is too long" : cut_line(line, &sizes[count]);
    lines[count++] = must(strdup(line));
  }
  if (wrong == NULL && count == 0)
    wrong = "is empty";
  if (wrong == NULL)
    number_lines(stream, lines, sizes, count, seed);
  for (size_t i = 0; i < count; i++)
    free(lines[i]);
  free(lines);
  free(sizes);
  free(line);
  fclose(file);
  return wrong;
}

void stream_free(struct stream *stream) {
  for (uint32_t i = 0; i < stream->keys; i++)
    free(stream->key[i]);
  free(stream->key);
  free(stream->key_bytes);
  free(stream->body_bytes);
  free(stream->order);
}
