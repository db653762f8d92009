// Compares the run of a case with its expectations. docs/use/test-runs.md, "Cases".
import type { Db } from '../../db/core/client.js';
import {
  findNodeEnds,
  findOutput,
  measureNodeEnds,
  measureOutput,
  type NodeEnd,
} from '../../db/test-runs/run-results-repository.js';
import type { CaseDetail, CaseResult } from '../../db/test-runs/case-runs-repository.js';
import type { Expectation } from '../../db/test-runs/cases-repository.js';
import { NodeError } from '../../graph/node-error.js';
import { answerQuestions, areCheap, type ComparedTexts } from '../../graph/judge.js';
import { parseJson } from '../../graph/json-text.js';
import { isOneSided } from '../../graph/operators.js';
import { pushTo } from '../../graph/push-to.js';
import { renderText, type NodeOutput, type VariableValues } from '../../graph/template.js';
import { cutText } from '../../graph/cut-text.js';
import { MemoryBusyError } from '../../memory/byte-budget.js';
import { PARSED_COPIES, TEXT_COPIES } from '../../memory/json-copies.js';
import { ProcessesBusyError } from '../../processes/processes.js';
import { questionsWork } from '../../processes/work.js';
import type { TestDeps } from './deps.js';

/**
 * The limit on the time of all costly comparisons of a case, without the waits for memory and for a process. An
 * expectation that is not compared by then counts as not met.
 */
const LIMIT_MS = 20_000;
const MAX_WAITING = 8;
const SHOWN_CHARACTERS = 4_000;
/** Replaces the id of the node, which may have characters that a variable cannot contain. */
const NODE = 'n';
const OUTPUT = Symbol('output');
const NOTHING = Symbol('nothing');

/** What expectations are about: the node with this id, the output of the run, or nothing, which the API refuses. */
type Source = string | typeof OUTPUT | typeof NOTHING;
type NodeFailure = NonNullable<NodeEnd['error']>;

type Judgement = { status: 'passed' | 'failed' | 'error'; detail: CaseDetail };

interface Judging {
  userId: number;
  signal: AbortSignal;
}

/**
 * Requires that the run of the case has ended. Returns undefined if too much work of the user already waits for a
 * process that compares texts, or if there is no memory for the results: the case is then judged in a later round.
 */
export async function judgeCase(
  deps: Pick<TestDeps, 'db' | 'memory' | 'processes'>,
  { runId, detail, runStatus, errorCode, errorMessage }: CaseResult & { runId: string; detail: CaseDetail },
  judging: Judging,
): Promise<Judgement | undefined> {
  const error = errorCode === null ? undefined : { code: errorCode, message: errorMessage ?? '' };
  if (runStatus === 'Cancelled' || errorCode === 'mock_missing') {
    return {
      status: 'error',
      detail: { ...detail, error: error ?? { code: 'cancelled', message: 'The run was cancelled.' } },
    };
  }
  const compared = await compareAll(deps, { runId, expect: detail.expect }, judging).catch((thrown: unknown) => {
    // A value that is too large to be rendered stays so: a later round would fail, too.
    if (thrown instanceof NodeError) return thrown;
    throw thrown;
  });
  if (compared === undefined) return undefined;
  if (compared instanceof NodeError) {
    return { status: 'error', detail: { ...detail, error: { code: compared.code, message: compared.message } } };
  }
  const failures = detail.expect.flatMap((expectation, index) => {
    const actual = compared.actual.get(index);
    return actual === undefined ? [] : [{ expectation, actual }];
  });
  const expectsFailure = detail.expect.some(
    ({ node, path }) => node !== undefined && path === 'error.code' && compared.failed.has(node),
  );
  const hasFailed = failures.length > 0 || (runStatus === 'Error' && !expectsFailure);
  return { status: hasFailed ? 'failed' : 'passed', detail: { ...detail, failures, ...(error && { error }) } };
}

interface Compared {
  /** The texts that did not meet their expectations, cut, by the index of the expectation. */
  actual: Map<number, string>;
  /** The nodes whose failure has ended the run. */
  failed: Set<string>;
}

/**
 * Reads and compares one result after the other, because each may have 10 MiB. The lease covers a result, and the text
 * of one path in it.
 */
