// Plays a drawing: executes it in this process with the planner, the templates, the inline kinds and the QuickJS of a
// real run. Nothing is stored, a wait ends at once, and the caller answers the HTTP requests.
import { loadQuickJs, runProgram } from '../../activities/kinds/code/child/run-program.js';
import type { AskWorker } from '../../activities/kinds/code/child/file-requests.js';
import type { FileRequest } from '../../activities/kinds/code/child/messages.js';
import { toMarkedInputs } from '../../activities/kinds/code/code-values.js';
import { findCatalogueAction } from '../../api/services/catalogue.js';
import { toFacts } from '../../api/services/service-view.js';
import { readAction } from '../../graph/actions/action.js';
import { renderAction } from '../../graph/actions/render-request.js';
import { compilePlan } from '../../graph/compile-plan.js';
import type { JsonObject } from '../../graph/json.js';
import { answerQuestions, toQuestions, type Judge } from '../../graph/judge.js';
import { codeNode } from '../../graph/nodes/code.js';
import { itemsOf } from '../../graph/nodes/for_each.js';
import { loopNode } from '../../graph/nodes/loop.js';
import { outputOfIteration } from '../../graph/nodes/rendered-value.js';
import { nodeDefinitions } from '../../graph/nodes/registry.js';
import type { Evaluation } from '../../graph/nodes/node-definition.js';
import { bodyPlan, handleAfter, rootPlan, type ScopePlan } from '../../graph/plan.js';
import { Planner } from '../../graph/planner.js';
import { renderJson, type NodeOutput, type VariableValues } from '../../graph/template.js';

export interface PlayOptions {
  input: JsonObject;
  /** Answers a request of an HTTP node. `request` is the node's rendered data. Throws if no answer is known. */
  answer: (request: JsonObject) => NodeOutput;
}

export interface Played {
  values: VariableValues;
  /** The message of each failed node, by id. */
  failures: Map<string, string>;
}

interface Scope {
  values: VariableValues & { results: Map<string, NodeOutput>; errors: Map<string, { code: string; message: string }> };
}

const quickJs = await loadQuickJs();

/** The files that programs save, by their ids. */
const files = new Map<string, Buffer>();

const answerFile = (request: FileRequest, content: Buffer): Awaited<ReturnType<AskWorker>> => {
  if (request.status === 'save') {
    const file = { file_id: `file-${files.size + 1}`, name: request.name, type: request.type };
    files.set(file.file_id, content);
    return { answer: 'saved', file };
  }
  return files.get(request.fileId) ?? { answer: 'failed', code: 'file_missing', message: 'There is no such file.' };
};

/** Returns the request of an HTTP node. If the node names an action of a service, the catalogue gives the request. */
function requestOf(data: JsonObject): JsonObject {
  const named = readAction(data['action']);
  const facts = named === undefined ? undefined : findCatalogueAction(named.service, named.id);
  return facts === undefined ? data : { ...data, ...renderAction(toFacts(facts), data['values'] as JsonObject) };
}

