/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The ten functions that mod_cache asks of a storage provider.
 *
 * An entity holds references to the object that it was opened with, and to those that it makes; the
 * request's pool gives them back, whatever becomes of the request. Nobody finds what is being made
 * before commit_entity: while a response arrives, the old object is served.
 */
#include "module.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <util_filter.h>

APLOG_USE_MODULE(cache_tandem);

/* How much of a response is taken before what was taken goes on to the client. */
enum { kAtOnce = 64 << 10 };

struct entity {
  const void *owner;   /* says that it is ours: mod_cache asks all providers to remove a handle */
  struct store *store; /* the process's; at its end, new requests find none */
  const char *name;    /* mod_cache's key, without what Vary adds */
  struct store_object *opened, *made, *made_vary;
  apr_off_t expected; /* bytes of the body; -1: not known */
  apr_size_t received;
  int complete, failed;
};

static apr_status_t entity_cleanup(void *data) {
  struct entity *entity = data;
  struct store_object **references[] = {&entity->opened, &entity->made, &entity->made_vary};
  for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
    if (*references[i] != NULL) {
      store_release(entity->store, *references[i]);
      *references[i] = NULL;
    }
  return APR_SUCCESS;
}

static struct entity *make_entity(struct store *store, cache_handle_t *h, request_rec *r,
                                  const char *name) {
  struct entity *entity = apr_pcalloc(r->pool, sizeof *entity);
  cache_object_t *object = apr_pcalloc(r->pool, sizeof *object);
  entity->owner = &cache_tandem_module;
  entity->store = store;
  entity->name = apr_pstrdup(r->pool, name);
  object->key = entity->name;
  object->vobj = entity;
  h->cache_obj = object;
  apr_pool_cleanup_register(r->pool, entity, entity_cleanup, apr_pool_cleanup_null);
  return entity;
}

/* Null where the handle is another provider's. */
static struct entity *entity_of(const cache_handle_t *h) {
  struct entity *entity = h->cache_obj != NULL ? h->cache_obj->vobj : NULL;
  return entity != NULL && entity->owner == &cache_tandem_module ? entity : NULL;
}

static struct store_object *open_key(struct store *store, const char *key) {
  return store_open(store, key, strlen(key), (uint64_t)apr_time_now());
}

static int create_entity(cache_handle_t *h, request_rec *r, const char *key, apr_off_t bytes,
                         apr_bucket_brigade *brigade) {
  (void)brigade;
  struct store *store = cache_store;
  if (store == NULL)
    return DECLINED;
  if (r->status == HTTP_PARTIAL_CONTENT) {
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, "%s: a partial response is not stored", key);
    return DECLINED;
  }
  if (bytes >= 0 && ((apr_size_t)bytes > cache_settings.largest_object ||
                     (apr_size_t)bytes < cache_settings.least_object)) {
    ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r,
                  "%s: its %" APR_OFF_T_FMT " bytes are not between CacheTandemMinObjectSize and "
                  "CacheTandemMaxObjectSize",
                  key, bytes);
    return DECLINED;
  }
  make_entity(store, h, r, key)->expected = bytes;
  return OK;
}

static void read_info(struct store *store, cache_info *info, const struct stored *stored,
                      struct store_object *object) {
  info->status = stored->status;
  info->date = stored->date;
  info->expire = stored->expire;
  info->request_time = stored->request_time;
  info->response_time = stored->response_time;
  info->control = stored->control;
  if (store_is_invalidated(store, object))
    info->control.invalidated = 1;
}

static int open_entity(cache_handle_t *h, request_rec *r, const char *key) {
  h->cache_obj = NULL;
  struct store *store = cache_store;
  struct store_object *object = store != NULL ? open_key(store, key) : NULL;
  const char *variant = key;
  const struct stored *stored = object != NULL ? head_read(object) : NULL;
  if (stored != NULL && stored->kind == STORED_VARY) {
    variant = head_variant_key(r->pool, key, stored, r->headers_in);
    store_release(store, object);
    object = open_key(store, variant);
    stored = object != NULL ? head_read(object) : NULL;
  }
  /* What was stored for a HEAD has no body to give. */
  if (stored == NULL || stored->kind != STORED_ENTITY || (stored->header_only && !r->header_only)) {
    if (object != NULL)
      store_release(store, object);
    return DECLINED;
  }
  struct entity *entity = make_entity(store, h, r, key);
  entity->opened = object;
  h->cache_obj->key = apr_pstrdup(r->pool, variant);
  read_info(store, &h->cache_obj->info, stored, object);
  return OK;
}

