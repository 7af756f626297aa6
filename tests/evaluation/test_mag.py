"""MAG1 and MAG2, which are not downloaded here: what their card says."""

import re

from cofactor.data import DATASETS_DIR
from evaluation.separable.communities import AT, MAG

CARD = (DATASETS_DIR / "cards" / "mag.md").read_text(encoding="utf8")


def test_the_card_has_the_address_and_the_blob_ids_by_which_the_rows_check_the_files():
    assert dict(re.findall(r"^- `(MAG\w+\.txt)`, .*: git blob `(\w+)`", CARD, re.M)) == MAG
    assert f"\n{AT}\n" in CARD
