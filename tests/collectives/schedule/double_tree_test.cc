#include "collectives/schedule/double_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace isthmus {
namespace {

int root_of(int tree, int places) {
  for (int place = 0; place < places; ++place)
    if (tree_node(tree, place, places).parent == kNoPlace) return place;
  return kNoPlace;
}

std::vector<int> in_order(int tree, int place, int places) {
  if (place == kNoPlace) return {};
  const TreeNode node = tree_node(tree, place, places);
  std::vector<int> order = in_order(tree, node.left, places);
  order.push_back(place);
  for (const int below : in_order(tree, node.right, places)) order.push_back(below);
  return order;
}

TEST(DoubleTree, ParentsAndChildrenAgreeAndEveryPlaceIsReached) {
  for (int places = 1; places <= 130; ++places) {
    for (int tree = 0; tree < kTreeCount; ++tree) {
      std::vector<int> expected;
      for (int place = 0; place < places; ++place) expected.push_back(place);
      if (tree == 1 && places % 2 == 0) std::ranges::reverse(expected);
      if (tree == 1 && places % 2 != 0) std::ranges::rotate(expected, expected.end() - 1);
      ASSERT_EQ(in_order(tree, root_of(tree, places), places), expected) << places << " places, tree " << tree;
      for (int place = 0; place < places; ++place) {
        const TreeNode node = tree_node(tree, place, places);
        for (const int child : {node.left, node.right}) {
          if (child == kNoPlace) continue;
          ASSERT_EQ(tree_node(tree, child, places).parent, place);
        }
      }
    }
  }
}

TEST(DoubleTree, NoPlaceIsInnerInBothTrees) {
  for (int places = 1; places <= 130; ++places) {
    for (int place = 0; place < places; ++place) {
      EXPECT_TRUE(tree_node(0, place, places).is_leaf() || tree_node(1, place, places).is_leaf())
          << "place " << place << " of " << places;
    }
  }
}

TEST(DoubleTree, DepthIsTheLogarithm) {
  for (int places = 1; places <= 130; ++places) {
    for (int tree = 0; tree < kTreeCount; ++tree) {
      const std::function<int(int)> depth = [&](int place) -> int {
        const int parent = tree_node(tree, place, places).parent;
        return parent == kNoPlace ? 0 : 1 + depth(parent);
      };
      int deepest = 0;
      for (int place = 0; place < places; ++place) deepest = std::max(deepest, depth(place));
      EXPECT_EQ(deepest, tree_depth(places)) << places;
    }
  }
}

}  // namespace
}  // namespace isthmus