static int remove_entity(cache_handle_t *h) {
  h->cache_obj = NULL;
  return OK;
}

static int remove_url(cache_handle_t *h, request_rec *r) {
  (void)r;
  struct entity *entity = entity_of(h);
  struct store *store = entity != NULL ? entity->store : cache_store;
  if (store == NULL || h->cache_obj == NULL)
    return DECLINED;
  if (entity != NULL && entity->opened != NULL) {
    store_remove(store, entity->opened);
    return OK;
  }
  struct store_object *object = open_key(store, h->cache_obj->key);
  if (object != NULL) {
    store_remove(store, object);
    store_release(store, object);
  }
  return OK;
}

static apr_status_t recall_headers(cache_handle_t *h, request_rec *r) {
  const struct entity *entity = entity_of(h);
  if (entity == NULL || entity->opened == NULL)
    return APR_NOTFOUND;
  head_tables(r->pool, head_read(entity->opened), &h->resp_hdrs, &h->req_hdrs);
  return APR_SUCCESS;
}

static apr_status_t recall_body(cache_handle_t *h, apr_pool_t *pool, apr_bucket_brigade *brigade) {
  (void)pool;
  const struct entity *entity = entity_of(h);
  if (entity == NULL || entity->opened == NULL)
    return APR_NOTFOUND;
  body_recall(entity->store, entity->opened, brigade);
  return APR_SUCCESS;
}

/* Says why the response is not stored, once. */
static apr_status_t give_up(struct entity *entity, request_rec *r, const char *why) {
  entity->failed = 1;
  if (entity->made != NULL) {
    store_release(entity->store, entity->made);
    entity->made = NULL;
  }
  ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, "%s: not stored: %s", entity->name, why);
  return APR_EGENERAL;
}

static void give_back(const struct entity *entity, struct store_object **object) {
  if (*object != NULL)
    store_release(entity->store, *object);
  *object = NULL;
}

/* The object under mod_cache's own key that says what the response varies with. Result: the key of
 * this variant; null where there is no room. */
static const char *make_vary(struct entity *entity, request_rec *r, const char *vary,
                             const apr_table_t *in) {
  apr_size_t bytes;
  struct stored *stored = head_make_vary(r->pool, head_vary_names(r->pool, vary), &bytes);
  entity->made_vary = store_make(entity->store, entity->name, strlen(entity->name), stored, bytes);
  return entity->made_vary != NULL ? head_variant_key(r->pool, entity->name, stored, in) : NULL;
}

static apr_status_t store_headers(cache_handle_t *h, request_rec *r, cache_info *info) {
  struct entity *entity = entity_of(h);
  if (entity == NULL)
    return APR_EGENERAL;
  if (&h->cache_obj->info != info)
    h->cache_obj->info = *info;
  const apr_table_t *out = ap_cache_cacheable_headers_out(r);
  give_back(entity, &entity->made);
  give_back(entity, &entity->made_vary);
  const char *key = entity->name;
  const char *vary = apr_table_get(out, "Vary");
  /* mod_cache compares the request's headers where the response varies, and only then. */
  const apr_table_t *in =
      vary != NULL ? ap_cache_cacheable_headers_in(r) : apr_table_make(r->pool, 0);
  if (vary != NULL && (key = make_vary(entity, r, vary, in)) == NULL)
    return give_up(entity, r, "there is no room for what it varies with");

  apr_size_t bytes;
  struct stored *stored = head_make(r->pool, out, in, &bytes);
  if (stored == NULL || bytes > cache_settings.largest_object)
    return give_up(entity, r, "its headers are larger than CacheTandemMaxObjectSize");
  stored->status = info->status;
  stored->date = info->date;
  stored->expire = info->expire;
  stored->request_time = info->request_time;
  stored->response_time = info->response_time;
  stored->control = info->control;
  stored->header_only = r->header_only && r->status != HTTP_NOT_MODIFIED;
  if (entity->opened != NULL) {
    /* The origin says that the body is still right: it stays. */
    stored->header_only = head_read(entity->opened)->header_only;
    entity->made = store_remake(entity->store, entity->opened, key, strlen(key), stored, bytes);
    entity->complete = 1;
  } else
    entity->made = store_make(entity->store, key, strlen(key), stored, bytes);
  if (entity->made == NULL)
    return give_up(entity, r, "there is no room");
  h->cache_obj->key = apr_pstrdup(r->pool, key);
  return APR_SUCCESS;
}

