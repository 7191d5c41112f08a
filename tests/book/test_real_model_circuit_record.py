"""What the page "From the prompt to the answer" says of a circuit, on the record."""

import statistics

import pytest
import torch

from experiments.real_model import circuit, circuit_controls, circuit_switches
from experiments.real_model.heads import head_name
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, prompts
from experiments.real_model.two_prompts import (
    AT_AGAIN,
    AT_END,
    LOWERING,
    MOVERS,
    THRESHOLD,
    Direction,
)
from helpers.models.patching import Part
from helpers.recorded import results
from helpers.recorded.sweeps import has
from tests.real_models import need

RUNS = [
    run for run in results.record("real_model")["runs"] if run["study"] == "circuit"
]
MEAN, LOW, HIGH = 0, 1, 2
BOTH = tuple(HALVES)


def run_of(**settings):
    return next(run for run in RUNS if has(run, settings))


def test_the_record_is_whole():
    for settings in circuit.PLAN:
        assert sum(has(run, settings) for run in RUNS) == 1, settings


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("half", BOTH)
def test_the_model_knows_who_receives(half, start):
    found = run_of(what="behaviour", start=start)[half]
    assert found["right"][MEAN] > 0.95
    assert min(found["first"][MEAN], found["second"][MEAN]) > 0.9
    assert found["top"][MEAN] > 0.6
    # A good half of it goes without any repetition: the giver isn't the receiver.
    without = found["two"][MEAN] - found["giver"][MEAN]
    assert 0.4 < without / found["difference"][MEAN] < 0.7


@pytest.mark.parametrize("half", BOTH)
def test_the_lens_sees_nothing_before_layer_23_has_read(half):
    lens = run_of(what="behaviour", start=False)[half]["lens"]
    assert all(abs(one[MEAN]) < 0.1 for one in lens["difference"][:19])
    assert all(abs(one[MEAN]) < 0.6 for one in lens["difference"][:24])
    assert lens["difference"][24][LOW] > 3
    assert lens["rank"][24][MEAN] > 20
    assert lens["rank"][30][MEAN] < 1
    assert lens["input"][0][MEAN] == 1


def test_the_lens_sinks_because_the_stream_grows():
    need("smollm2-135m")
    model, _ = smollm2()
    norms = []
    for frame in HALVES["testing"][0]:
        own = streams(model, prompts("testing", frame, 4).clean, -1)
        norms.append(own.norm(dim=-1).mean(dim=0))
    into_24, after_all = torch.stack(norms).mean(dim=0)[[24, 30]]
    assert after_all > 2 * into_24
    lens = run_of(what="behaviour", start=False)["testing"]["lens"]["difference"]
    assert lens[30][MEAN] > lens[24][MEAN] * into_24 / after_all  # before the norm


@pytest.mark.parametrize("half", BOTH)
@pytest.mark.parametrize("way", ["into swapped", "into clean"])
def test_the_answer_moves_from_the_name_to_the_end_in_layers_18_to_24(half, way):
    found = run_of(what="streams")[half]
    at = found["layers"].index
    again, end = found[way]["again"], found[way]["end"]
    assert all(again[at(layer)][LOW] > 0.9 for layer in (0, 12, 18))
    assert all(end[at(layer)][HIGH] < 0.1 for layer in (0, 12, 18))
    assert again[at(24)][MEAN] < 0.2
    assert end[at(24)][MEAN] > 0.75
    assert all(one[MEAN] < 0.15 for one in found[way]["between"])


def test_the_circuit_is_what_the_scans_chose():
    for place, heads in (("end", AT_END), ("again", AT_AGAIN)):
        shares = run_of(what="scan", place=place)["shares"]
        chosen = {
            (layer, head)
            for layer, row in enumerate(shares)
            for head, share in enumerate(row)
            if abs(share) >= THRESHOLD
        }
        assert chosen == set(heads), place
        if place == "end":
            lowering = {(a, b) for a, b in chosen if shares[a][b] < 0}
            assert lowering == set(LOWERING)


