"""A client of the workflow automation service in one file, without packages. Python 3.9 or newer.

    client = WorkflowClient("http://127.0.0.1:3000", "wfa_...")
    run = client.run_to_end(workflow_id, {"name": "Ada"})
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Optional

REPEATABLE_METHODS = ("GET", "HEAD", "PUT", "DELETE")
PASSING_STATUSES = (500, 502, 503, 504)
"""What is asked for beyond this is left to the caller. A spent rate limit asks for a minute at most."""
LONGEST_WAIT_SECONDS = 90.0


class ServiceError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, headers: Any, body: Any) -> None:
        fields = body if isinstance(body, dict) else {}
        self.status = status
        self.code = fields.get("code") or ("invalid" if fields else "unknown")
        self.detail = fields.get("detail")
        """Sentences by field, where the body names fields."""
        self.fields = {} if self.detail else {name: told for name, told in fields.items() if isinstance(told, list)}
        self.request_id = headers.get("X-Request-Id")
        self.retry_after = read_retry_after(headers)
        self.body = body
        super().__init__(f"{status} {self.code}: {self.detail or self.fields or body}")


class RunRefused(Exception):
    """The drawing or its input is not valid: the run was not started."""

    def __init__(self, envelope: dict) -> None:
        self.envelope = envelope
        nodes = envelope["data"].get("data") or {}
        """What is wrong, by node."""
        self.node_errors = {node_id: node["result"] for node_id, node in nodes.items()}
        super().__init__(envelope["data"].get("detail") or self.node_errors)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The service redirects nowhere, and the key would go along to any other host: a redirect is a ServiceError."""

    def redirect_request(self, *_: Any) -> None:
        return None


class WorkflowClient:
    def __init__(self, base_url: str, api_key: str, attempts: int = 5, timeout: float = 60.0) -> None:
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.attempts = attempts
        """Seconds for one request."""
        self.timeout = timeout
        self._opener = urllib.request.build_opener(NoRedirects)

    def get(self, path: str) -> Any:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None, headers: Optional[dict] = None) -> Any:
        return self.send("POST", path, body, headers)

    def send(self, method: str, path: str, body: Any = None, headers: Optional[dict] = None) -> Any:
        """The answer's JSON. Repeats what was not done, or may be done twice; raises ServiceError for the rest."""
        headers = {"X-Api-Key": self.api_key, "Content-Type": "application/json", **(headers or {})}
        is_repeatable = method in REPEATABLE_METHODS or "Idempotency-Key" in headers
        for attempt in range(1, self.attempts + 1):
            # At random up to twice as long, so that those who were refused together do not come back together.
            delay = 0.5 * 2 ** (attempt - 1) * (1 + random.random())
            try:
                return self._send_once(method, path, body, headers)
            except ServiceError as error:
                was_not_done = error.status == 429 or (error.status == 503 and error.code == "overloaded")
                may_repeat = was_not_done or (is_repeatable and error.status in PASSING_STATUSES)
                delay = delay if error.retry_after is None else error.retry_after
                if not may_repeat or attempt == self.attempts or delay > LONGEST_WAIT_SECONDS:
                    raise
            except (OSError, http.client.HTTPException):
                if not is_repeatable or attempt == self.attempts:
                    raise
            time.sleep(delay)

    def start_run(self, workflow_id: int, run_input: Any, idempotency_key: Optional[str] = None) -> str:
        """The run's id. A key of your own finds the run again that an earlier process has started."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        envelope = self.post(f"/api/v1/workflows/{workflow_id}/run/", run_input, headers)
        if envelope["status"] != 201:
            raise RunRefused(envelope)
        return envelope["data"]["id"]

    def wait_for_run(
        self,
        run_id: str,
        timeout: Optional[float] = None,
        interval: float = 3.0,
        on_state: Optional[Callable[[dict], None]] = None,
    ) -> dict:
        """Polls until the run has ended, well or not: {"id", "status", "data"}. TimeoutError stops the waiting, not the run."""
        started_at = time.monotonic()
        delay = interval / 10
        not_found = 0
        while True:
            left = 25.0 if timeout is None else timeout - (time.monotonic() - started_at)
            # Who wants every state gets it; others are answered when the run has ended.
            wait = 0 if on_state else int(min(left, self.timeout / 2, 25.0))
            headers = {"Prefer": f"wait={wait}"} if wait >= 1 else None
            state = self.send("GET", f"/api/v1/workflows/workflow_result/?id={run_id}", headers=headers)["data"]
            if on_state:
                on_state(state)
            if state["status"] in ("succeed", "failed"):
                return state
            not_found = not_found + 1 if state["status"] == "not found" else 0
            if not_found > 5:
                raise LookupError(f"the service has no results of a run {run_id}")
            if timeout is not None and time.monotonic() - started_at > timeout:
                raise TimeoutError(f"the run {run_id} has not ended within {timeout} s")
            time.sleep(delay)
            delay = min(delay * 1.5, interval)

    def run_to_end(self, workflow_id: int, run_input: Any, idempotency_key: Optional[str] = None, **waiting: Any) -> dict:
        return self.wait_for_run(self.start_run(workflow_id, run_input, idempotency_key), **waiting)

    def decide(self, run_id: str, request_id: str, approve: bool, reason: str = "") -> dict:
        """Answers an agent. The outcome is the inner status: 200, 404 unknown request, 409 decided otherwise or too late."""
        word = "approve" if approve else "reject"
        path = f"/api/v1/workflows/workflow_run/{run_id}/agent-approval/{request_id}/{word}/"
        return self.post(path, {"reason": reason})

    def _send_once(self, method: str, path: str, body: Any, headers: dict) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                return parse(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise ServiceError(error.code, error.headers, parse(error.read())) from None


def verify_webhook(secret: str, headers: Any, body: bytes, tolerance: float = 300.0) -> dict:
    """The event, of the exact bytes that came. Raises ValueError unless `secret` (whsec_...) has signed it, and lately."""
    message_id, sent_at = headers.get("webhook-id") or "", headers.get("webhook-timestamp") or ""
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > tolerance:
        raise ValueError("the webhook is too old, too new, or says no time")
    key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret)
    signed = f"{message_id}.{sent_at}.".encode() + body
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # Two signatures for a day after the secret was replaced.
    given = [word[len("v1,") :] for word in (headers.get("webhook-signature") or "").split() if word.startswith("v1,")]
    if not any(hmac.compare_digest(wanted, signature.encode()) for signature in given):
        raise ValueError("the webhook is not signed with this secret")
    return json.loads(body)


def read_retry_after(headers: Any) -> Optional[float]:
    """Seconds from now, of the header's seconds or date."""
    text = (headers.get("Retry-After") or "").strip()
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def parse(content: bytes) -> Any:
    """A proxy on the way may answer anything."""
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content.decode(errors="replace")
