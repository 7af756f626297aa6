"""Draw the picture of the README from the bundled data: python tools/draw_overview.py."""

from pathlib import Path

import cofactor as cf
from cofactor_app.plots.style import to_png
from course import nb00

PICTURE = Path(__file__).resolve().parents[1] / "notebooks" / "overview.png"


def picture():
    """Return the PNG: Bluebird before and after, and who confuses what."""
    bluebird = cf.load("bluebird")
    method = cf.crowd.METHODS["WorkerTypes"]().fit(bluebird.labels)
    fig = nb00.draw_overview(bluebird.labels, bluebird.truth, method, name="WorkerTypes")
    return to_png(fig, dpi=130)


if __name__ == "__main__":
    PICTURE.write_bytes(picture())
