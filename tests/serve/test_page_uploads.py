"""Long uploads of the page, in a real browser: shown, stopped, and going on after a reload or a restart."""

import re
import signal
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.methods.inputs import folder
from tests.serve.driving import NEEDS, Server, drop, held, visited

pytestmark = NEEDS
MANY = 150


def test_long_work_is_shown_and_stopped(page: Page, tmp_path: Path) -> None:
    release = held(page)
    drop(page, page.locator(".invention"), [folder(tmp_path, ["red"], range(70)) / "red"])
    work = page.locator("#work")
    expect(work).to_contain_text("16 of 70 items")
    expect(work).to_contain_text("left")
    page.get_by_role("button", name="Stop: Learning red").click()
    release()  # the second piece, which is let through if it is under way
    expect(work).to_be_hidden()
    expect(page.locator("#model-facts")).to_have_text(re.compile("1 class · (16|32) examples"))


def test_it_goes_on_after_a_reload(page: Page, tmp_path: Path) -> None:
    release = held(page)
    drop(page, page.locator(".invention"), [folder(tmp_path, ["red"], range(MANY)) / "red"])
    expect(page.locator("#work")).to_contain_text(f"16 of {MANY} items")
    page.reload()
    expect(page.locator("#work")).to_contain_text("Learning red")
    release()
    expect(page.locator("#model-facts")).to_have_text(f"1 class · {MANY} examples", timeout=60_000)
    expect(page.locator("#work")).to_be_hidden()
    page.reload()  # and nothing is left of it
    expect(page.locator("#model-facts")).to_have_text(f"1 class · {MANY} examples")
    expect(page.locator("#work")).to_be_hidden()


def test_what_is_stopped_stays_stopped(page: Page, tmp_path: Path) -> None:
    release = held(page)
    drop(page, page.locator(".invention"), [folder(tmp_path, ["red"], range(MANY)) / "red"])
    expect(page.locator("#work")).to_contain_text(f"16 of {MANY} items")
    page.reload()
    page.get_by_role("button", name="Stop: Learning red").click()
    release()
    expect(page.locator("#work")).to_be_hidden()
    facts = page.locator("#model-facts").text_content()
    page.reload()
    expect(page.locator("#model-facts")).to_have_text(str(facts))
    expect(page.locator("#work")).to_be_hidden()


def test_it_waits_for_a_service_that_is_gone_and_goes_on(browser: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path / "m.anacp", "--learner", "NCM")
    with server, visited(browser, server.address) as page:
        release = held(page)
        drop(page, page.locator(".invention"), [folder(tmp_path / "photos", ["red"], range(MANY)) / "red"])
        expect(page.locator("#work")).to_contain_text(f"16 of {MANY} items")
        server.stop(signal.SIGKILL)
        release()
        expect(page.locator("#work")).to_contain_text("It waits, and goes on by itself: The service does not answer.")
        server.start()
        expect(page.locator("#model-facts")).to_have_text(f"1 class · {MANY} examples", timeout=60_000)


def test_a_look_that_fails_does_not_end_an_upload(browser: Browser, tmp_path: Path) -> None:
    """The service ends between a piece that it has learned and the look at what that made of the model."""
    server = Server(tmp_path / "m.anacp", "--learner", "NCM")
    with server, visited(browser, server.address) as page:
        pieces = held(page)
        looks = held(page, "**/v1/model", passing=0)
        drop(page, page.locator(".invention"), [folder(tmp_path / "photos", ["red"], range(MANY)) / "red"])
        expect(page.locator("#work")).to_contain_text(f"16 of {MANY} items")
        server.stop(signal.SIGKILL)
        looks()
        pieces()
        expect(page.locator("#work")).to_contain_text("It waits, and goes on by itself: The service does not answer.")
        server.start()
        expect(page.locator("#model-facts")).to_have_text(f"1 class · {MANY} examples", timeout=60_000)


def test_an_upload_goes_to_its_own_model_alone(browser: Browser, tmp_path: Path) -> None:
    one = Server(tmp_path / "one.anacp", "--learner", "NCM")
    context = browser.new_context()  # of one browser, whose pages come from the same address one after the other
    page = context.new_page()
    with one:
        page.goto(one.address)
        held(page)
        drop(page, page.locator(".invention"), [folder(tmp_path / "photos", ["red"], range(MANY)) / "red"])
        expect(page.locator("#work")).to_contain_text(f"16 of {MANY} items")
        page.close()
    with Server(tmp_path / "two.anacp", "--learner", "NCM", port=one.port) as two:
        page = context.new_page()
        page.goto(two.address)
        expect(page.locator("#model-facts")).to_have_text("0 classes · 0 examples")
        expect(page.locator("#work")).to_be_hidden()
        page.close()
    with one:
        page = context.new_page()
        page.goto(one.address)
        expect(page.locator("#model-facts")).to_have_text(f"1 class · {MANY} examples", timeout=60_000)
    context.close()
