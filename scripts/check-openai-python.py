"""The official Python client against the chat-completion proxy of a running stack.

    pip install openai
    npm start                                     # in another terminal
    python scripts/check-openai-python.py .data   # the stack's DATA_DIR

Starts nothing and changes nothing. By default it asks for the model of the local stand-in; --model names another.
"""

import argparse
import json
import pathlib
import sys
import urllib.request

import openai


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data_dir", nargs="?", default=".data")
    parser.add_argument("--model", default="sandbox-echo")
    arguments = parser.parse_args()
    stack = json.loads((pathlib.Path(arguments.data_dir) / "stack.json").read_text())
    base_url = stack["api_url"] + "/v1"
    client = openai.OpenAI(base_url=base_url, api_key=stack["api_key"], max_retries=0)
    messages = [{"role": "user", "content": "Say café ☕"}]

    check_plain(client, arguments.model, messages)
    check_stream(client, arguments.model, messages)
    check_errors(client, base_url)
    check_verbatim(base_url, stack["api_key"], arguments.model, messages)
    print("the Python client works against", base_url)


def check_plain(client: openai.OpenAI, model: str, messages: list) -> None:
    completion = client.chat.completions.create(model=model, messages=messages)
    assert completion.object == "chat.completion", completion
    assert completion.choices[0].message.content, completion
    assert completion.usage.total_tokens > 0, completion
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    assert client.chat.completions.create(model=model, messages=messages, tools=tools, tool_choice="auto").choices


def check_stream(client: openai.OpenAI, model: str, messages: list) -> None:
    stream = client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    )
    text, usage = "", None
    for chunk in stream:
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        usage = chunk.usage or usage
    assert text and usage.total_tokens > 0, (text, usage)


def check_errors(client: openai.OpenAI, base_url: str) -> None:
    stranger = openai.OpenAI(base_url=base_url, api_key="wfa_wrong", max_retries=0)
    expect(openai.AuthenticationError, "invalid_api_key", lambda: stranger.chat.completions.create(model="x", messages=[]))
    missing = lambda: client.post("/chat/completions", body={"messages": []}, cast_to=object)
    assert expect(openai.BadRequestError, None, missing).param == "model"


def check_verbatim(base_url: str, key: str, model: str, messages: list) -> None:
    request = urllib.request.Request(
        base_url + "/chat/completions/",
        data=json.dumps({"model": model, "messages": messages}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200 and answer.headers["x-request-id"]
        assert json.load(answer)["object"] == "chat.completion"


def expect(kind: type, code: str | None, call) -> openai.APIStatusError:
    try:
        call()
    except kind as error:
        assert error.code == code, error
        return error
    sys.exit(f"{kind.__name__} was expected")


main()
