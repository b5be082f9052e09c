// Lists of segments cut into chunks of much the same length, one a warp or a block of threads. No CUDA here.
#pragma once

#include <algorithm>
#include <vector>

namespace petscrrb::deflation {

// A part of a segment's one or two lists. Its sum is the segment's if it is the only one; otherwise the segment's is the
// sum of theirs, in order.
struct Chunk {
  int segment;
  int first, of;        // the segment's first chunk, and how many it has
  int begin[2], end[2]; // places in the lists
};

constexpr int longest_chunk = 1024; // of either list
constexpr int chunk_of_a_warp = 512;

class Chunks {
public:
  // start[s] ... start[s + 1]: segment s of a list; `second` may be empty: there is one list
  Chunks(const std::vector<int> &start, const std::vector<int> &second) {
    const std::vector<int> none(start.size(), 0), *const lists[] = {&start, second.empty() ? &none : &second};
    for (std::size_t s = 0; s + 1 < start.size(); ++s) {
      const int first = int(chunk.size());
      int parts = 1;
      for (const auto *list : lists)
        parts = std::max(parts, ((*list)[s + 1] - (*list)[s] + longest_chunk - 1) / longest_chunk);
      for (int part = 0; part < parts; ++part) {
        Chunk c{int(s), first, parts, {0, 0}, {0, 0}};
        for (int k = 0; k < 2; ++k) {
          cut((*lists[k])[s], (*lists[k])[s + 1], part, parts, c.begin[k], c.end[k]);
          longest = std::max(longest, c.end[k] - c.begin[k]);
        }
        chunk.push_back(c);
      }
    }
  }

  std::vector<Chunk> chunk;
  int longest = 0;

private:
  // whole warps' reads but for the last
  static void cut(int start, int end, int part, int parts, int &begin, int &stop) {
    const int each = ((end - start + parts - 1) / parts + 31) / 32 * 32;
    begin = std::min(end, start + part * each);
    stop = std::min(end, begin + each);
  }
};

} // namespace petscrrb::deflation