export async function play(drawing: JsonObject, options: PlayOptions): Promise<Played> {
  const compiled = compilePlan(drawing);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors.slice(0, 3)));
  const { plan, document } = compiled;
  const dataOf = new Map(document.nodes.map(({ id, data }) => [id, data]));
  const failures = new Map<string, string>();

  async function runScope(
    scopePlan: ScopePlan,
    scope: Scope,
  ): Promise<{ last: string | undefined; failure: string | undefined }> {
    const planner = new Planner(scopePlan);
    let last: string | undefined;
    let failure: string | undefined;
    for (let number = planner.take(); number !== undefined; number = planner.take()) {
      const id = scopePlan.ids[number]!;
      const isEntry = number === 0 && scopePlan.offset > 0;
      try {
        const ended: Partial<Evaluation> = isEntry ? {} : await runNode(number + scopePlan.offset, id, scope);
        const { output, handle = 0, alsoHandles = [] } = ended;
        if (output !== undefined) {
          scope.values.results.set(id, output);
          last = id;
        }
        planner.succeed(number, handle, ...alsoHandles);
      } catch (error) {
        const { code = 'error', message } = error as { code?: string; message: string };
        failures.set(id, message);
        const taken = handleAfter(code, scopePlan, number);
        if (taken === undefined) {
          failure ??= message;
          planner.succeed(number, -1);
          continue;
        }
        scope.values.errors.set(id, { code, message });
        planner.survive(number, taken);
      }
    }
    return { last, failure };
  }

  async function runNode(number: number, id: string, scope: Scope): Promise<Evaluation> {
    const kind = plan.kinds[number]!;
    const data = dataOf.get(id)!;
    const { values } = scope;
    if (kind === 'trigger') return { output: { content: '' } };
    if (kind === 'wait') return { output: { content: '2026-01-01T00:00:00.000Z' } };
    if (kind === 'code') return { output: await runCode(data, values) };
    if (kind === 'for_each') return { output: await runForEach(number, id, data, scope) };
    if (kind === 'loop') return { output: await runLoop(number, id, data, scope) };
    if (kind === 'http') return { output: options.answer(requestOf(renderJson(data, values) as JsonObject)) };
    const definition = nodeDefinitions[kind];
    if (!('evaluate' in definition)) throw new Error(`A node of the kind ${kind} is not played.`);
    return await definition.evaluate(data, values, judge);
  }

  async function runCode(data: JsonObject, values: VariableValues): Promise<NodeOutput> {
    const { code, inputs, settings } = codeNode.schema.parse(data);
    const program = { ...toMarkedInputs(renderJson(inputs, values)), code, timeoutMs: settings.timeout * 1000 };
    const reply = await runProgram(quickJs, program, (request, content) =>
      Promise.resolve(answerFile(request, content)),
    );
    if (reply.status !== 'returned') throw new Error(reply.status === 'failed' ? reply.message : reply.status);
    return { content: reply.json, value: JSON.parse(reply.json) as unknown, logs: reply.logs };
  }

  async function runForEach(number: number, id: string, data: JsonObject, { values }: Scope): Promise<NodeOutput> {
    const outputs: unknown[] = [];
    const body = bodyPlan(plan, number);
    for (const [index, item] of itemsOf(data, values).entries()) {
      const inner: Scope['values'] = {
        ...values,
        results: new Map(values.results),
        errors: new Map(values.errors),
        loops: new Map([...(values.loops ?? []), [id, { index, item }]]),
      };
      const { last, failure } = await runScope(body, { values: inner });
      if (failure !== undefined) throw new Error(failure);
      outputs.push(outputOfIteration(data['output'], inner, last));
    }
    return { content: JSON.stringify(outputs), items: outputs, count: outputs.length, errors: [] };
  }

  async function runLoop(number: number, id: string, data: JsonObject, { values }: Scope): Promise<NodeOutput> {
    const { until, max_rounds: most } = loopNode.schema.parse(data);
    const body = bodyPlan(plan, number);
    let value: unknown;
    for (let index = 0; index < most; index += 1) {
      const inner: Scope['values'] = {
        ...values,
        results: new Map(values.results),
        errors: new Map(values.errors),
        loops: new Map([...(values.loops ?? []), [id, { index, ...(index > 0 && { last: value }) }]]),
      };
      const { last, failure } = await runScope(body, { values: inner });
      if (failure !== undefined) throw new Error(failure);
      value = outputOfIteration(data['output'], inner, last);
      const ended = { ...inner, loops: new Map([...(values.loops ?? []), [id, { index, last: value }]]) };
      if ((await judge([until], ended, 'first')).length > 0)
        return { content: JSON.stringify(value), value, rounds: index + 1 };
    }
    throw new Error('The loop has too many rounds.');
  }

  const values: Scope['values'] = { input: options.input, results: new Map(), errors: new Map() };
  await runScope(rootPlan(plan), { values });
  return { values, failures };
}

const judge: Judge = (conditions, values, mode) =>
  Promise.resolve(answerQuestions(toQuestions(conditions, values), mode));
