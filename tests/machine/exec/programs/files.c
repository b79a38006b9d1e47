// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// files FOLDER: names, contents, folders, links, pipes, descriptors below a folder of the host.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s, errno %d\n", __LINE__, #condition, errno);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  EXPECT(file != NULL);
  EXPECT(fputs(text, file) >= 0);
  EXPECT(fclose(file) == 0);
}

static void expect_text(const char *path, const char *text) {
  char found[256] = "";
  FILE *file = fopen(path, "r");
  EXPECT(file != NULL);
  (void)!fread(found, 1, sizeof found - 1, file);
  EXPECT(strcmp(found, text) == 0);
  fclose(file);
}

static void names(void) {
  expect_text("given", "of the host\n");
  put("given", "changed");
  expect_text("given", "changed");
  put("new", "new one");
  EXPECT(access("new", F_OK) == 0);
  EXPECT(rename("new", "newer") == 0);
  EXPECT(access("new", F_OK) == -1 && errno == ENOENT);
  expect_text("newer", "new one");
  EXPECT(mkdir("sub", 0755) == 0);
  EXPECT(mkdir("sub", 0755) == -1 && errno == EEXIST);
  put("sub/b", "b");
  put("sub/a", "a");
  EXPECT(rmdir("sub") == -1 && errno == ENOTEMPTY);
  EXPECT(symlink("sub/a", "link") == 0);
  expect_text("link", "a");
  char target[64] = "";
  EXPECT(readlink("link", target, sizeof target) == 5 && strcmp(target, "sub/a") == 0);
  struct stat status;
  EXPECT(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
  EXPECT(stat("link", &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 1);
  EXPECT(link("sub/a", "hard") == 0);
  expect_text("hard", "a");
  EXPECT(unlink("gone") == 0); // of the host
  EXPECT(open("gone", O_RDONLY) == -1 && errno == ENOENT);
  EXPECT(symlink("loop", "loop") == 0);
  EXPECT(open("loop", O_RDONLY) == -1 && errno == ELOOP);
  EXPECT(open("given/x", O_RDONLY) == -1 && errno == ENOTDIR);
  EXPECT(open("sub", O_WRONLY) == -1 && errno == EISDIR);
}

static void folders(void) {
  DIR *folder = opendir("sub");
  EXPECT(folder != NULL);
  char all[64] = "";
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    strcat(all, entry->d_name);
    strcat(all, " ");
  }
  EXPECT(strcmp(all, ". .. a b ") == 0);
  closedir(folder);
  char here[256] = "";
  EXPECT(chdir("sub") == 0);
  EXPECT(getcwd(here, sizeof here) != NULL && strstr(here, "/sub") != NULL);
  expect_text("../sub/a", "a");
  EXPECT(chdir("..") == 0);
}

static void contents(void) {
  int file = open("sub/data", O_RDWR | O_CREAT | O_EXCL, 0600);
  EXPECT(file >= 3);
  EXPECT(open("sub/data", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
  EXPECT(pwrite(file, "end", 3, 100000) == 3);
  char byte = 'x';
  EXPECT(pread(file, &byte, 1, 50000) == 1 && byte == 0);
  EXPECT(lseek(file, -3, SEEK_END) == 100000);
  EXPECT(read(file, &byte, 1) == 1 && byte == 'e');
  EXPECT(ftruncate(file, 10) == 0);
  EXPECT(lseek(file, 0, SEEK_END) == 10);
  int append = open("sub/data", O_WRONLY | O_APPEND);
  EXPECT(write(append, "more", 4) == 4);
  EXPECT(lseek(file, 0, SEEK_END) == 14);
  int twin = dup(file);
  EXPECT(lseek(file, 3, SEEK_SET) == 3 && lseek(twin, 0, SEEK_CUR) == 3);
  EXPECT(close(file) == 0 && close(file) == -1 && errno == EBADF);
  EXPECT(read(append, &byte, 1) == -1 && errno == EBADF);
}

static void pipes(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  struct pollfd poll_of = {.fd = ends[0], .events = POLLIN};
  EXPECT(poll(&poll_of, 1, 5) == 0); // nothing in 5 ms
  EXPECT(write(ends[1], "abc", 3) == 3);
  EXPECT(poll(&poll_of, 1, -1) == 1 && poll_of.revents == POLLIN);
  char text[8] = "";
  EXPECT(read(ends[0], text, 8) == 3 && strcmp(text, "abc") == 0);
  close(ends[1]);
  EXPECT(read(ends[0], text, 8) == 0);
  int events = eventfd(3, EFD_NONBLOCK);
  unsigned long long count = 0;
  EXPECT(read(events, &count, 8) == 8 && count == 3);
  EXPECT(read(events, &count, 8) == -1 && errno == EAGAIN);
}

int main(int argc, char **argv) {
  EXPECT(argc == 2 && chdir(argv[1]) == 0);
  names();
  folders();
  contents();
  pipes();
  EXPECT(open("/dev/full", O_WRONLY) >= 0);
  puts("files: ok");
  return 0;
}