@pytest.mark.parametrize("half", BOTH)
def test_what_each_head_looks_at_and_adds(half):
    heads = run_of(what="heads")[half]
    for name in ("19.2", "20.0", "23.3"):
        assert heads[name]["on again"][MEAN] > 0.25, name
        assert heads[name]["into swapped"][LOW] > 0, name
    assert heads["17.4"]["behind subject"][MEAN] > 0.6
    assert heads["23.3"]["to subject"][HIGH] < -1.5
    assert abs(heads["23.3"]["to answer"][MEAN]) < 0.4
    for head in MOVERS:
        found = heads[head_name(head)]
        assert found["on answer"][MEAN] > found["on subject"][MEAN]
        assert found["direct"][MEAN] > 0
        assert found["to answer"][LOW] > 0.1
    assert heads["24.4"]["on answer"][MEAN] > 0.4
    for name in ("24.4", "29.0"):  # they lower what others bring up
        assert heads[name]["to answer"][HIGH] < -0.3, name
    for name, found in heads.items():
        assert abs(found["rest"][MEAN]) < 0.02, name


@pytest.mark.parametrize("half", BOTH)
def test_paths_go_where_they_are_said_to_go(half):
    paths = run_of(what="paths")[half]
    assert paths["19.2 and 20.0 to queries of name movers"][LOW] > 0.1
    assert paths["17.4 to values of 19.2 and 20.0"][LOW] > 0
    for path in ("19.4 and 20.3", "19.7 and 20.6"):
        assert abs(paths[f"{path} to queries of name movers"][MEAN]) < 0.01
    for path in (
        "19.2 and 20.0 to queries of 23.3",
        "17.4 to values of 23.3",
        "17.0 to values of 19.2 and 20.0",
    ):
        assert abs(paths[path][MEAN]) < 0.02, path


@pytest.mark.parametrize("half", BOTH)
def test_fourteen_heads_are_needed_and_do_not_do_it_alone(half):
    found = run_of(what="ablation")[half]
    assert found["without circuit"][HIGH] < 0.2
    assert found["range of without random"][0] > 0.9
    assert 0.1 < found["circuit"][MEAN] < 0.5
    assert found["range of random"][1] < found["circuit"][MEAN]
    assert found["circuit"][MEAN] + 0.2 < found["circuit and below"][MEAN]
    assert found["circuit at the end"][MEAN] > 0.75
    assert found["range of random at the end"][1] < 0.3
    for kind in ("random", "random at the end"):
        assert found[f"range of {kind}, same layers"][1] < 0.3
    assert found["range of without random, same layers"][0] > 0.85


@pytest.mark.parametrize("half", BOTH)
def test_what_is_missed_without_some_heads_and_what_the_others_do(half):
    found = run_of(what="switches")[half]
    for name in ("23.3", "19.2 and 20.0"):
        assert found[f"without {name}"][MEAN] < found["all heads"][MEAN] / 1.8
        assert found[f"more lost without {name}"][LOW] > 1.2
    assert found["named, more lost without name movers"][LOW] > 1
    for what in ("more lost without name movers", "named, more lost without 23.3"):
        assert found[what][LOW] < 0 < found[what][HIGH]
        assert abs(found[what][MEAN]) < 0.3
    for name in ("23.3", "19.2 and 20.0", "name movers"):
        others = found[f"without others than {name}"][MEAN]
        assert abs(others - found["all heads"][MEAN]) < 0.2
    above = {name: one[MEAN] for name, one in found.items() if "named" in name}
    assert above["named, without name movers"] < above["named, all heads"] - 2
    others = above["named, without others than name movers"]
    assert others > above["named, all heads"] - 1.5
    assert abs(above["named, without 23.3"] - above["named, all heads"]) < 0.3
    missed = found["all heads"][MEAN] - found["without name movers"][MEAN]
    assert missed < 0.2


