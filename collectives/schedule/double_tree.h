// The double binary tree: two binary trees over the same places, in which every place but one is an inner node of at
// most one. Each tree carries half of the data, so that the lines of all places are used alike.
//
// P. Sanders, J. Speck, J. L. Träff, *Two-tree algorithms for full bandwidth broadcast, reduction and scan*, Parallel
// Computing 35(12), 2009.
//
// Threads: pure functions, any thread.
#pragma once

namespace isthmus {

inline constexpr int kNoPlace = -1;
inline constexpr int kTreeCount = 2;

struct TreeNode {
  int parent = kNoPlace;  // none: the root
  int left = kNoPlace, right = kNoPlace;
  bool is_leaf() const { return left == kNoPlace && right == kNoPlace; }
};

// Place `place` of 0..places-1 in tree 0 or 1. A tree lists its places in order: all that are below the left child come
// before the node, all below the right child after it (tree 1: in the mirrored order of tree 0 where `places` is even,
// in the order that begins with the last place where it is odd). O(log places).
TreeNode tree_node(int tree, int place, int places);

// Edges on the longest way from the root to a leaf: floor(log2 places).
int tree_depth(int places);

}  // namespace isthmus
