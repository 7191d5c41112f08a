"""Views: what a reader moves on a page, without a kernel and without a network."""

from helpers.views.all_heads import all_heads
from helpers.views.attention_view import attention_view
from helpers.views.diagram import diagram
from helpers.views.dot_product import dot_product
from helpers.views.dropout_sampler import dropout_sampler
from helpers.views.explore import explore
from helpers.views.explore_choices import Number, Range, Text
from helpers.views.explore_results import Line
from helpers.views.head_splitter import head_splitter
from helpers.views.learning_in_the_page import learning_in_the_page
from helpers.views.mask_painter import mask_painter
from helpers.views.memory_state import memory_state
from helpers.views.model_in_the_page import model_in_the_page
from helpers.views.orthogonaliser import orthogonaliser
from helpers.views.query_explorer import query_explorer
from helpers.views.quiz import quiz
from helpers.views.real_model import real_model
from helpers.views.rotary_clocks import rotary_clocks
from helpers.views.sampler import sampler
from helpers.views.soft_lookup import soft_lookup
from helpers.views.temperature_and_width import temperature_and_width
from helpers.views.tile_walk import tile_walk
from helpers.views.unfinished_story import unfinished_story
from helpers.views.view import Table, View

__all__ = [
    "Line",
    "Number",
    "Range",
    "Table",
    "Text",
    "View",
    "all_heads",
    "attention_view",
    "diagram",
    "dot_product",
    "dropout_sampler",
    "explore",
    "head_splitter",
    "learning_in_the_page",
    "mask_painter",
    "memory_state",
    "model_in_the_page",
    "orthogonaliser",
    "query_explorer",
    "quiz",
    "real_model",
    "rotary_clocks",
    "sampler",
    "soft_lookup",
    "temperature_and_width",
    "tile_walk",
    "unfinished_story",
]