@pytest.mark.parametrize("half", BOTH)
def test_three_heads_at_the_last_token_turn_the_answer(half):
    found = run_of(what="both roads")[half]
    assert 0.85 < found["both, share"][LOW] < found["both, share"][HIGH] < 1.3
    for draw in range(circuit_switches.DRAWS):
        assert abs(found[f"both, drawn {draw}"][MEAN]) < found["both"][MEAN] / 10
    swing = 2 * run_of(what="switches")[half]["all heads"][MEAN]
    assert found["swing"][MEAN] == pytest.approx(swing, abs=0.01)
    assert found["long road"][LOW] > 1
    assert found["short road"][LOW] > 2.9
    heads = run_of(what="heads")[half]["23.3"]["logits"]
    assert found["short road"][MEAN] == pytest.approx(heads[MEAN], abs=1e-3)
    # Most of the long road goes by way of the movers, as the path into their queries.
    held, by_way = (
        found[name][MEAN] for name in ("long road, movers held", "by way of movers")
    )
    assert 0.1 < held / (held + by_way) < 0.35
    path = "logits, 19.2 and 20.0 to queries of name movers"
    assert by_way == pytest.approx(run_of(what="paths")[half][path][MEAN], rel=0.15)


@pytest.mark.parametrize("half", BOTH)
def test_24_4_lowers_the_right_name_no_longer_without_the_movers(half):
    found = run_of(what="both roads")[half]
    assert found["24.4, all on"][HIGH] < -0.6
    assert found["24.4, movers off"][LOW] > -0.2
    assert found["24.4, change, movers off"][LOW] > 0.5
    assert found["24.4, change, others off"][HIGH] < 0.15


@pytest.mark.parametrize("half", BOTH)
def test_logits_and_shares_say_the_same(half):
    swing = 2 * run_of(what="switches")[half]["all heads"][MEAN]
    heads, paths, streams = (
        run_of(what=one)[half] for one in ("heads", "paths", "streams")
    )
    path = "19.2 and 20.0 to queries of name movers"
    for share, logits in (
        (heads["23.3"]["into clean"], heads["23.3"]["logits"]),
        (paths[path], paths[f"logits, {path}"]),
        (streams["into clean"]["end"][-1], streams["logits into clean"]["end"][-1]),
    ):
        assert logits[MEAN] / swing == pytest.approx(share[MEAN], abs=0.08)


@pytest.mark.parametrize("half", BOTH)
def test_the_circuit_needs_the_previous_token_head_before_it(half):
    found = run_of(what="beginning")[half]
    assert found["more lost without 16.0"][LOW] > 0.4
    assert found["lost, keys"][LOW] > 0.3
    assert abs(found["lost, keys, 16.1"][MEAN]) < 0.02
    assert found["lost, without 17.4"][LOW] > found["lost, keys"][MEAN] / 2
    assert found["looks, all heads"][LOW] > 0.65
    for name in ("keys", "without 16.0"):
        assert found[f"looks, {name}"][HIGH] < 0.3
    others = [found[f"without 16.{head}"][MEAN] for head in range(1, 9)]
    assert min(others) > found["all heads"][MEAN] - 0.3


@pytest.mark.parametrize("half", BOTH)
def test_heads_drawn_beside_those_of_the_circuit_send_next_to_nothing(half):
    beside, paths = (run_of(what=one)[half] for one in ("controls", "paths"))
    first = run_of(what="beginning")[half]
    for road, sent in (
        ("values", paths["logits, 17.4 to values of 19.2 and 20.0"]),
        ("queries", paths["logits, 19.2 and 20.0 to queries of name movers"]),
        ("keys", first["lost, keys"]),
    ):
        for draw in range(circuit_controls.DRAWS):
            assert abs(beside[f"{road}, draw {draw}"][MEAN]) < 0.08, road
            assert sent[MEAN] > 10 * abs(beside[f"{road}, draw {draw}"][MEAN])


@pytest.mark.parametrize("half", BOTH)
def test_a_lead_of_the_circuit_alone_is_compared_with_none(half):
    found = run_of(what="ablation")[half]
    assert found["lead, none"][LOW] < 0.3
    if half == "testing":
        assert 0.5 < found["lead, circuit"][LOW] < found["lead, circuit"][HIGH] < 1.7
        assert found["lead, circuit at the end"][LOW] > 2.5
        assert found["lead"][MEAN] == pytest.approx(4.5, abs=0.05)
        assert found["lead, none"][LOW] < 0 < found["lead, none"][HIGH]
        low, high = found["lead, none"][LOW], found["lead, none"][HIGH]
        assert low < found["lead, random"][MEAN] < high
        assert found["lead, circuit"][LOW] > found["lead, none"][MEAN]


