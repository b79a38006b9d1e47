/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * mod_cache_tandem: what its files share. The store is httpd's mod_cache's storage; all that is
 * about threads and processes is in ../store.
 */
#pragma once

#include "../store/store.h"

/* The others need it. */
#include <httpd.h>

#include <http_config.h>
#include <http_log.h>
#include <mod_cache.h>

extern module AP_MODULE_DECLARE_DATA cache_tandem_module;

enum cache_sharing { CACHE_SHARED_AUTO, CACHE_SHARED_ON, CACHE_SHARED_OFF };

/* What the directives say, of the whole server; the lines are those that said it. */
struct cache_settings {
  apr_size_t bytes, least_object, largest_object; /* bytes */
  unsigned objects;
  enum store_policy policy;
  enum cache_sharing sharing;
};

/* The store of this process, and what was configured; null before the server has started. */
extern struct store *cache_store;
extern struct cache_settings cache_settings;

extern const cache_provider cache_tandem_provider;

/* provider.c: an object's head, which is bytes to the store. */
enum stored_kind { STORED_ENTITY = 1, STORED_VARY = 2 };
struct stored {
  apr_uint32_t kind;
  int status;
  apr_time_t date, expire, request_time, response_time;
  cache_control_t control;
  apr_uint32_t header_only;
  apr_uint32_t out_bytes, in_bytes; /* name NUL value NUL ...; of a vary: name NUL ... */
  char text[];
};

/* heads.c: a head of these headers, in the pool; null where it would be above 4 GB. */
struct stored *head_make(apr_pool_t *pool, const apr_table_t *out, const apr_table_t *in,
                         apr_size_t *bytes);
/* The names of a Vary header, in lower case and in order. */
apr_array_header_t *head_vary_names(apr_pool_t *pool, const char *vary);
struct stored *head_make_vary(apr_pool_t *pool, const apr_array_header_t *names, apr_size_t *bytes);
/* Null where it is no head. */
const struct stored *head_read(const struct store_object *object);
void head_tables(apr_pool_t *pool, const struct stored *stored, apr_table_t **out,
                 apr_table_t **in);
/* The key of the variant that these request headers ask for. */
const char *head_variant_key(apr_pool_t *pool, const char *key, const struct stored *vary,
                             const apr_table_t *headers);

/* body.c: the body's parts as buckets, each with a reference of its own to the object. */
void body_recall(struct store *store, struct store_object *object, apr_bucket_brigade *to);

/* status.c: the page, for SetHandler cache-tandem-status. */
int status_handler(request_rec *r);
/* The same in mod_status's page. */
int status_hook(request_rec *r, int flags);