/* The body has ended; whether it is what it said that it would be. */
static apr_status_t finish_body(struct entity *entity, request_rec *r) {
  const char *length = apr_table_get(r->headers_out, "Content-Length");
  if (r->connection->aborted || r->no_cache)
    return give_up(entity, r, "the connection was aborted");
  if (length != NULL) {
    apr_off_t bytes;
    char *end;
    if (apr_strtoff(&bytes, length, &end, 10) != APR_SUCCESS || *end != '\0' ||
        (!r->header_only && bytes != (apr_off_t)entity->received))
      return give_up(entity, r, "it is not as long as its Content-Length");
  }
  if (entity->received < cache_settings.least_object && !r->header_only)
    return give_up(entity, r, "it is smaller than CacheTandemMinObjectSize");
  entity->complete = 1;
  return APR_SUCCESS;
}

static apr_status_t store_bucket(struct entity *entity, request_rec *r, apr_bucket *bucket) {
  const char *data;
  apr_size_t bytes;
  const apr_status_t status = apr_bucket_read(bucket, &data, &bytes, APR_BLOCK_READ);
  if (status != APR_SUCCESS) {
    give_up(entity, r, "a bucket cannot be read");
    return status;
  }
  if (bytes > cache_settings.largest_object - entity->received)
    return give_up(entity, r, "it is larger than CacheTandemMaxObjectSize");
  const apr_off_t left = entity->expected - (apr_off_t)entity->received;
  if (!store_append(entity->store, entity->made, data, bytes, left > 0 ? (apr_size_t)left : 0))
    return give_up(entity, r, "there is no room");
  entity->received += bytes;
  return APR_SUCCESS;
}

static apr_status_t store_body(cache_handle_t *h, request_rec *r, apr_bucket_brigade *in,
                               apr_bucket_brigade *out) {
  struct entity *entity = entity_of(h);
  apr_size_t taken = 0;
  if (entity == NULL)
    return APR_EGENERAL;
  while (!APR_BRIGADE_EMPTY(in) && taken < kAtOnce) {
    apr_bucket *bucket = APR_BRIGADE_FIRST(in);
    apr_status_t status = APR_SUCCESS;
    const int flush = APR_BUCKET_IS_FLUSH(bucket);
    if (entity->complete || entity->failed)
      ; /* what comes behind the end goes by */
    else if (APR_BUCKET_IS_EOS(bucket))
      status = finish_body(entity, r);
    else if (AP_BUCKET_IS_ERROR(bucket))
      status = give_up(entity, r, "the origin's answer broke off");
    else if (!APR_BUCKET_IS_METADATA(bucket))
      status = store_bucket(entity, r, bucket);
    if (bucket->length != (apr_size_t)-1)
      taken += bucket->length;
    APR_BUCKET_REMOVE(bucket);
    APR_BRIGADE_INSERT_TAIL(out, bucket);
    if (status != APR_SUCCESS)
      return status;
    if (flush)
      break;
  }
  return APR_SUCCESS;
}

static apr_status_t commit_entity(cache_handle_t *h, request_rec *r) {
  struct entity *entity = entity_of(h);
  if (entity == NULL || entity->made == NULL || !entity->complete)
    return APR_EGENERAL;
  const uint64_t now = (uint64_t)apr_time_now();
  if ((entity->made_vary != NULL && !store_commit(entity->store, entity->made_vary, now)) ||
      !store_commit(entity->store, entity->made, now))
    return give_up(entity, r, "the shared cache is being rebuilt");
  give_back(entity, &entity->made);
  give_back(entity, &entity->made_vary);
  return APR_SUCCESS;
}

static apr_status_t invalidate_entity(cache_handle_t *h, request_rec *r) {
  (void)r;
  struct entity *entity = entity_of(h);
  if (entity == NULL || entity->opened == NULL)
    return APR_EGENERAL;
  h->cache_obj->info.control.invalidated = 1;
  store_invalidate(entity->store, entity->opened);
  return APR_SUCCESS;
}

const cache_provider cache_tandem_provider = {
    remove_entity, store_headers, store_body, recall_headers, recall_body,
    create_entity, open_entity,   remove_url, commit_entity,  invalidate_entity,
};
