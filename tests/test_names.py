"""Names are found whatever their spelling, and a near miss is answered; numbers are put into words one way."""

import pytest

from anacp.errors import UnknownNameError
from anacp.names import Names, nearest
from anacp.progress import Progress
from anacp.words import counted, format_bytes, listed

FRUIT = Names("fruit", {"Apple": 1, "Star-Fruit": 2}, aliases={"carambola": "Star-Fruit"}, besides="or a number")


@pytest.mark.parametrize("name", ["Star-Fruit", "starfruit", "STAR_FRUIT", "star fruit", "Carambola"])
def test_spelling_does_not_matter(name: str) -> None:
    assert FRUIT.knows(name)
    assert (FRUIT.spelled(name), FRUIT.find(name)) == ("Star-Fruit", 2)


def test_a_near_miss_is_answered_with_the_right_name() -> None:
    with pytest.raises(
        UnknownNameError, match=r"Unknown fruit 'aple'. Did you mean 'Apple'\? Known: Apple, Star-Fruit, or"
    ):
        FRUIT.find("aple")
    with pytest.raises(UnknownNameError, match="Did you mean 'Star-Fruit'"):
        FRUIT.find("carambol")
    with pytest.raises(UnknownNameError, match=r"'xyz'. Known"):
        FRUIT.find("xyz")
    assert nearest("xyz", FRUIT) is None


def test_words() -> None:
    counts = counted(1, "run"), counted(1200, "run"), counted(2, "class"), counted(3, "entry")
    assert counts == ("1 run", "1,200 runs", "2 classes", "3 entries")
    assert [format_bytes(size) for size in (7, 41_320_000, 3e12)] == ["7 B", "41.3 MB", "3 TB"]
    assert listed(list("abc"), 2) == "'a', 'b' and 1 more"
    assert Progress("nothing", 0, 0).share == 1.0
