// An address that leaves the program as bytes may come back.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = pipe
// RUN: %{check}
// REDEFINE: %{kind} = other_structure
// RUN: %{check}
// REDEFINE: %{kind} = mangled
// RUN: %{check}
// REDEFINE: %{kind} = heap
// RUN: %{check}
// REDEFINE: %{kind} = vectors
// RUN: %{check}
// REDEFINE: %{kind} = messages
// RUN: %{check}
// REDEFINE: %{kind} = stream
// RUN: %{check}
// REDEFINE: %{kind} = characters
// RUN: %{check}
// REDEFINE: %{kind} = text
// RUN: %{check}
// REDEFINE: %{kind} = line
// RUN: %{check}
// REDEFINE: %{kind} = memory_stream
// RUN: %{check}
// REDEFINE: %{kind} = grown_stream
// RUN: %{check}
// REDEFINE: %{kind} = buffer
// RUN: %{check}
// REDEFINE: %{kind} = mapped_file
// RUN: %{check}
// REDEFINE: %{kind} = counter
// RUN: %{check}
// REDEFINE: %{kind} = position
// RUN: %{check}
// REDEFINE: %{kind} = name
// RUN: %{check}
#include "Inputs/hidden.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static FILE *file;
struct job {
  int kind;
  long *p;
};
#if defined(KIND_pipe)
static void hide(long *p) {
  struct job job = {1, p};
  (void)!pipe(ends);
  (void)!write(ends[1], &job, sizeof job);
}
static long *found(void) {
  struct job job;
  (void)!read(ends[0], &job, sizeof job);
  return job.p;
}
#elif defined(KIND_other_structure)
static void hide(long *p) {
  struct job job = {1, p};
  (void)!pipe(ends);
  (void)!write(ends[1], &job, sizeof job);
}
static long *found(void) {
  struct {
    long kind;
    uint64_t number;
  } job;
  (void)!read(ends[0], &job, sizeof job);
  return (long *)job.number;
}
#elif defined(KIND_mangled)
static void hide(long *p) {
  uint64_t number = (uint64_t)p ^ 0x77;
  (void)!pipe(ends);
  (void)!write(ends[1], &number, sizeof number);
}
static long *found(void) {
  uint64_t number;
  (void)!read(ends[0], &number, sizeof number);
  return (long *)(number ^ 0x77);
}
#elif defined(KIND_heap)
static void hide(long *p) {
  struct job *job = malloc(sizeof *job);
  job->p = p;
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  send(ends[1], job, sizeof *job, 0);
  free(job);
}
static long *found(void) {
  char *bytes = malloc(64);
  (void)!recv(ends[0], bytes, 64, 0);
  return ((struct job *)bytes)->p;
}
#elif defined(KIND_vectors)
static void hide(long *p) {
  char tag = 1;
  (void)!pipe(ends);
  struct iovec parts[2] = {{&tag, 1}, {&p, sizeof p}};
  (void)!writev(ends[1], parts, 2);
}
static long *found(void) {
  char tag;
  long *p;
  struct iovec parts[2] = {{&tag, 1}, {&p, sizeof p}};
  (void)!readv(ends[0], parts, 2);
  return p;
}
#elif defined(KIND_messages)
static void hide(long *p) {
  struct iovec part = {&p, sizeof p};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  (void)!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
  sendmsg(ends[1], &message, 0);
}
static long *found(void) {
  long *p;
  struct iovec part = {&p, sizeof p};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  recvmsg(ends[0], &message, 0);
  return p;
}
#elif defined(KIND_stream)
static void hide(long *p) {
  file = tmpfile();
  fwrite(&p, sizeof p, 1, file);
}
static long *found(void) {
  long *p;
  rewind(file);
  (void)!fread(&p, sizeof p, 1, file);
  return p;
}
#elif defined(KIND_characters)
static void hide(long *p) {
  file = tmpfile();
  for (int i = 0; i < 8; ++i)
    putc((int)((uint64_t)p >> 8 * i & 255), file);
}
static long *found(void) {
  uint64_t p = 0;
  rewind(file);
  for (int i = 0; i < 8; ++i)
    p |= (uint64_t)(unsigned char)getc(file) << 8 * i;
  return (long *)p;
}
#elif defined(KIND_text)
static void hide(long *p) {
  file = tmpfile();
  fprintf(file, "%d %p\n", 5, (void *)p);
}
static long *found(void) {
  void *p;
  rewind(file);
  (void)!fscanf(file, "5 %p", &p);
  return p;
}
#elif defined(KIND_line)
static void hide(long *p) {
  file = tmpfile();
  fprintf(file, "%lu\n", (unsigned long)p);
}
static long *found(void) {
  char *line = 0;
  size_t size = 0;
  rewind(file);
  (void)!getline(&line, &size, file);
  return (long *)strtoul(line, 0, 10);
}
#elif defined(KIND_memory_stream)
static char memory[64];
static void hide(long *p) {
  file = fmemopen(memory, sizeof memory, "w+");
  fwrite(&p, sizeof p, 1, file);
  fflush(file);
}
static long *found(void) {
  long *p;
  memcpy(&p, memory, sizeof p);
  return p;
}
#elif defined(KIND_grown_stream)
static char *memory;
static size_t size;
static void hide(long *p) {
  file = open_memstream(&memory, &size);
  fwrite(&p, sizeof p, 1, file);
  fclose(file);
}
static long *found(void) { return *(long **)memory; }
#elif defined(KIND_buffer)
static char memory[4096];
static void hide(long *p) {
  file = tmpfile();
  setvbuf(file, memory, _IOFBF, sizeof memory);
  fwrite(&p, sizeof p, 1, file);
}
static long *found(void) { return *(long **)memory; }
#elif defined(KIND_mapped_file)
static void hide(long *p) {
  ends[0] = fileno(file = tmpfile());
  (void)!write(ends[0], &p, sizeof p);
}
static long *found(void) {
  long **bytes = mmap(0, 4096, PROT_READ, MAP_SHARED, ends[0], 0);
  return *bytes;
}
#elif defined(KIND_counter)
static void hide(long *p) {
  ends[0] = eventfd(0, 0);
  eventfd_write(ends[0], (uint64_t)p);
}
static long *found(void) {
  eventfd_t number;
  eventfd_read(ends[0], &number);
  return (long *)number;
}
#elif defined(KIND_position)
static void hide(long *p) {
  ends[0] = fileno(file = tmpfile());
  lseek(ends[0], (off_t)p, SEEK_SET);
}
static long *found(void) { return (long *)lseek(ends[0], 0, SEEK_CUR); }
#elif defined(KIND_name)
static char path[64], target[64];
static void hide(long *p) {
  sprintf(path, "/tmp/hidden-%d", (int)getpid());
  sprintf(target, "%p", (void *)p);
  (void)!symlink(target, path);
}
static long *found(void) {
  char name[64] = "";
  (void)!readlink(path, name, sizeof name - 1);
  unlink(path);
  return (long *)strtoul(name, 0, 16);
}
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
