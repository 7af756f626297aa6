"""Orders are read from columns of places, choices and races, and what is none is named by row."""

import pandas as pd
import pytest

import cofactor as cf
from cofactor_app.reading.orders import read_orders
from tests.each import each


def named(orders):
    return [
        ([orders.items[i] for i in row if i >= 0], int(n)) for row, n in zip(orders.item, orders.placed, strict=True)
    ]


def test_places_choices_and_races_are_read(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("who,1st,2nd,3rd,n\nx,tea,gin,milk,2.5\ny,gin,tea,,1\n")
    orders = read_orders(path, ["1st", "2nd", "3rd"], user="who", weight="n")
    assert orders.weight.tolist() == [2.5, 1]
    assert named(orders) == [(["tea", "gin", "milk"], 3), (["gin", "tea"], 2)]
    assert orders.user.tolist() == [0, 1]
    path.write_text("chosen,offered\ntea,tea; gin; milk\ngin,milk|tea\n")
    assert named(read_orders(path, ["chosen"], ["offered"])) == [
        (["tea", "gin", "milk"], 1),
        (["gin", "milk", "tea"], 1),
    ]
    path.write_text("race,runner,place\n1,a,1\n2,b,2\n1,b,2\n2,c,1\n1,c,9\n2,a,2\n")
    assert named(read_orders(path, races=["race", "runner", "place"])) == [(["a", "b", "c"], 3), (["c", "b", "a"], 1)]


@each(
    "text, how, message",
    [
        ("a,b\nx,x\n", {"places": ["a", "b"]}, "an item stands twice in rows 2 "),
        ("a,b\nx,y\nx,\n", {"places": ["a", "b"]}, "no first place, or one item alone, in rows 3"),
        (
            "r,i,p\n1,x,1\n1,y,1\n1,z,2\n",
            {"races": ["r", "i", "p"]},
            "equal places of one race, before its last, in rows 2, 3",
        ),
        ("r,i,p\n1,x,1\n1,y,second\n", {"races": ["r", "i", "p"]}, "must hold numbers; not so in rows 3"),
        ("a,b,n\nx,y,1\nx,y,0\n", {"places": ["a", "b"], "weight": "n"}, "numbers above 0; not so in rows 3"),
        ("a,b\nx,y\n", {}, "give columns as places"),
        ("a,b\nx,y\n", {"places": ["a", "c"]}, "no column c"),
    ],
)
def test_what_is_no_order_is_named_by_row(tmp_path, text, how, message):
    path = tmp_path / "orders.csv"
    path.write_text(text)
    with pytest.raises(cf.CofactorError, match=message):
        read_orders(path, **how)


def test_items_that_look_like_no_answer_are_noted():
    frame = pd.DataFrame({"1st": ["X", "n.a.", "Y"], "2nd": ["Y", "Y", "X"]})
    with pytest.warns(
        cf.DataWarning, match=r"^items that look like no answer count as items: 'n.a.' \(1\); drop their"
    ):
        read_orders(frame, ["1st", "2nd"])


def test_items_that_look_alike_are_named_or_merged():
    frame = pd.DataFrame({"1st": ["X", "x", "Y"], "2nd": ["Y", "y", "X"]})
    with pytest.warns(
        cf.DataWarning, match=r"items that look alike .* 'X' = 'x', 'Y' = 'y'; if they are the same, spelling='all'"
    ):
        assert len(read_orders(frame, ["1st", "2nd"]).items) == 4
    assert read_orders(frame, ["1st", "2nd"], spelling="all").items == ("X", "Y")
