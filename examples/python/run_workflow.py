"""Makes a project and a workflow, runs it, decides what its agent asks, and prints results and cost.

    npm start                                                              # in a checkout, in another terminal
    PORT=3001 npx mcp-server-everything streamableHttp                     # a tool server, in a third one
    API_URL=http://127.0.0.1:3000 API_KEY=wfa_... python3 run_workflow.py --tools http://127.0.0.1:3001/mcp
"""

import argparse
import os
import sys
import uuid

from workflow_client import RunRefused, ServiceError, WorkflowClient

START, GREET, CLERK = (str(uuid.uuid4()) for _ in range(3))


def draw(model: str, tools_url: str, task: str) -> dict:
    """A trigger; after it, side by side, a model that greets and an agent that must ask before it uses a tool."""
    greeting = {"role": "user", "message": "Greet {{ input.name }} in one sentence."}
    server = {"type": "mcp", "server_label": "tools", "endpoint_url": tools_url, "require_approval": "always"}
    name = {"id": "name", "title": "Name", "type": "text", "input_requirements": True}
    nodes = [
        node(START, "trigger-node", label="Who", next_nodes=[GREET, CLERK], input_fields=[name]),
        node(GREET, "basic-node", label="Greet", messages=[greeting], settings={"model_name": model}),
        node(
            CLERK,
            "agent-node",
            label="Clerk",
            messages=[{"role": "user", "message": task}],
            settings={"model_name": model},
            tools=[server],
        ),
    ]
    return {"start_node": START, "nodes": nodes, "edges": [], "viewport": {"x": 0, "y": 0, "zoom": 1}}


def node(node_id: str, kind: str, **data: object) -> dict:
    data = {"id": node_id, "next_nodes": [], **data}
    return {"id": node_id, "type": kind, "position": {"x": 0, "y": 0}, "data": data}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", required=True, help="address of an MCP server")
    parser.add_argument("--model", default="sandbox-echo")
    parser.add_argument("--task", default='Call get-sum with {"a": 2, "b": 3}.')
    parser.add_argument("--reject", action="store_true", help="say no instead of yes")
    options = parser.parse_args()
    client = WorkflowClient(os.environ["API_URL"], os.environ["API_KEY"])

    project = client.post("/api/v1/projects/", {"name": "Python example"})["id"]
    drawing = draw(options.model, options.tools, options.task)
    workflow = client.post("/api/v1/workflows/", {"project": project, "title": "Greeting", "data": drawing})["id"]

    # The key names what is to be done once. A program that may die keeps it with its task, and asks again with it.
    key = f"python-example-{workflow}"
    run_id = client.start_run(workflow, {"name": "Ada"}, idempotency_key=key)
    assert client.start_run(workflow, {"name": "Ada"}, idempotency_key=key) == run_id
    print("run", run_id)

    def decide_requests(state: dict) -> None:
        for asked in ((state["data"] or {}).get(CLERK) or {}).get("approval_requests", []):
            if asked["status"] != "pending":
                continue
            print("asked for", asked["tool_name"], asked["arguments"])
            answer = client.decide(run_id, asked["request_id"], approve=not options.reject, reason="by an example")
            print("decided", answer["data"]["decision"])

    run = client.wait_for_run(run_id, timeout=120, interval=2, on_state=decide_requests)
    labels = {item["id"]: item["data"]["label"] for item in drawing["nodes"]}
    for node_id, entry in run["data"].items():
        shown = entry.get("result", {}).get("content") or entry.get("error")
        print(f"{labels[node_id]}: {entry['status']}: {shown}")
    history = client.get(f"/api/v1/workflows/{workflow}/history/{run_id}/")
    print("cost", " = ".join(f"{amount} {currency}" for currency, amount in history["cost"].items()))
    print("status", run["status"])


if __name__ == "__main__":
    try:
        main()
    except (RunRefused, ServiceError, TimeoutError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