def test_two_ways_to_count_what_is_missed_agree():
    found, before = (run_of(what=one)["testing"] for one in ("movers", "switches"))
    whole = before["all heads"][MEAN]
    assert found["lead, as it is"] == pytest.approx(before["all heads"], abs=1e-3)
    for name in circuit_switches.SETS:
        for whose in (name, f"others than {name}"):
            lead = found[f"lead, {whose} off, zeros"][MEAN]
            above = found[f"right name, {whose} off, zeros"][MEAN]
            assert lead == pytest.approx(
                whole - before[f"without {whose}"][MEAN], abs=1e-3
            )
            named = (
                before["named, all heads"][MEAN]
                - before[f"named, without {whose}"][MEAN]
            )
            assert above == pytest.approx(named, abs=1e-3)
            both = above - found[f"giver, {whose} off, zeros"][MEAN]
            assert lead == pytest.approx(both, abs=1e-3)
    roads = run_of(what="both roads")["testing"]
    for title, name in (
        ("as it is", "all on"),
        ("name movers off, zeros", "movers off"),
    ):
        own = found[f"24.4, right name, {title}"][MEAN]
        assert own == pytest.approx(roads[f"24.4, {name}"][MEAN], abs=1e-3)
    path = run_of(what="paths")["testing"]
    steered = path["logits, 19.2 and 20.0 to queries of name movers"][MEAN]
    assert found["lead, swapped"][MEAN] == pytest.approx(steered, rel=0.4)  # 20 prompts


def test_24_4_takes_back_what_the_movers_bring():
    found = run_of(what="movers")["testing"]
    for way in ("zeros", "means"):
        lead, mary = (f"{of}, name movers off, {way}" for of in ("lead", "right name"))
        assert abs(found[lead][MEAN]) < 0.2
        assert found[f"{lead}, 24.4 held"][MEAN] > 1.5
        assert abs(found[f"{lead}, others of 24 held"][MEAN]) < 0.1
        assert found[f"{mary}, 24.4 held"][LOW] > found[mary][MEAN]
        assert found[f"lead, 19.2 and 20.0 off, {way}"][LOW] > 0.5
        for name in circuit_switches.SETS:
            assert abs(found[f"lead, others than {name} off, {way}"][MEAN]) < 0.2
    assert 1 < found["movers, lead, as it is"][MEAN] < 2
    assert found["movers, giver, as it is"][LOW] > 1
    assert found["movers, lead, swapped"][HIGH] < -1
    assert found["24.4, right name, as it is"][HIGH] < -0.5
    assert found["24.4, right name, name movers off, zeros"][LOW] > -0.3


def test_23_3_takes_names_that_come_late_in_the_text():
    found = run_of(what="crossing")["testing"]
    heads = run_of(what="heads")["testing"]["23.3"]
    for name, before in (("on one", "on again"), ("adds to one", "to subject")):
        own = found[f"23.3, one gives, {name}"]
        assert own == pytest.approx(heads[before], abs=1e-3)
    for kind, names in (
        ("one gives", ["one"]),
        ("third gives", ["third"]),
        ("one gives the third's", ["one", "third"]),
        ("third gives one's", ["one"]),
    ):
        for name in names:
            assert found[f"23.3, {kind}, adds to {name}"][HIGH] < -0.4
        assert abs(found[f"23.3, {kind}, adds to rest"][MEAN]) < 0.2
    # A name that stands in the beginning alone isn't lowered, though the other gives.
    assert abs(found["23.3, third gives, adds to one"][MEAN]) < 0.2
    # It needn't be the last name: the one before, said twice, is lowered more.
    title = "23.3, one gives the third's, adds to"
    assert found[f"{title} one"][HIGH] < found[f"{title} third"][MEAN] < 0
    for kind in ("one gives the third's", "third gives one's"):
        twice, once = (found[f"23.3, {kind}, on {who}"] for who in ("one", "third"))
        assert twice[MEAN] > 1.5 * once[MEAN]


