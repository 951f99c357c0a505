/* The smallest user of the installed library: links, calls, compares headers and library. */
#include <isthmus/isthmus.h>
#include <isthmus/version.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  printf("%s\n", isthmus_version());
  return strcmp(isthmus_version(), ISTHMUS_VERSION_STRING) != 0;
}
