#include "collectives/schedule/double_tree.h"

#include <bit>

namespace isthmus {
namespace {

// The in-order tree over the numbers low..high, as far down as `number`: the root is the number of the range that the
// highest power of two divides. Over 1..n all odd numbers are leaves.
int root_of(int low, int high) {
  const auto differing = static_cast<unsigned>((low - 1) ^ high);
  const int step = static_cast<int>(std::bit_floor(differing));
  return high / step * step;
}

struct Node {
  int parent = 0, left = 0, right = 0;  // 0: none
};

Node find_node(int number, int count) {
  int low = 1, high = count, parent = 0;
  for (;;) {
    const int root = root_of(low, high);
    if (root == number)
      return {parent, low < root ? root_of(low, root - 1) : 0, root < high ? root_of(root + 1, high) : 0};
    (number < root ? high : low) = number < root ? root - 1 : root + 1;
    parent = root;
  }
}

// The number of a place in tree 1 is such that the even ones (inner nodes of tree 0) have odd numbers (leaves): counted
// from the other end, or shifted by one where that would keep an odd number odd. Its own inverse or that of a shift.
int number_of(int tree, int place, int places) {
  if (tree == 0) return place + 1;
  return places % 2 == 0 ? places - place : (place + 1) % places + 1;
}

int place_of(int tree, int number, int places) {
  if (number == 0) return kNoPlace;
  if (tree == 0) return number - 1;
  return places % 2 == 0 ? places - number : (number - 2 + places) % places;
}

}  // namespace

TreeNode tree_node(int tree, int place, int places) {
  const Node node = find_node(number_of(tree, place, places), places);
  return {place_of(tree, node.parent, places), place_of(tree, node.left, places), place_of(tree, node.right, places)};
}

int tree_depth(int places) { return std::bit_width(static_cast<unsigned>(places)) - 1; }

}  // namespace isthmus