def test_falls_are_the_lead_less_what_is_left():
    found, left = (run_of(what=one)["testing"] for one in ("falls", "ablation"))
    for name in ("none", "circuit", "without circuit", "circuit at the end"):
        rest = left["lead"][MEAN] - left[f"lead, {name}"][MEAN]
        assert found[name][MEAN] == pytest.approx(rest, abs=1e-3)


def test_three_of_the_14_are_needed_and_the_other_eleven_are_not():
    found = run_of(what="falls")["testing"]
    lead = run_of(what="movers")["testing"]["lead, as it is"]
    three, eleven = (found[f"without the {n}"] for n in ("three", "eleven"))
    assert three[LOW] > 2
    assert three[MEAN] > 0.9 * lead[MEAN]
    assert eleven[LOW] < 0 < eleven[HIGH] < 1
    assert abs(eleven[MEAN]) < 0.1


def test_the_arrows_into_the_answer_are_compared_by_the_same_change():
    found, before = (run_of(what=one)["testing"] for one in ("arrows", "movers"))
    heads = run_of(what="heads")["testing"]
    swap = found["lead, 23.3 swapped"]
    assert swap[MEAN] == pytest.approx(heads["23.3"]["logits"][MEAN], abs=0.15)
    for number in ("lead", "right name", "giver"):
        added = before[f"movers, {number}, as it is"][MEAN]
        for end in ("", ", 24.4 held"):
            missed = before[f"{number}, name movers off, zeros{end}"][MEAN]
            paired = found[f"{number}, added less missed{end}"][MEAN]
            assert paired == pytest.approx(added - missed, abs=1e-3)
    falls = run_of(what="falls")["testing"]
    more = falls["none"][MEAN] - falls["circuit"][MEAN]
    assert found["circuit less none"][MEAN] == pytest.approx(more, abs=1e-3)
    # 24.4 makes up for the movers, and the other heads of its layer don't.
    assert found["lead, added less missed"][LOW] > 0
    assert found["right name, more missed, 24.4 held"][LOW] > 1
    assert abs(found["lead, more missed, others of 24 held"][MEAN]) < 0.2
    assert found["circuit less none"][LOW] > 0.2


def test_the_lens_reads_the_right_name_behind_layer_23_not_before_22():
    lens = run_of(what="arrows")["testing"]["lens"]
    at = lens["layers"].index
    for layer in (18, 22):
        assert lens["lead"][at(layer)][LOW] < 0.1
        assert lens["leads"][at(layer)] == [0.5, 0.5, 0.5]  # always the same name
    assert lens["lead"][at(24)][LOW] > 4
    assert min(lens["leads"][at(layer)][MEAN] for layer in (24, 26)) > 0.8
    whole = run_of(what="movers")["testing"]
    assert lens["lead"][at(30)] == pytest.approx(whole["lead, as it is"], abs=1e-3)


def test_alone_the_14_let_the_right_name_lead_in_30_of_40_prompts():
    found = run_of(what="falls")["testing"]
    leads = {
        name: 40 * found[f"leads, {name}"][MEAN]
        for name in ("all", "circuit", "none", "circuit at the end")
    }
    of_40 = {"all": 39, "circuit": 30, "none": 14, "circuit at the end": 40}
    assert leads == pytest.approx(of_40, abs=1e-6)
    assert found["circuit"][LOW] > 1.5
    assert found["circuit at the end"][HIGH] < 1


@pytest.mark.slow
def test_a_share_measured_again_is_as_recorded():
    need("smollm2-135m")
    model, _ = circuit.smollm2()
    shares = []
    for frame in HALVES["choosing"][0]:
        of = prompts("choosing", frame, 6)
        way = Direction(model, of, of.clean, of.swapped)
        last = way.target.shape[1] - 1
        shares.append(way.share([Part("context", 23, 3)], [last]))
    recorded = run_of(what="scan", place="end")["shares"][23][3]
    assert statistics.fmean(shares) == pytest.approx(recorded, abs=2e-3)
