"""HTTP responses: pages and refusals."""

import json
from http import HTTPStatus

import pytest

from saratoga_server.transport.http_responses import Page, refusal_page, response


def test_a_page_is_sent_whole_or_as_its_head_alone() -> None:
    page = Page(body=b"{}", cache="public, max-age=1")
    whole, head = response(page, "GET"), response(page, "HEAD")
    assert (whole.status_code, whole.body, head.body) == (200, b"{}", b"")
    for answer in (whole, head):
        assert answer.headers["Content-Length"] == "2"
        assert answer.headers["Cache-Control"] == "public, max-age=1"
        assert answer.headers["Connection"] == "close"


@pytest.mark.parametrize(
    ("status", "more"),
    [
        (HTTPStatus.TOO_MANY_REQUESTS, ("Retry-After", "7")),
        (HTTPStatus.SERVICE_UNAVAILABLE, ("Retry-After", "7")),
        (HTTPStatus.METHOD_NOT_ALLOWED, ("Allow", "GET, HEAD, OPTIONS")),
    ],
)
def test_a_refusal_says_what_may_be_done_instead(status: HTTPStatus, more: tuple[str, str]) -> None:
    page = refusal_page(status, "no", "Not so.", wait=7)
    assert page.more == (more,)
    assert json.loads(page.body) == {"error": "no", "message": "Not so."}
    assert response(page, "GET").headers[more[0]] == more[1]


def test_a_final_refusal_names_no_time() -> None:
    assert refusal_page(HTTPStatus.NOT_FOUND, "no", "No.").more == ()
