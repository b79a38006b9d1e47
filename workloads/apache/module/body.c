/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Buckets of a stored body. They hold a reference each, since a bucket can outlive its request: in
 * output that the client has not taken yet, or in another connection's thread.
 */
#include "module.h"

#include <apr_buckets.h>

struct piece {
  apr_bucket_refcount refcount; /* of buckets that share it */
  struct store *store;
  struct store_object *object;
  const char *data;
};

static apr_status_t piece_read(apr_bucket *bucket, const char **data, apr_size_t *bytes,
                               apr_read_type_e block) {
  (void)block;
  const struct piece *piece = bucket->data;
  *data = piece->data + bucket->start;
  *bytes = bucket->length;
  return APR_SUCCESS;
}

static void piece_destroy(void *data) {
  struct piece *piece = data;
  if (apr_bucket_shared_destroy(piece)) {
    store_release(piece->store, piece->object);
    apr_bucket_free(piece);
  }
}

static const apr_bucket_type_t kPieceType = {"TANDEM",
                                             5,
                                             APR_BUCKET_DATA,
                                             piece_destroy,
                                             piece_read,
                                             apr_bucket_setaside_noop,
                                             apr_bucket_shared_split,
                                             apr_bucket_shared_copy};

void body_recall(struct store *store, struct store_object *object, apr_bucket_brigade *to) {
  apr_bucket_alloc_t *list = to->bucket_alloc;
  const void *cursor = NULL;
  const char *data;
  size_t bytes;
  while (store_next_part(object, &cursor, &data, &bytes)) {
    apr_bucket *bucket = apr_bucket_alloc(sizeof *bucket, list);
    APR_BUCKET_INIT(bucket);
    bucket->free = apr_bucket_free;
    bucket->list = list;
    struct piece *piece = apr_bucket_alloc(sizeof *piece, list);
    piece->store = store;
    piece->object = object;
    piece->data = data;
    store_retain(store, object, 1);
    bucket = apr_bucket_shared_make(bucket, piece, 0, bytes);
    bucket->type = &kPieceType;
    APR_BRIGADE_INSERT_TAIL(to, bucket);
  }
}
