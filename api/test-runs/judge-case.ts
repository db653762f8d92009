// Compares the run of a case with its expectations. docs/use/test-runs.md, "Cases".
import { findNodeEnds, findOutput, type NodeEnd } from '../../db/test-runs/run-results-repository.js';
import type { CaseDetail, CaseResult } from '../../db/test-runs/case-runs-repository.js';
import type { Expectation } from '../../db/test-runs/cases-repository.js';
import { answerQuestions, areCheap, type ComparedTexts } from '../../graph/judge.js';
import { parseJson } from '../../graph/json-text.js';
import { isOneSided } from '../../graph/operators.js';
import { renderText, type NodeOutput, type VariableValues } from '../../graph/template.js';
import { cutText } from '../../graph/cut-text.js';
import { ProcessesBusyError } from '../../processes/processes.js';
import { questionsWork } from '../../processes/work.js';
import type { TestDeps } from './deps.js';

const LIMIT_MS = 20_000;
const MAX_WAITING = 8;
const SHOWN_CHARACTERS = 4_000;
/** Replaces the id of the node, which may have characters that a variable cannot contain. */
const NODE = 'n';

type Judgement = { status: 'passed' | 'failed' | 'error'; detail: CaseDetail };

/**
 * Requires that the run of the case has ended. Returns undefined if too much work of the user already waits for a
 * process that compares texts: the case is then judged in a later round.
 */
export async function judgeCase(
  deps: Pick<TestDeps, 'db' | 'processes'>,
  { runId, detail, runStatus, errorCode, errorMessage }: CaseResult & { runId: string; detail: CaseDetail },
  userId: number,
): Promise<Judgement | undefined> {
  const error = errorCode === null ? undefined : { code: errorCode, message: errorMessage ?? '' };
  if (runStatus === 'Cancelled' || errorCode === 'mock_missing') {
    return {
      status: 'error',
      detail: { ...detail, error: error ?? { code: 'cancelled', message: 'The run was cancelled.' } },
    };
  }
  const ids = detail.expect.flatMap(({ node }) => node ?? []);
  const ends = new Map((await findNodeEnds(deps.db, runId, ids)).map((end) => [end.nodeId, end]));
  const output = detail.expect.some((expected) => expected.output === true)
    ? await findOutput(deps.db, runId)
    : undefined;
  const questions = detail.expect.map((expected) => toQuestion(expected, ends, output));
  const answered = await answer(deps, questions, userId);
  if (answered === undefined) return undefined;
  const held = new Set(answered);
  const failures = detail.expect.flatMap((expectation, index) =>
    held.has(index) ? [] : [{ expectation, actual: cutText(questions[index]!.left, SHOWN_CHARACTERS) }],
  );
  const expectsFailure = detail.expect.some(
    ({ node, path }) => node !== undefined && path === 'error.code' && ends.get(node)?.status === 'failed',
  );
  const hasFailed = failures.length > 0 || (runStatus === 'Error' && !expectsFailure);
  return { status: hasFailed ? 'failed' : 'passed', detail: { ...detail, failures, ...(error && { error }) } };
}

/** A missing value is an empty text, as in conditions of nodes. */
function toQuestion(
  { node, path, operator, right = '' }: Expectation,
  ends: ReadonlyMap<string, NodeEnd>,
  output: string | undefined,
): ComparedTexts {
  const end = node === undefined ? undefined : ends.get(node);
  const ofOutput = output === undefined ? undefined : ({ content: '', value: parseJson(output) } as NodeOutput);
  const result =
    node === undefined ? ofOutput : end?.result === undefined ? undefined : (parseJson(end.result) as NodeOutput);
  const values: VariableValues = {
    input: {},
    results: new Map(result === undefined ? [] : [[NODE, result]]),
    errors: new Map(end?.error === undefined ? [] : [[NODE, end.error]]),
  };
  const place = node === undefined ? `result.value${path === '' || path.startsWith('[') ? path : `.${path}`}` : path;
  return {
    left: renderText(`{{ ${NODE}.${place} }}`, values),
    operator,
    right: isOneSided(operator) ? '' : String(right),
  };
}

async function answer(
  { processes }: Pick<TestDeps, 'processes'>,
  questions: ComparedTexts[],
  owner: number,
): Promise<number[] | undefined> {
  if (areCheap(questions)) return answerQuestions(questions, 'each');
  const options = {
    owner,
    signal: new AbortController().signal,
    limitMs: LIMIT_MS,
    maxWaiting: MAX_WAITING,
  };
  const reply = await processes.run(questionsWork(questions, 'each'), options).catch((error: unknown) => {
    if (!(error instanceof ProcessesBusyError)) throw error;
    return 'busy' as const;
  });
  if (reply === 'busy') return undefined;
  return reply?.kind === 'held' ? reply.held : [];
}
