/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * mod_cache_tandem: storage of mod_cache in memory, for httpd 2.4. Directives, and the life of the
 * store: one for all processes, made by the parent before it forks and kept over graceful
 * restarts, or one in each process.
 */
#include "module.h"

#include <ap_mpm.h>
#include <ap_provider.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <mod_status.h>
#include <mpm_common.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

APLOG_USE_MODULE(cache_tandem);

struct store *cache_store;
struct cache_settings cache_settings;

enum { kLargestObject = 1 << 20, kTableBytes = 32 /* of one object */ };
static const apr_size_t kUnset = APR_SIZE_MAX; /* no directive gives that much */

static const char kKept[] = "cache_tandem: the shared store";

/* What outlives a restart of the server. */
struct kept {
  struct store *store;
  struct store_settings settings;
  apr_uint64_t rebuilds; /* that were said in the log */
};

static int pre_config(apr_pool_t *pool, apr_pool_t *log, apr_pool_t *temporary) {
  (void)pool, (void)log, (void)temporary;
  cache_settings = (struct cache_settings){
      .bytes = (apr_size_t)64 << 20,
      .least_object = 0,
      .largest_object = kUnset,
      .objects = 16384,
      .policy = STORE_GDSF,
      .sharing = CACHE_SHARED_AUTO,
  };
  return OK;
}

/* A number of bytes with K, M or G behind it; null, or what is wrong. */
static const char *read_size(cmd_parms *cmd, const char *text, apr_size_t *size) {
  char *end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  static const char units[] = "KMG";
  const char *unit = *end != '\0' ? strchr(units, apr_toupper(*end)) : NULL;
  const int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
  if (errno != 0 || *text < '0' || *text > '9' ||
      (*end != '\0' && (unit == NULL || end[1] != '\0')) || value > (APR_SIZE_MAX >> 1 >> shift))
    return apr_pstrcat(cmd->pool, cmd->cmd->name, ": '", text,
                       "' is not a size in bytes, as 65536, 64K, 256M or 2G", NULL);
  *size = (apr_size_t)value << shift;
  return NULL;
}

static const char *set_size(cmd_parms *cmd, void *dummy, const char *text) {
  (void)dummy;
  const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
  if (wrong != NULL)
    return wrong;
  return read_size(cmd, text, (apr_size_t *)((char *)&cache_settings + (apr_size_t)cmd->info));
}

static const char *set_objects(cmd_parms *cmd, void *dummy, const char *text) {
  (void)dummy;
  const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
  char *end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (wrong != NULL)
    return wrong;
  if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value == 0 ||
      value > STORE_MOST_OBJECTS)
    return apr_psprintf(cmd->pool, "%s: '%s' is not a number of objects from 1 to %u",
                        cmd->cmd->name, text, STORE_MOST_OBJECTS);
  cache_settings.objects = (unsigned)value;
  return NULL;
}

static const char *set_policy(cmd_parms *cmd, void *dummy, const char *text) {
  (void)dummy;
  const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
  if (wrong == NULL && strcasecmp(text, "GDSF") == 0)
    cache_settings.policy = STORE_GDSF;
  else if (wrong == NULL && strcasecmp(text, "LRU") == 0)
    cache_settings.policy = STORE_LRU;
  else if (wrong == NULL)
    wrong = apr_pstrcat(cmd->pool, cmd->cmd->name, ": '", text, "' is neither GDSF nor LRU", NULL);
  return wrong;
}

static const char *set_sharing(cmd_parms *cmd, void *dummy, const char *text) {
  (void)dummy;
  static const char *const names[] = {"Auto", "On", "Off"};
  const char *wrong = ap_check_cmd_context(cmd, GLOBAL_ONLY);
  if (wrong != NULL)
    return wrong;
  for (int i = 0; i < 3; i++)
    if (strcasecmp(text, names[i]) == 0) {
      cache_settings.sharing = (enum cache_sharing)i;
      return NULL;
    }
  return apr_pstrcat(cmd->pool, cmd->cmd->name, ": '", text, "' is none of On, Off and Auto", NULL);
}

#define SIZE_DIRECTIVE(name, field, text)                                                          \
  AP_INIT_TAKE1(name, set_size, (void *)APR_OFFSETOF(struct cache_settings, field), RSRC_CONF, text)

