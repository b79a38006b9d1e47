/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Counters as a page, "name: value" lines for programs (?auto), and as a part of mod_status's.
 */
#include "module.h"

#include <http_protocol.h>
#include <mod_status.h>
#include <tandem/transaction.h>

/* Only where the module is enforced by transactions. */
extern __typeof__(tandem_get_statistics) tandem_get_statistics __attribute__((weak));

struct row {
  const char *name;
  apr_uint64_t value;
};

static void rows(request_rec *r, struct store *store, const char *format, const char *last) {
  struct store_counts counts;
  struct tandem_statistics transactions = {0};
  store_count(store, &counts);
  if (tandem_get_statistics != NULL)
    tandem_get_statistics(&transactions);
  const struct row all[] = {
      {"Hits", counts.hits},
      {"Misses", counts.misses},
      {"Stored", counts.commits},
      {"Replaced", counts.replacements},
      {"Evicted", counts.evictions},
      {"Removed", counts.removals},
      {"Refused", counts.refusals},
      {"Rebuilds", counts.rebuilds},
      {"Objects", counts.linked},
      {"ObjectsMax", counts.most_objects},
      {"Bytes", counts.charged},
      {"BytesMax", counts.most_bytes},
      {"Transactions", transactions.attempts - transactions.restarts},
      {"Aborts", transactions.restarts},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    ap_rprintf(r, format, all[i].name, all[i].value);
  ap_rputs(last, r);
}

int status_hook(request_rec *r, int flags) {
  struct store *store = cache_store; /* none at the end of the process */
  if (store == NULL)
    return DECLINED;
  if ((flags & AP_STATUS_SHORT) != 0) {
    rows(r, store, "CacheTandem%s: %" APR_UINT64_T_FMT "\n", "");
    return OK;
  }
  ap_rputs("<hr>\n<h2>mod_cache_tandem</h2>\n<table>\n", r);
  rows(r, store,
       "<tr><th align=\"left\">%s</th><td align=\"right\">%" APR_UINT64_T_FMT "</td></tr>\n",
       "</table>\n");
  return OK;
}

int status_handler(request_rec *r) {
  if (r->handler == NULL || strcmp(r->handler, "cache-tandem-status") != 0)
    return DECLINED;
  if (r->method_number != M_GET)
    return HTTP_METHOD_NOT_ALLOWED;
  if (cache_store == NULL)
    return HTTP_SERVICE_UNAVAILABLE;
  const int automatic = r->args != NULL && strcmp(r->args, "auto") == 0;
  apr_table_setn(r->headers_out, "Cache-Control", "no-store");
  ap_set_content_type(r, automatic ? "text/plain; charset=UTF-8" : "text/html; charset=UTF-8");
  if (r->header_only)
    return OK;
  if (automatic)
    return status_hook(r, AP_STATUS_SHORT);
  ap_rputs("<!DOCTYPE html>\n<title>mod_cache_tandem</title>\n", r);
  return status_hook(r, 0);
}
