"""What notebook 09 and its lab show: topics of documents and communities of a graph, by the corners of their points."""

from course.library import library, topic_error, word_points
from course.nb09.panels import community_live, draw_friends, draw_words, node_points, topic_live
from course.nb09.pictures import (
    draw_clouds,
    draw_contest,
    draw_documents,
    draw_nodes,
    draw_range,
    public_evidence,
)
