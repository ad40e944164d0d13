"""Shortest paths against the plainest way to find them, and how often they are searched for."""

from itertools import product
from random import Random

import pytest

import ensue
from ensue.temporal.distances import Distances


def drawn(random):
    points = range(random.randint(2, 9))
    found = Distances()
    for _ in range(random.randint(1, 20)):
        one, other = random.choice(points), random.choice(points)
        low, high = random.randint(-4, 4), random.randint(-4, 9)
        found.require(one, other, random.choice([None, low]), random.choice([None, high]), reason=(one, other))
    return points, found


def closure(points, distances):
    """Floyd and Warshall's way."""
    longest = {(one, other): 0 if one == other else None for one, other in product(points, points)}
    for c in distances.constraints:
        held = longest[c.earlier, c.later]
        longest[c.earlier, c.later] = c.limit if held is None else min(held, c.limit)
    for middle, one, other in product(points, points, points):
        if longest[one, middle] is not None and longest[middle, other] is not None:
            through = longest[one, middle] + longest[middle, other]
            held = longest[one, other]
            longest[one, other] = through if held is None else min(held, through)
    return longest


@pytest.mark.parametrize("seed", range(300))
def test_paths_are_the_shortest(seed):
    points, distances = drawn(Random(seed))
    expected = closure(points, distances)
    possible = all(expected[point, point] == 0 for point in points)
    assert (distances.contradiction() is None) is possible
    if possible:
        assert {(one, other): distances.longest(one, other) for one, other in expected} == expected
    else:
        reasons = distances.contradiction()
        alone = Distances([c for c in distances.constraints if c.reason in reasons])
        assert alone.contradiction() is not None


def test_a_long_chain_is_solved_whichever_way_it_is_written():
    for order in (1, -1):
        chain = Distances()
        for i in list(range(3000))[::order]:
            chain.require(i, i + 1, 2, 3)
        assert chain.contradiction() is None
        assert (chain.shortest(0, 3000), chain.longest(0, 3000)) == (6000, 9000)


def test_paths_are_searched_once_for_each_point_of_a_long_rule(monkeypatch):
    """Constraints outside of alternatives are the same for every pairing."""
    searches = []
    search = Distances._search

    def counted(self, start):
        searches.append(start)
        return search(self, start)

    monkeypatch.setattr(Distances, "_search", counted)
    events = 30
    body = " seq ".join(f"e(k, x{i})" for i in range(events))
    assert ensue.check_rules(f"event e(k: int, x: int). r(x0) <- {body} within 100.") == ()
    assert len(searches) < 8 * events**2, "a sequence joined from its last event asks for each of its joins"


def test_constraints_without_one_of_them_are_those_of_the_rest():
    random = Random(5)
    for _ in range(200):
        distances = Distances()
        for _ in range(random.randrange(1, 12)):
            one, other = random.sample("abcde", 2)
            distances.require(one, other, low=random.randrange(-5, 5), reason=random.random())
        distances.contradiction()
        left = random.choice(distances.constraints)
        rest = Distances([each for each in distances.constraints if each != left])
        without = distances.without(left)
        assert (without.contradiction() is None) == (rest.contradiction() is None)
        if rest.contradiction() is None:
            assert without.matrix("abcde") == rest.matrix("abcde")