static const command_rec kDirectives[] = {
    SIZE_DIRECTIVE("CacheTandemSize", bytes, "Memory of the cache: bytes, K, M or G (64M)"),
    AP_INIT_TAKE1("CacheTandemObjects", set_objects, NULL, RSRC_CONF,
                  "Most objects in the cache (16384)"),
    SIZE_DIRECTIVE("CacheTandemMinObjectSize", least_object,
                   "Responses with smaller bodies are not stored (0)"),
    SIZE_DIRECTIVE(
        "CacheTandemMaxObjectSize", largest_object,
        "Responses with larger bodies are not stored (1M; half of CacheTandemSize, if less)"),
    AP_INIT_TAKE1("CacheTandemPolicy", set_policy, NULL, RSRC_CONF,
                  "Who goes first where there is no room: GDSF or LRU (GDSF)"),
    AP_INIT_TAKE1("CacheTandemShared", set_sharing, NULL, RSRC_CONF,
                  "One cache for all processes: On; one in each: Off; Auto: On where there can be "
                  "more than one"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};

/* What no directive can say alone; also asked by apachectl configtest. */
static int check_config(apr_pool_t *pool, apr_pool_t *log, apr_pool_t *temporary,
                        server_rec *server) {
  (void)pool, (void)log, (void)temporary;
  struct cache_settings *it = &cache_settings;
  if (it->largest_object == kUnset)
    it->largest_object = it->bytes / 2 < kLargestObject ? it->bytes / 2 : kLargestObject;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const char *wrong = NULL;
  if (it->bytes < STORE_LEAST_BYTES)
    wrong = "CacheTandemSize: less than 64K is too little for a cache";
  else if (it->largest_object > it->bytes / 2)
    wrong = "CacheTandemMaxObjectSize: an object may have half of CacheTandemSize at most";
  else if (it->least_object > it->largest_object)
    wrong = "CacheTandemMinObjectSize: is above CacheTandemMaxObjectSize";
  else if (pages > 0 && page > 0 &&
           (it->bytes + (apr_size_t)it->objects * kTableBytes) / (apr_size_t)page >
               (apr_size_t)pages)
    wrong =
        "CacheTandemSize: with the tables for CacheTandemObjects, 32 bytes each, is more memory "
        "than this machine has";
  if (wrong == NULL)
    return OK;
  ap_log_error(APLOG_MARK, APLOG_CRIT | APLOG_STARTUP, 0, server, "%s", wrong);
  return HTTP_INTERNAL_SERVER_ERROR;
}

static struct store_settings wanted(int shared) {
  return (struct store_settings){.bytes = cache_settings.bytes,
                                 .objects = cache_settings.objects,
                                 .policy = cache_settings.policy,
                                 .shared = shared != 0};
}

static int is_shared(void) {
  int processes = 1;
  if (cache_settings.sharing != CACHE_SHARED_AUTO)
    return cache_settings.sharing == CACHE_SHARED_ON;
  return ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &processes) != APR_SUCCESS || processes > 1;
}

static int same(const struct store_settings *a, const struct store_settings *b) {
  return a->bytes == b->bytes && a->objects == b->objects && a->policy == b->policy;
}

/* The parent, before it forks: the store that all share. */
static int post_config(apr_pool_t *pool, apr_pool_t *log, apr_pool_t *temporary,
                       server_rec *server) {
  (void)pool, (void)log, (void)temporary;
  apr_pool_t *process = server->process->pool;
  struct kept *kept = NULL;
  cache_store = NULL;
  if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG)
    return OK;
  apr_pool_userdata_get((void **)&kept, kKept, process);
  if (kept == NULL) {
    kept = apr_pcalloc(process, sizeof *kept);
    apr_pool_userdata_setn(kept, kKept, NULL, process);
  }
  const struct store_settings settings = wanted(is_shared());
  if (kept->store != NULL && (!settings.shared || !same(&kept->settings, &settings))) {
    /* Processes that still run have it in their own memory. */
    store_destroy(kept->store);
    kept->store = NULL;
  }
  if (!settings.shared)
    return OK;
  if (kept->store == NULL)
    *kept = (struct kept){.store = store_create(&settings), .settings = settings};
  cache_store = kept->store;
  if (cache_store != NULL)
    return OK;
  ap_log_error(APLOG_MARK, APLOG_CRIT | APLOG_STARTUP, errno, server,
               "CacheTandemSize: there are no %" APR_SIZE_T_FMT " bytes of shared memory",
               cache_settings.bytes);
  return HTTP_INTERNAL_SERVER_ERROR;
}

static apr_status_t child_exit(void *data) {
  (void)data;
  struct store *store = cache_store;
  /* Threads that a server which must end at once leaves behind may still give back what they hold,
   * so a store of one process goes with the process. */
  cache_store = NULL;
  if (store != NULL)
    store_leave(store);
  return APR_SUCCESS;
}

static void child_init(apr_pool_t *pool, server_rec *server) {
  const struct store_settings settings = wanted(0);
  if (cache_store == NULL) {
    cache_store = store_create(&settings);
    if (cache_store == NULL)
      ap_log_error(APLOG_MARK, APLOG_ERR, errno, server,
                   "CacheTandemSize: there is no memory for the cache; nothing is stored");
  } else if (!store_join(cache_store)) {
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, server,
                 "too many processes share the cache; this one stores nothing");
    cache_store = NULL;
  }
  apr_pool_cleanup_register(pool, NULL, child_exit, apr_pool_cleanup_null);
}

/* The parent, now and then: a process that died in the middle of the cache is noticed here at the
 * latest, as store_count mends the store. */
static int monitor(apr_pool_t *pool, server_rec *server) {
  (void)pool;
  struct kept *kept = NULL;
  apr_pool_userdata_get((void **)&kept, kKept, server->process->pool);
  if (kept == NULL || kept->store == NULL)
    return DECLINED;
  struct store_counts counts;
  store_count(kept->store, &counts);
  if (counts.rebuilds != kept->rebuilds) {
    kept->rebuilds = counts.rebuilds;
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, server,
                 "a process that held objects of the shared cache was killed: the cache was "
                 "rebuilt, and begins empty");
  }
  return DECLINED;
}

static void register_hooks(apr_pool_t *pool) {
  ap_register_provider(pool, CACHE_PROVIDER_GROUP, "tandem", "0", &cache_tandem_provider);
  ap_hook_pre_config(pre_config, NULL, NULL, APR_HOOK_MIDDLE);
  ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_MIDDLE);
  ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
  ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
  ap_hook_monitor(monitor, NULL, NULL, APR_HOOK_MIDDLE);
  ap_hook_handler(status_handler, NULL, NULL, APR_HOOK_MIDDLE);
  APR_OPTIONAL_HOOK(ap, status_hook, status_hook, NULL, NULL, APR_HOOK_MIDDLE);
}

__attribute__((visibility("default"))) module AP_MODULE_DECLARE_DATA cache_tandem_module = {
    STANDARD20_MODULE_STUFF,
    NULL,
    NULL,
    NULL,
    NULL,
    kDirectives,
    register_hooks,
#if defined(AP_MODULE_HAS_FLAGS)
    0,
#endif
};
