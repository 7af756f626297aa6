"""Names that people and tools give to the columns of a table of labels."""

from __future__ import annotations

USUAL = {
    "task": (
        *("task", "task_id", "taskid", "item", "item_id", "unit", "unit_id", "question", "question_id"),
        *("example", "example_id", "document_id", "sentence_id", "instance_id", "subject_id", "uid", "pair_id"),
    ),
    "worker": (
        *("worker", "worker_id", "workerid", "annotator", "annotator_id", "rater", "rater_id", "coder", "judge"),
        *("user", "user_id", "labeler", "labeller", "participant", "participant_id", "performer", "performer_id"),
    ),
    "label": (
        *("label", "answer", "response", "annotation", "judgment", "judgement", "rating", "category", "class"),
        *("vote", "choice"),
    ),
}
RARER = {  # looked for where all three are found so, beside those above
    "task": (
        *("image_url", "image", "image_id", "sample", "sample_id", "document", "doc", "doc_id", "text_id", "url", "id"),
        *("conversation_id", "prompt_id", "row_id", "record_id", "post_id", "tweet_id", "case", "case_id", "object_id"),
        *("clip", "clip_id", "video", "video_id", "audio_id", "passage_id", "statement", "statement_id", "text"),
    ),
    "worker": (
        *(
            "llm",
            "model",
            "grader",
            "grader_id",
            "expert",
            "expert_id",
            "reviewer",
            "reviewer_id",
            "evaluator",
            "reader",
        ),
        *("evaluator_id", "judge_id", "coder_id", "labeler_id", "contributor", "contributor_id", "turker", "turker_id"),
        *("crowdworker", "respondent", "respondent_id", "radiologist", "physician", "person"),
    ),
    "label": (
        *(
            "verdict",
            "score",
            "code",
            "grade",
            "decision",
            "value",
            "selected",
            "selection",
            "tag",
            "diagnosis",
            "output",
        ),
        *("prediction", "annotated_label", "label_name", "class_name", "stance", "sentiment"),
    ),
}
KNOWN = ("gold", "gold_label", "truth", "true_label", "ground_truth")  # in a wide table, columns of what is right
AGREED = ("majority", "majority_label", "consensus", "final", "adjudicated", "aggregated")  # no worker's answers
COUNTED = ("count", "counts", "n", "votes", "n_votes", "frequency", "freq")
IDS = ("id", "_id", "index", "doc", "doc_id", "document", "image", "text", "sentence", "url", "file", "filename")
GOLD = "gold"  # attribute of a frame: class by task, where the file knows it
