"""What notebook 09 shows: topics of documents and communities of a graph, by the corners of their points."""

from course.library import library, topic_error, word_points
from course.nb09.panels import draw_friends, draw_words, friends_panel, library_panel, node_points
from course.nb09.pictures import (
    draw_clouds,
    draw_contest,
    draw_documents,
    draw_nodes,
    draw_range,
    draw_two_clouds,
    public_evidence,
)
