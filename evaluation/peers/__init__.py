"""Methods from other papers and libraries, each in a file that `cofactor bench` accepts.

::

    cofactor bench evaluation/peers/glad.py:GLAD
    cofactor bench "evaluation/peers/crowd_kit.py:CrowdKit(name='GLAD')"
    cofactor bench evaluation/peers/step_mix.py:latent_classes
    cofactor bench evaluation/peers/scikit_learn.py:boosting --problem pmf
    cofactor bench "evaluation/peers/rankings.py:Evalica(method='newman')"

Aggregators of crowds that the papers do not compare with are written here by their authors' equations, a file each:
GLAD, MACE, OneCoin, BWA, CATD, Wawa, IBCC, EBCC. They check nothing; `cofactor.crowd.base` does the rest.

No file is named as the package that it calls, since a file finds those beside it first.
"""
