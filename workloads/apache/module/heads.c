/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Heads of objects: what mod_cache knows of a response, and its headers, as one block of bytes.
 */
#include "module.h"

#include <apr_lib.h>
#include <apr_strings.h>

static int add_length(void *sum, const char *name, const char *value) {
  *(apr_size_t *)sum += strlen(name) + strlen(value) + 2;
  return 1;
}

static int add_text(void *at, const char *name, const char *value) {
  char **to = at;
  to[0] = apr_cpystrn(*to, name, strlen(name) + 1) + 1;
  to[0] = apr_cpystrn(*to, value, strlen(value) + 1) + 1;
  return 1;
}

struct stored *head_make(apr_pool_t *pool, const apr_table_t *out, const apr_table_t *in,
                         apr_size_t *bytes) {
  apr_size_t out_bytes = 0, in_bytes = 0;
  apr_table_do(add_length, &out_bytes, out, NULL);
  apr_table_do(add_length, &in_bytes, in, NULL);
  *bytes = sizeof(struct stored) + out_bytes + in_bytes;
  if (*bytes > APR_UINT32_MAX)
    return NULL;
  struct stored *stored = apr_pcalloc(pool, *bytes);
  stored->kind = STORED_ENTITY;
  stored->out_bytes = (apr_uint32_t)out_bytes;
  stored->in_bytes = (apr_uint32_t)in_bytes;
  char *at = stored->text;
  apr_table_do(add_text, &at, out, NULL);
  apr_table_do(add_text, &at, in, NULL);
  return stored;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

apr_array_header_t *head_vary_names(apr_pool_t *pool, const char *vary) {
  apr_array_header_t *names = apr_array_make(pool, 4, sizeof(char *));
  char *rest = apr_pstrdup(pool, vary);
  for (char *state, *name = apr_strtok(rest, ", \t", &state); name != NULL;
       name = apr_strtok(NULL, ", \t", &state)) {
    ap_str_tolower(name);
    APR_ARRAY_PUSH(names, const char *) = name;
  }
  qsort(names->elts, (size_t)names->nelts, sizeof(char *), by_name);
  return names;
}

struct stored *head_make_vary(apr_pool_t *pool, const apr_array_header_t *names,
                              apr_size_t *bytes) {
  apr_size_t text = 0;
  for (int i = 0; i < names->nelts; i++)
    text += strlen(APR_ARRAY_IDX(names, i, const char *)) + 1;
  *bytes = sizeof(struct stored) + text;
  struct stored *stored = apr_pcalloc(pool, *bytes);
  stored->kind = STORED_VARY;
  stored->out_bytes = (apr_uint32_t)text;
  char *at = stored->text;
  for (int i = 0; i < names->nelts; i++) {
    const char *name = APR_ARRAY_IDX(names, i, const char *);
    at = apr_cpystrn(at, name, strlen(name) + 1) + 1;
  }
  return stored;
}

const struct stored *head_read(const struct store_object *object) {
  size_t bytes;
  const struct stored *stored = store_head(object, &bytes);
  if (bytes < sizeof *stored ||
      bytes - sizeof *stored != (apr_size_t)stored->out_bytes + stored->in_bytes)
    return NULL;
  return stored;
}

static apr_table_t *read_table(apr_pool_t *pool, const char *text, apr_size_t bytes) {
  apr_table_t *table = apr_table_make(pool, 20);
  /* The text is the request's own, as the object may go before the headers do. */
  const char *at = apr_pmemdup(pool, text, bytes);
  for (const char *end = at + bytes; at < end;) {
    const char *value = at + strlen(at) + 1;
    apr_table_addn(table, at, value);
    at = value + strlen(value) + 1;
  }
  return table;
}

void head_tables(apr_pool_t *pool, const struct stored *stored, apr_table_t **out,
                 apr_table_t **in) {
  *out = read_table(pool, stored->text, stored->out_bytes);
  *in = read_table(pool, stored->text + stored->out_bytes, stored->in_bytes);
}

const char *head_variant_key(apr_pool_t *pool, const char *key, const struct stored *vary,
                             const apr_table_t *headers) {
  const char *variant = key;
  for (const char *at = vary->text, *end = at + vary->out_bytes; at < end; at += strlen(at) + 1) {
    const char *value = apr_table_get(headers, at);
    /* No header has a line end in it, so no two lists of values make the same key. */
    variant = apr_pstrcat(pool, variant, "\n", at, value != NULL ? ":" : "",
                          value != NULL ? value : "", NULL);
  }
  return variant;
}