async function compareAll(
  deps: Pick<TestDeps, 'db' | 'memory' | 'processes'>,
  { runId, expect }: { runId: string; expect: readonly Expectation[] },
  { userId, signal }: Judging,
): Promise<Compared | undefined> {
  const compared: Compared = { actual: new Map(), failed: new Set() };
  const budget: Budget = { leftMs: LIMIT_MS };
  const sources = groupBy(
    [...expect.entries()],
    ([, { node, output }]) => node ?? (output === true ? OUTPUT : NOTHING),
  );
  const nodes = [...sources.keys()].filter((source) => typeof source === 'string');
  const sizes = await measureNodeEnds(deps.db, runId, nodes);
  const lease = deps.memory.lease(`user:${userId}`, signal);
  try {
    for (const [source, ofSource] of sources) {
      const bytes =
        source === OUTPUT ? await measureOutput(deps.db, runId) : typeof source === 'string' ? sizes.get(source) : 0;
      await lease.resize((PARSED_COPIES + TEXT_COPIES) * (bytes ?? 0));
      const { values, hasFailed } = await readValues(deps.db, runId, source);
      if (typeof source === 'string' && hasFailed) compared.failed.add(source);
      for (const ofPath of groupBy(ofSource, ([, expected]) => variableOf(expected)).values()) {
        const left = renderText(`{{ ${variableOf(ofPath[0]![1])} }}`, values);
        const questions = ofPath.map(([, expected]) => toQuestion(expected, left));
        const answered = await answer(deps, questions, { owner: userId, signal, budget });
        if (answered === undefined) return undefined;
        const held = new Set(answered);
        for (const [number, [index]] of ofPath.entries())
          if (!held.has(number)) compared.actual.set(index, cutText(left, SHOWN_CHARACTERS));
      }
    }
    return compared;
  } catch (error) {
    if (error instanceof MemoryBusyError) return undefined;
    throw error;
  } finally {
    lease.end();
  }
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) pushTo(groups, keyOf(item), item);
  return groups;
}

/** Returns the values that variables of a source find, and whether the source is a node whose failure ended the run. */
async function readValues(
  db: Db,
  runId: string,
  source: Source,
): Promise<{ values: VariableValues; hasFailed: boolean }> {
  const values = { input: {}, results: new Map<string, NodeOutput>(), errors: new Map<string, NodeFailure>() };
  let hasFailed = false;
  if (source === OUTPUT) {
    const output = await findOutput(db, runId);
    if (output !== undefined) values.results.set(NODE, { content: '', value: parseJson(output) });
  } else if (typeof source === 'string') {
    const [end] = await findNodeEnds(db, runId, [source]);
    if (end?.result !== undefined) values.results.set(NODE, parseJson(end.result) as NodeOutput);
    if (end?.error !== undefined) values.errors.set(NODE, end.error);
    hasFailed = end?.status === 'failed' && !end.isHandled;
  }
  return { values, hasFailed };
}

function variableOf({ node, path }: Expectation): string {
  const place = node === undefined ? `result.value${path === '' || path.startsWith('[') ? path : `.${path}`}` : path;
  return `${NODE}.${place}`;
}

/** A missing value is an empty text, as in conditions of nodes. */
function toQuestion({ operator, right = '' }: Expectation, left: string): ComparedTexts {
  return { left, operator, right: isOneSided(operator) ? '' : String(right) };
}

interface Budget {
  leftMs: number;
}

async function answer(
  { processes }: Pick<TestDeps, 'processes'>,
  questions: ComparedTexts[],
  { budget, ...asked }: { owner: number; signal: AbortSignal; budget: Budget },
): Promise<number[] | undefined> {
  if (areCheap(questions)) return answerQuestions(questions, 'each');
  const startedMs = performance.now();
  let waitedMs = 0;
  const outside = <T>(wait: Promise<T>): Promise<T> => {
    const fromMs = performance.now();
    return wait.finally(() => (waitedMs += performance.now() - fromMs));
  };
  const options = { ...asked, limitMs: budget.leftMs, maxWaiting: MAX_WAITING, outside };
  const reply = await processes.run(questionsWork(questions, 'each'), options).catch((error: unknown) => {
    if (!(error instanceof ProcessesBusyError)) throw error;
    return 'busy' as const;
  });
  budget.leftMs = Math.max(1, budget.leftMs - (performance.now() - startedMs - waitedMs));
  if (reply === 'busy') return undefined;
  return reply?.kind === 'held' ? reply.held : [];
}
